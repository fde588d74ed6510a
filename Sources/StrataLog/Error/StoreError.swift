// The errors of a store, in the few cases that callers switch over.

package import StrataBase

/// The error of the log and of every module above it that reads or writes: what happened, where, and what to do next.
///
/// Its cases are those that a caller handles differently. A cancelled task gets `CancellationError` instead, from the
/// asynchronous calls that document it.
public enum StoreError: Error, Sendable, Equatable {
  /// A stream, given by its name as text, does not have the expected version. Read it and decide again.
  case conflict(stream: String, expected: ExpectedVersion, actual: UInt64)
  /// An append with this id is in the log, with other content. Use another id.
  case idReused(id: String, sequences: ClosedRange<UInt64>)
  /// Another writer has the store: which process and since when, as far as LOCK says it. Open it for reading, or wait
  /// for longer: `StoreOptions.lockTimeout`.
  case locked(path: String, holder: String?)
  /// The bytes on disk are not those that were written. The finding says where, and which events are in doubt.
  case damaged(StoreFinding)
  /// The disk or the user's quota is full. Nothing of the append remains. Make room and append again.
  case full(path: String)
  /// The log has no such position: its history is a different one, it starts later, or it ends before.
  case position(PositionProblem)
  /// The call is valid, but the store cannot carry it out: the reason says why.
  case unavailable(Unavailability)
  /// An event, or a row that events made, does not decode as the type that the program asks for: a sentence that says
  /// which, and why. The log holds what was written. Correct the type, or replace the row.
  case undecodable(what: String, next: String)
  /// An argument is invalid, or exceeds what the options or the format allow, or the store met what no other case is for:
  /// a sentence that says why, and what to do instead.
  case invalid(what: String, next: String)

  /// Why reading cannot continue from a position.
  public enum PositionProblem: Sendable, Hashable {
    /// The log up to this sequence is not the one that was read earlier.
    case diverged(sequence: UInt64)
    /// The log starts later: at this sequence.
    case trimmed(firstAvailable: UInt64)
    /// The log, as this process sees it, ends before this sequence: at `last`. A position with a chain that is past the
    /// end is `diverged`, since nothing says that the log will come to it.
    case beyondEnd(sequence: UInt64, last: UInt64)
  }
}

// MARK: What a caller decides by

extension StoreError {
  /// The reason if the store is unavailable.
  public var reason: Unavailability.Reason? {
    if case .unavailable(let unavailability) = self { unavailability.reason } else { nil }
  }

  /// The finding on disk that the error is about: damage, or what a newer version wrote. Nil for other errors.
  public var finding: StoreFinding? {
    switch self {
    case .damaged(let finding): finding
    case .unavailable(let unavailability): unavailability.finding
    default: nil
    }
  }

  /// The system's error number, if a call was refused.
  package var systemCode: Int32? {
    switch self {
    case .full: SystemErrorCode.noSpace
    case .unavailable(let unavailability): unavailability.code
    default: nil
    }
  }

  /// Whether the system refused something that it may allow the next time. Then nothing is wrong with the log.
  package var isPassing: Bool {
    if case .full = self { return true }
    return reason == .system || reason == .unreadable || reason == .protected
  }

  /// Whether the error concerns only part of the log, or is a refusal by the system: the writer goes on, and other
  /// parts can be read and rewritten.
  package var isLocal: Bool { finding != nil || isPassing }

  /// Whether the log's history differs from the one that was read earlier.
  package var isDiverged: Bool {
    if case .position(.diverged) = self { true } else { false }
  }
}

// MARK: Making errors

extension StoreError {
  /// A call that the system refused, as `full`, `linked` or `protected` if that is the reason.
  package static func refused(_ operation: String, _ path: String, code: Int32) -> StoreError {
    SystemErrorCode.isNoRoom(code)
      ? .full(path: path)
      : .unavailable(Unavailability(refused: FileSystemError(operation, path, code: code)))
  }

  package static func refused(_ call: FileSystemError) -> StoreError {
    refused(call.operation, call.path, code: call.code)
  }

  /// The log up to this sequence is not the one that was read earlier.
  package static func diverged(sequence: UInt64) -> StoreError { .position(.diverged(sequence: sequence)) }

  /// The log starts later: at this sequence.
  package static func trimmed(firstAvailable first: UInt64) -> StoreError {
    .position(.trimmed(firstAvailable: first))
  }

  /// A finding of a check as an error: damage, or what a newer version wrote.
  package static func found(_ finding: StoreFinding) -> StoreError {
    finding.class == .unsupported ? .unsupported(finding) : .damaged(finding)
  }

  /// What the program reads does not decode: a sentence that says which, and why.
  package static func undecodable(what: String) -> StoreError {
    .undecodable(what: what, next: "correct the type that reads it, or what was written")
  }

  /// An argument is invalid: a sentence that says why.
  package static func invalid(what: String) -> StoreError {
    .invalid(what: what, next: "correct what was given")
  }

  /// A limit of the options was exceeded.
  package static func tooLarge(what: String, actual: Int, limit: Int) -> StoreError {
    .invalid(
      what: "\(what) has a size of \(actual), and 1 to \(limit) is allowed",
      next: "append less at a time, or raise the limit in the options")
  }

  /// A limit of the format was exceeded, which no option changes.
  package static func outsideFormat(what: String, actual: Int, limit: Int) -> StoreError {
    .invalid(
      what: "\(what) has a size of \(actual), and 1 to \(limit) is allowed",
      next: "use one within this limit, which is the format's and no option")
  }
}
