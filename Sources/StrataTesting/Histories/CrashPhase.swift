// What a store was about when its power was cut.

/// The work that a power cut interrupted. Every one of them must be met by a run of histories: a kind of work is
/// added with a case here and a line in `init`, and the counts ask for it from then on.
package enum CrashPhase: String, Sendable, CaseIterable {
  case creation
  case recovery
  case roll
  case seal
  case erasing
  /// Groups, HEAD, the close.
  case writing

  /// - Parameters:
  ///   - isCreated: whether the store was whole before this life of it.
  ///   - isInRecovery: whether it was opened with a torn tail, and nothing is acknowledged since.
  ///   - asked: what the store was asked to do, where that is a phase of its own.
  init(of call: SimulatedCall, isCreated: Bool, isInRecovery: Bool, asked: CrashPhase?) {
    let path = call.path.utf8
    self =
      if let asked {
        asked
      } else if isInRecovery || path.hasComponent("quarantine".utf8) {
        .recovery
      } else if !isCreated {
        .creation
      } else if path.hasSuffix(".tmp".utf8) || path.hasSuffix("/log".utf8) {
        .roll
      } else {
        .writing
      }
  }
}

extension String.UTF8View {
  fileprivate func hasSuffix(_ suffix: String.UTF8View) -> Bool {
    count >= suffix.count && self.suffix(suffix.count).elementsEqual(suffix)
  }

  /// Whether one of the names of a path is this.
  fileprivate func hasComponent(_ name: String.UTF8View) -> Bool {
    split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual(name) }
  }
}
