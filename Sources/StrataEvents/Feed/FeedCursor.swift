// Pulls the blocks of the log that a feed needs.

internal import StrataLog

/// A cursor over all blocks, or over those that may hold events of a selection's stream, category or types.
struct FeedCursor: ~Copyable {
  private let isIndexed: Bool
  /// One of the two is used; the other one reads nothing.
  private var whole: LogCursor
  private var indexed: IndexedCursor

  init(_ log: Log, _ selection: EventSelection, after sequence: UInt64, isDurableOnly: Bool) {
    let names = selection.indexedNames
    // The index covers what is visible, which may be more than what is on disk.
    isIndexed = names != nil && !isDurableOnly
    whole = log.cursor(after: sequence, isDurableOnly: isDurableOnly)
    indexed = IndexedCursor(log.index, names?.kind ?? .type, of: names?.names ?? [], after: sequence)
  }

  /// The next block that may hold a selected event, or nil at the end of the log. Blocks.
  ///
  /// - Parameter builds: if false, `indexMissing` is thrown instead of building the index of a segment.
  mutating func next(builds: Bool) throws(StoreError) -> DecodedBlock? {
    isIndexed ? try indexed.next(builds: builds) : try whole.next()
  }

  /// No selected event is left up to here.
  var lastSequence: UInt64 { isIndexed ? indexed.lastSequence : whole.lastSequence }
}
