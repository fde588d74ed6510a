// How a failed command ends: with an exit code, and an error that says what happened, where, and what to do next.

internal import StrataEvents
package import StrataLog

/// The exit codes of `logreplay`.
package enum ExitStatus {
  package static let negative: Int32 = 1
  package static let torn: Int32 = 2
  package static let skipped: Int32 = 3
  package static let usage: Int32 = 64
  package static let corrupt: Int32 = 65
  package static let notFound: Int32 = 66
  static let conflict: Int32 = 67
  package static let diverged: Int32 = 68
  package static let unsupported: Int32 = 69
  package static let cannotCreate: Int32 = 73
  package static let inputOutput: Int32 = 74
  package static let locked: Int32 = 75
  package static let timeout: Int32 = 124
  static let interrupted: Int32 = 130

  /// The exit code for a store's error.
  static func of(_ error: StoreError) -> Int32 {
    switch error {
    case .locked: locked
    case .damaged(let finding): finding.class == .torn ? torn : corrupt
    case .position(.beyondEnd): notFound
    case .position: diverged
    case .conflict: conflict
    case .invalid, .undecodable, .idReused: corrupt
    case .full: inputOutput
    case .unavailable(let unavailability):
      switch unavailability.reason {
      case .unsupported, .carrierUnfit: unsupported
      case .fenced, .diverged: diverged
      case .following: locked
      case .notFound: notFound
      case .notAStore, .cannotCreate, .linked: cannotCreate
      default: inputOutput
      }
    }
  }
}

/// An error for people and programs.
package struct CommandFailure: Error {
  package var code: Int32
  /// What happened.
  package var what: String
  /// Where it happened: a path, a file with its line and column, a point. May be empty.
  package var place: String
  /// What to do next.
  package var next: String
  /// Numbers that a program decides by, as members of the error in JSON.
  package var numbers: [(name: StaticString, value: UInt64)] = []

  package init(_ code: Int32, _ what: String, at place: String = "", next: String) {
    self.code = code
    self.what = what
    self.place = place
    self.next = next
  }

  /// A store's error with its exit code.
  package init(_ error: StoreError) {
    self.init(ExitStatus.of(error), error.what, at: error.place, next: error.next)
    if case .damaged(let finding) = error, CarrierName.holds(finding.file) {
      next =
        "put the file back from a copy of the place, or ship the store that writes to a new one; a damaged last object "
        + "may be removed, and is put again"
    }
  }
}
