// The kinds of work that a power cut can interrupt.

/// The work that a power cut interrupted. A run of histories must meet every kind. To add a kind, add a case here and a
/// line in `init`; `CrashCounts` then requires it.
package enum CrashPhase: String, Sendable, CaseIterable {
  case creation
  case recovery
  case roll
  case seal
  case erasing
  /// Writing groups or HEAD, and closing.
  case writing

  /// - Parameters:
  ///   - isCreated: whether the store has been completely created.
  ///   - isInRecovery: whether the store was opened with a torn tail, and has acknowledged nothing since.
  ///   - asked: the requested operation, if it has a phase of its own.
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

  /// Whether the path has this name as one of its components.
  fileprivate func hasComponent(_ name: String.UTF8View) -> Bool {
    split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual(name) }
  }
}
