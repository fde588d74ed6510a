// What can go wrong with a store, in few cases, each with its place and the next step.

internal import StrataBase
public import StrataLog

/// The errors of the events floor. Each says what happened, where, and what to do next.
public enum StoreError: Error, Sendable, Equatable {
  /// A stream does not hold what was expected of it. Read it again and decide anew.
  case conflict(stream: StreamName, expected: ExpectedVersion, actual: UInt64)
  /// An append with this id is in the log, and it says something else. Use another id.
  case idReused(id: String, sequences: ClosedRange<UInt64>)
  /// Another writer has the store: which process, where that is known. Open it for reading, or wait.
  case locked(path: String, holder: String?)
  /// A sync failed or the lock was lost, so nothing more is accepted. Open the store anew.
  case poisoned(String)
  /// The system does not let a file of the store be opened: on Apple's systems because it is protected while the
  /// device is locked. Nothing is wrong with it. Try again when the device is unlocked.
  case protectedData(path: String)
  /// The store was closed.
  case closed
  /// The store is suspended: nothing was appended. Resume it, and append again.
  case suspended
  /// The store is open for reading only.
  case readOnly
  /// The task was cancelled: before its append was in a group, or while it waited for a read or a store's lock. Nothing
  /// was done.
  case cancelled
  /// The disk is full. Nothing of the append remains. Make room and append again.
  case full(path: String)
  /// A limit of the options or of the format.
  case tooLarge(what: String, actual: Int, limit: Int)
  /// What was given makes no sense: a sentence that says why.
  case invalid(what: String)
  /// The bytes on disk are not what was written.
  case corrupt(Finding)
  /// Written by a newer version.
  case unsupported(Finding)
  /// There is no store at that path.
  case notFound(path: String, what: String)
  /// Something else stands where the store should be.
  case notAStore(path: String, what: String)
  /// A symbolic link stands where a file or a folder of the store's own belongs. Whoever writes follows none, since what
  /// it leads to is not the store's to change. The path of the store itself may be one.
  case linked(path: String)
  /// The store cannot be made there.
  case cannotCreate(path: String, what: String)
  /// The system refused a call: which, on what, and the number of the reason.
  case io(operation: String, path: String, code: Int32)
  /// The system refused to read these events, in the block at this offset of the file. Others can be read.
  case unreadable(path: String, offset: UInt64, sequences: ClosedRange<UInt64>, code: Int32)
  /// The log up to this sequence is not the one that the cursor has seen.
  case diverged(sequence: UInt64)
  /// The log begins later: at this sequence.
  case trimmed(firstAvailable: UInt64)
}

extension StoreError {
  package init(_ error: LogError) {
    switch error {
    case .corrupt(let finding): self = .corrupt(finding)
    case .unsupported(let finding): self = .unsupported(finding)
    case .notFound(let path, let what): self = .notFound(path: path, what: what)
    case .notAStore(let path, let what): self = .notAStore(path: path, what: what)
    case .linked(let path): self = .linked(path: path)
    case .cannotCreate(let path, let what): self = .cannotCreate(path: path, what: what)
    case .locked(let path, let holder): self = .locked(path: path, holder: holder)
    case .full(let path): self = .full(path: path)
    case .io(let error): self = .io(operation: error.operation, path: error.path, code: error.code)
    case .unreadable(let error, let offset, let first, let last):
      self = .unreadable(
        path: error.path, offset: offset, sequences: first...max(first, last), code: error.code)
    case .poisoned(let why): self = .poisoned(why)
    case .protectedData(let path): self = .protectedData(path: path)
    case .closed: self = .closed
    case .suspended: self = .suspended
    case .readOnly: self = .readOnly
    case .tooLarge(let what, let actual, let limit):
      self = .tooLarge(what: what, actual: actual, limit: limit)
    case .invalid(let what): self = .invalid(what: what)
    case .conflict(let stream, let expected, let actual):
      self = .conflict(
        stream: StreamName(stream), expected: ExpectedVersion(expected), actual: actual)
    case .idReused(let id, let first, let last): self = .idReused(id: id, sequences: first...last)
    case .diverged(let sequence, _, _): self = .diverged(sequence: sequence)
    case .trimmed(let first): self = .trimmed(firstAvailable: first)
    case .cancelled: self = .cancelled
    case .indexMissing(let segment):
      self = .invalid(what: "the index of the segment that begins at \(segment) is not built")
    }
  }

  /// Whether the error is about a part of the store, or a refusal of the file system: the store goes on without what the
  /// error is about.
  var isLocal: Bool {
    switch self {
    case .full, .io, .unreadable, .protectedData, .linked, .corrupt, .unsupported, .invalid: true
    default: false
    }
  }

  /// Runs calls of the log and turns its errors into the store's.
  package static func wrapping<Result>(
    _ body: () throws(LogError) -> Result
  ) throws(StoreError) -> Result {
    do throws(LogError) { return try body() } catch { throw StoreError(error) }
  }
}

extension StoreError: CustomStringConvertible {
  /// What happened, as a sentence without its full stop.
  public var what: String {
    switch self {
    case .conflict(let stream, let expected, let actual):
      "\(stream) holds \(actual) events, and \(expected) was expected"
    case .idReused(let id, let sequences):
      "the append id \(id) was used for other content, at sequence \(sequences.lowerBound)"
    case .locked(_, let holder): "the store is open for writing in \(holder ?? "another process")"
    case .poisoned(let why): why
    case .protectedData: "the system does not let the file be opened"
    case .closed: "the store is closed"
    case .suspended: "the store is suspended"
    case .readOnly: "the store is open for reading only"
    case .cancelled: "the task was cancelled before anything was done"
    case .full: "the disk is full"
    case .tooLarge(let what, let actual, let limit):
      "\(what) has a size of \(actual), and 1 to \(limit) is allowed"
    case .invalid(let what): what
    case .corrupt(let finding), .unsupported(let finding): finding.what
    case .notFound(_, let what), .notAStore(_, let what), .cannotCreate(_, let what): what
    case .linked: "a symbolic link stands where a file or a folder of the store belongs"
    case .io(let operation, _, let code): "cannot \(operation): \(systemMessage(code))"
    case .unreadable(_, _, let sequences, let code):
      "cannot read the events \(sequences.lowerBound) to \(sequences.upperBound): \(systemMessage(code))"
    case .diverged(let sequence): "the log up to sequence \(sequence) is not the one that was read before"
    case .trimmed(let first): "the log begins at sequence \(first)"
    }
  }

  /// Where it happened: a path, a file with an offset, a stream. Empty where that is the store itself.
  public var place: String {
    switch self {
    case .conflict(let stream, _, _): stream.text
    case .locked(let path, _), .full(let path), .notFound(let path, _), .notAStore(let path, _),
      .cannotCreate(let path, _), .linked(let path), .io(_, let path, _), .protectedData(let path):
      path
    case .corrupt(let finding), .unsupported(let finding): "\(finding.file) at byte \(finding.offset)"
    case .unreadable(let path, let offset, _, _): "\(path) at byte \(offset)"
    default: ""
    }
  }

  /// What to do next, as a sentence without its full stop.
  public var next: String {
    switch self {
    case .conflict: "read the stream again, decide anew, and append with the version it has then"
    case .idReused: "use another id for other content"
    case .locked: "close the other writer, or open the store for reading"
    case .poisoned: "open the store again; what was acknowledged is there"
    case .protectedData: "try again once the device is unlocked; elsewhere see whether the file is immutable"
    case .closed: "open the store again"
    case .suspended: "resume the store, then append again"
    case .readOnly: "open the store for writing"
    case .cancelled: "do it again if it is still wanted"
    case .full: "make room and try again; nothing acknowledged is lost"
    case .tooLarge: "append less at a time, or raise the limit in the options"
    case .invalid: "correct what was given"
    case .corrupt(let finding), .unsupported(let finding): finding.next
    case .notFound: "check the path, or create the store by opening it for writing"
    case .notAStore: "choose another path; what stands there was not touched"
    case .cannotCreate: "check the permissions and the path"
    case .linked:
      "put the file or the folder itself there, or move the whole store and let its own path be the link"
    case .io(_, _, let code) where code == SystemErrorCode.notRegularFile:
      "move what is there out of the store"
    case .io: "check the disk and the permissions"
    case .unreadable: "check the disk; other events can be read, and a backup has these"
    case .diverged: "read the log anew from a sequence that both have"
    case .trimmed(let first): "begin at sequence \(first)"
    }
  }

  public var description: String {
    (place.isEmpty ? what : "\(what) (\(place))") + "; \(next)"
  }
}
