// Pulls only the blocks that may hold events of certain names.

/// A position in the log from which blocks are pulled, past those that hold no event of certain names. Belongs to one
/// consumer; every call blocks for as long as the disk takes, and may build the index of a segment.
package struct IndexedCursor: ~Copyable {
  private let index: StoreIndex
  private let kind: IndexedKind
  private let names: [[UInt8]]
  private var cursor: LogCursor
  /// Where events may be, ascending, and the sequence up to which these are all.
  private var ranges: ArraySlice<ClosedRange<UInt64>> = []
  private var through: UInt64

  /// The sequence after which the next block is looked for: no event of the names up to here is left.
  package private(set) var lastSequence: UInt64

  /// Begins after `sequence`, which may lie in the future.
  ///
  /// - Parameter names: of streams, of categories or of types, in bytes of UTF-8.
  package init(
    _ index: StoreIndex, _ kind: IndexedKind, of names: [[UInt8]], after sequence: UInt64,
    step: Int = 1 << 16
  ) {
    self.index = index
    self.kind = kind
    self.names = names
    cursor = LogCursor(index.source, after: sequence, step: step)
    through = sequence
    lastSequence = sequence
  }

  /// The next block that may hold events of the names, or nil at the end of the log. The block holds other events too:
  /// skip those up to the value that `lastSequence` had before the call, and those of other names.
  ///
  /// - Parameter builds: if false, `indexMissing` is thrown instead of building the index of a segment. The same call
  ///   may be made again.
  package mutating func next(builds: Bool = true) throws(StoreError) -> DecodedBlock? {
    while true {
      while let range = ranges.first {
        // A block that was pulled for the range before may hold this one.
        if range.upperBound > lastSequence {
          cursor.skip(to: max(range.lowerBound, lastSequence + 1))
          guard let block = try cursor.next() else {
            if cursor.nextSequence > source.tail.mark.sequence { return nil }
            continue
          }
          lastSequence = cursor.lastSequence
          return block
        }
        ranges.removeFirst()
      }
      lastSequence = max(lastSequence, through)
      let (found, end) = try index.places(of: names, kind, after: lastSequence, builds: builds)
      guard end > through || !found.isEmpty else { return nil }
      (ranges, through) = (found[...], end)
    }
  }

  private var source: LogSource { index.source }
}
