// What can go wrong with a store, in the few cases that people switch over.

package import StrataBase

/// The error of the log and of every floor above it that reads or writes: what happened, where, and what to do next.
///
/// Its cases are those that a caller handles differently. A task that was cancelled gets `CancellationError` instead, from
/// the asynchronous calls that say so.
public enum StoreError: Error, Sendable, Equatable {
  /// A stream, here by its name as text, does not hold what was expected of it. Read it again and decide anew.
  case conflict(stream: String, expected: ExpectedVersion, actual: UInt64)
  /// An append with this id is in the log, and it says something else. Use another id.
  case idReused(id: String, sequences: ClosedRange<UInt64>)
  /// Another writer has the store: which process, where that is known. Open it for reading, or wait.
  case locked(path: String, holder: String?)
  /// The bytes on disk are not what was written. The finding says where and which events are in doubt.
  case damaged(StoreFinding)
  /// There is no room: the disk is full, or what this user may have of it. Nothing of the append remains. Make room and
  /// append again.
  case full(path: String)
  /// The log has no such position: it went another way, or begins later.
  case position(PositionProblem)
  /// Nothing is wrong with what was asked, and the store cannot do it: the reason says why.
  case unavailable(Unavailability)
  /// What was given makes no sense, or is more than the options or the format allow: a sentence that says why, and what
  /// to do instead.
  case invalid(what: String, next: String)

  /// Why a position cannot be gone on from, with what there is.
  public enum PositionProblem: Sendable, Hashable {
    /// The log up to this sequence is not the one that was read before.
    case diverged(sequence: UInt64)
    /// The log begins later: at this sequence.
    case trimmed(firstAvailable: UInt64)
  }
}

// MARK: What somebody decides by

extension StoreError {
  /// The reason where the store is unavailable.
  public var reason: Unavailability.Reason? {
    if case .unavailable(let unavailability) = self { unavailability.reason } else { nil }
  }

  /// What was found on disk, where that is what the error is about: damage, or what a newer version wrote.
  public var finding: StoreFinding? {
    switch self {
    case .damaged(let finding): finding
    case .unavailable(let unavailability): unavailability.finding
    default: nil
    }
  }

  /// The system's number, where a call was refused.
  package var systemCode: Int32? {
    switch self {
    case .full: SystemErrorCode.noSpace
    case .unavailable(let unavailability): unavailability.code
    default: nil
    }
  }

  /// Whether the system refused something, which it may not do the next time. Nothing is wrong with the log then.
  package var isPassing: Bool {
    if case .full = self { return true }
    return reason == .system || reason == .unreadable || reason == .protected
  }

  /// Whether the error is about a part of the log, or a refusal of the system: the writer goes on, and other parts can be
  /// read and rewritten.
  package var isLocal: Bool { finding != nil || isPassing }

  /// Whether the log went another way than the one that was read before.
  package var isDiverged: Bool {
    if case .position(.diverged) = self { true } else { false }
  }
}

// MARK: The ways to say it

extension StoreError {
  /// A call that the system refused: full, a link or protected, where that is the reason.
  package static func refused(_ operation: String, _ path: String, code: Int32) -> StoreError {
    SystemErrorCode.isNoRoom(code)
      ? .full(path: path)
      : .unavailable(Unavailability(refused: FileSystemError(operation, path, code: code)))
  }

  package static func refused(_ call: FileSystemError) -> StoreError {
    refused(call.operation, call.path, code: call.code)
  }

  /// The log up to this sequence is not the one that was read before.
  package static func diverged(sequence: UInt64) -> StoreError { .position(.diverged(sequence: sequence)) }

  /// The log begins later: at this sequence.
  package static func trimmed(firstAvailable first: UInt64) -> StoreError {
    .position(.trimmed(firstAvailable: first))
  }

  /// What a check found: damage, or what a newer version wrote.
  package static func found(_ finding: StoreFinding) -> StoreError {
    finding.class == .unsupported ? .unsupported(finding) : .damaged(finding)
  }

  /// What was given makes no sense: a sentence that says why.
  package static func invalid(what: String) -> StoreError {
    .invalid(what: what, next: "correct what was given")
  }

  /// A limit of the options or of the format.
  package static func tooLarge(what: String, actual: Int, limit: Int) -> StoreError {
    .invalid(
      what: "\(what) has a size of \(actual), and 1 to \(limit) is allowed",
      next: "append less at a time, or raise the limit in the options")
  }
}
