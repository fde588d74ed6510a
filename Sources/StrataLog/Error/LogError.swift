// What can go wrong in a log, in few cases, each with its place and the next step.

package import StrataBase

/// One thing that a check found wrong: its class, where it is, and which events it puts in doubt.
public struct Finding: Error, Equatable, Sendable {
  /// The classes of FORMAT.md.
  public enum Class: String, Sendable, CaseIterable {
    case torn, corrupt, missing, misplaced, stale, unsupported, index
  }

  public var `class`: Class
  /// The file, relative to the store's folder.
  public var file: String
  /// Bytes from the start of the file.
  public var offset: UInt64
  /// The first sequence that cannot be relied on.
  public var first: UInt64
  /// The last one; `first − 1` where no event is in doubt.
  public var last: UInt64
  /// What is wrong, as a sentence without its full stop.
  public var what: String

  package init(
    _ class: Class, file: String, offset: UInt64, first: UInt64, last: UInt64, what: String
  ) {
    self.class = `class`
    self.file = file
    self.offset = offset
    self.first = first
    self.last = last
    self.what = what
  }

  /// What to do about it, as a sentence without its full stop.
  public var next: String {
    switch `class` {
    case .torn:
      "nothing acknowledged is lost; the next append moves the tail to quarantine/ and goes on"
    case .unsupported:
      "open the store with a newer version of Strata"
    case .index:
      "delete the file; it is rebuilt from the log"
    case .missing:
      "restore the file from a backup; events up to \(max(first, 1) - 1) can be read"
    case .corrupt, .misplaced, .stale:
      "keep a copy of the store and restore this file from a backup; events up to \(max(first, 1) - 1) can be read"
    }
  }
}

/// The errors of the log.
package enum LogError: Error, Equatable, Sendable {
  /// The bytes on disk are not what was written. Restore from a backup, or read up to the place.
  case corrupt(Finding)
  /// Written by a newer version. Use one.
  case unsupported(Finding)
  /// Nothing is there to open; a read-only open creates nothing.
  case notFound(path: String, what: String)
  /// Something else stands where the store should be.
  case notAStore(path: String, what: String)
  /// A symbolic link has a name of the store's own, and none is followed by who writes.
  case linked(path: String)
  /// The store cannot be created there.
  case cannotCreate(path: String, what: String)
  /// Another writer has the store. Wait, or open it for reading.
  case locked(path: String, holder: String?)
  /// The disk is full. Nothing of the append remains; make room and append again.
  case full(path: String)
  /// The file system refused a call.
  case io(FileSystemError)
  /// The file system refused to read these events, in the block at this offset. Others can be read.
  case unreadable(FileSystemError, offset: UInt64, first: UInt64, last: UInt64)
  /// The system does not let the file be opened, whoever asks: it is protected while the device is locked, or was
  /// made immutable. Nothing is wrong with its content; try again later.
  case protectedData(path: String)
  /// A sync failed or the lock was lost; nothing more is accepted. Reopen the store.
  case poisoned(String)
  /// The store was closed, or is open for reading only.
  case closed
  /// The store is suspended. Resume it, and append again.
  case suspended
  case readOnly
  /// An option's or the format's limit: what, how much, at most how much.
  case tooLarge(what: String, actual: Int, limit: Int)
  /// A time outside what 64 bits of nanoseconds can say, or nothing where something must be.
  case invalid(what: String)
  /// The stream does not hold what was expected.
  case conflict(stream: String, expected: ExpectedCount, actual: UInt64)
  /// An append with this id is in the log, with other content.
  case idReused(id: String, first: UInt64, last: UInt64)
  /// The log's events up to this sequence are not the ones that the cursor has seen.
  case diverged(sequence: UInt64, expected: UInt64, actual: UInt64?)
  /// The log begins later.
  case trimmed(firstAvailable: UInt64)
  /// The task was cancelled before its append was in a group.
  case cancelled
  /// A look-up that may not read a whole segment needs the index of one, which is not built. Only those who ask so get
  /// it.
  case indexMissing(segment: UInt64)
}

extension LogError {
  /// The error for a refused call: full, or protected, where that is the reason.
  package init(_ error: FileSystemError) {
    switch error.code {
    case SystemErrorCode.noSpace: self = .full(path: error.path)
    case SystemErrorCode.isLink: self = .linked(path: error.path)
    case SystemErrorCode.notPermitted where error.operation == "open": self = .protectedData(path: error.path)
    default: self = .io(error)
    }
  }

  /// Whether the file system refused something, which it may not do the next time. Nothing is wrong with the log then.
  package var isPassing: Bool {
    switch self {
    case .io, .full, .unreadable, .protectedData: true
    default: false
    }
  }

  /// Whether the error is about a part of the log, or a refusal of the file system: the writer goes on, and other parts can
  /// be read and rewritten.
  package var isLocal: Bool {
    switch self {
    case .corrupt, .unsupported: true
    default: isPassing
    }
  }

  /// Runs calls of the file system and turns their refusals into the log's errors.
  package static func wrapping<Result>(
    _ body: () throws(FileSystemError) -> Result
  ) throws(LogError) -> Result {
    do throws(FileSystemError) { return try body() } catch { throw LogError(error) }
  }
}
