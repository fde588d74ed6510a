// What a load has put on disk, and the error of the append at which it stopped.

public import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a load has put on disk.
public struct LoadReceipt: Hashable, Sendable {
  /// The number of appends that this load made.
  public var appendCount: UInt64 = 0
  /// The number of appends whose id was in the log already, so that they were not appended again.
  public var knownCount: UInt64 = 0
  /// The ids of the first 1,000 of those.
  public var knownIDs: [String] = []
  /// The number of appends whose time was earlier than that of the append before, and whose commit time was raised to it.
  public var raisedCount: UInt64 = 0
  /// The first and the last sequence that this load appended; nil if there is none. Appends of other callers may be in
  /// between.
  public var sequences: ClosedRange<UInt64>?

  package init() {}

  init(_ progress: AppendRun.Progress) {
    appendCount = progress.appended
    knownCount = progress.known
    knownIDs = progress.knownIDs.map { String(decoding: $0, as: UTF8.self) }
    raisedCount = progress.raised
    if let first = progress.first, let last = progress.last { sequences = first...last }
  }
}

/// The error of a load: the first append that was refused. Nothing after it was appended.
public struct LoadError: Error, Equatable, Sendable {
  /// The append's index in the sequence that was loaded, counted from 0.
  public var index: UInt64
  /// Why it was refused, and what to do next.
  public var error: StoreError
  /// What is on disk. That is every append before the refused one, unless the reason is `poisoned` or `full`: then
  /// appends shortly before it may be missing here, and after `poisoned` they may or may not be in the log.
  public var loaded: LoadReceipt
}

extension LoadError: CustomStringConvertible, LocalizedError {
  public var description: String {
    "append \(index) of the load was refused: \(error); before it, \(loaded.appendCount) were appended, and "
      + "\(loaded.knownCount) were in the log"
  }
  public var errorDescription: String? { description }
  public var recoverySuggestion: String? { error.next }
}
