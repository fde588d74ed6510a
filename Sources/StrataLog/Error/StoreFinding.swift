// One finding on disk: its class, its position, and the events in doubt.

/// A finding of a check: its class, where it is, and which events it puts in doubt.
public struct StoreFinding: Error, Equatable, Sendable {
  /// The classes of FORMAT.md.
  public enum Class: String, Sendable, CaseIterable {
    case torn, corrupt, missing, misplaced, stale, unsupported, index, checkpoint, history
  }

  public var `class`: Class
  /// The file, relative to the store's folder.
  public var file: String
  /// Bytes from the start of the file.
  public var offset: UInt64
  /// The first sequence that cannot be relied on.
  public var first: UInt64
  /// The last one; `first − 1` if no event is in doubt.
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
    case .checkpoint:
      "delete the folder of the file; the log is folded again"
    case .history:
      "delete the folder of the file; the history is made again from the log, and until then the past is replayed"
    case .stale where isDerived:
      "nothing: it is not used, and the next process that writes replaces it"
    case .missing:
      """
      restore the file from a backup, or recover what is left into a new store; \
      events up to \(max(first, 1) - 1) can be read
      """
    case .corrupt, .misplaced, .stale:
      """
      keep a copy of the store and restore this file from a backup, or recover what is left into a new store; \
      events up to \(max(first, 1) - 1) can be read
      """
    }
  }

  /// Whether nothing is wrong: what was found is not used, and is to be expected after a power cut.
  package var isHarmless: Bool { `class` == .stale && isDerived }
}
