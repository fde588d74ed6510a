// The blocks that are folded in next, and the rows of the state that their events change.

internal import StrataBase
internal import StrataLog

/// Reads the pages that a fold of documents will need together, instead of one after another.
///
/// A state from disk has few pages in memory. Events after it change rows all over its tables, so that a fold would wait
/// for the disk at almost every event. Therefore some blocks are taken from the log before the first of them is folded
/// in, and the pages of all rows of the next events are read at once. This ends when the rows of some events were all in
/// memory.
///
/// Only documents name their rows; what an application's own projection will look into is not known.
struct RowsAhead {
  /// The number of events whose rows are read together.
  private static let eventCount: UInt64 = 1_024
  /// Fewer events than these read their rows themselves.
  private static let eventCountMin: UInt64 = 32

  /// What is to be folded in, in reverse.
  private var blocks: [DecodedBlock] = []
  /// Whether there may be rows that are not in memory.
  private var isOnDisk: Bool
  /// The last event whose row was read.
  private var end: UInt64 = 0
  private let decodedEvents: EventTally

  /// - Parameter decodedEvents: counts the events that are decoded for their rows.
  init(isOnDisk: Bool, _ decodedEvents: EventTally) {
    (self.isOnDisk, self.decodedEvents) = (isOnDisk, decodedEvents)
  }

  /// Notes that rows that were in memory no longer are.
  mutating func noteSpilled() { (isOnDisk, end) = (true, 0) }

  /// Forgets the blocks, which are to be read again.
  mutating func removeAll() { (blocks, end) = ([], 0) }

  /// The last event that is folded in before more rows are read.
  func bound(after sequence: UInt64) -> UInt64 { sequence < end ? end : .max }

  /// Where to go on in the block that was begun, or the begin of the next one; nil at the end of what is visible.
  ///
  /// - Parameter count: the number of events that are to be folded in.
  mutating func next(
    _ begun: BlockCursor?, _ reader: BlocksAhead, events count: UInt64, into state: borrowing TableSet,
    _ folding: Folding, on parallel: Parallel
  ) throws(StoreError) -> BlockCursor? {
    let first: BlockCursor
    if let begun {
      first = begun
    } else {
      let known = blocks.popLast()
      guard let block = known == nil ? try reader.next() : known else { return nil }
      first = BlockCursor(block)
    }
    guard isOnDisk, state.sequence >= end, count >= Self.eventCountMin, folding.isOfDocuments else {
      return first
    }
    let wanted = state.sequence + min(count, Self.eventCount)
    var last = (blocks.first ?? first.block).header.nextSequence &- 1
    // What this read throws, the next one throws again.
    while last < wanted, let block = try? reader.next() {
      blocks.insert(block, at: 0)
      last = block.header.nextSequence &- 1
    }
    end = min(last, wanted)
    isOnDisk = read(first, state, folding, on: parallel)
    if !isOnDisk { end = 0 }
    return first
  }

  /// Reads the rows of the state that the events up to the end are about. Returns whether one of them was not in memory.
  private func read(
    _ first: BlockCursor, _ state: borrowing TableSet, _ folding: Folding, on parallel: Parallel
  ) -> Bool {
    let tables = state.tables
    var ids = Array(repeating: [ByteRun](), count: tables.count)
    var last = 0
    for begun in [first] + blocks.reversed().map(BlockCursor.init) {
      var cursor = begun
      // What is damaged is found by the fold.
      try? cursor.skip(through: state.sequence)
      while !cursor.isAtEnd, cursor.nextSequence <= end, (try? cursor.openAppend()) != nil {
        guard let event = try? cursor.nextEvent() else { break }
        guard let row = folding.documentRow(of: event) else { continue }
        func isNamed(_ index: Int) -> Bool {
          tables[index].nameBytes.withUnsafeBytes { $0.hasSameBytes(as: row.category) }
        }
        if last >= tables.count || !isNamed(last) {
          guard let index = state.index(ofTable: row.category) else { continue }
          last = index
        }
        ids[last].append(ByteRun(row.id))
      }
      decodedEvents.add(cursor.passedCount - begun.passedCount)
    }
    var count = 0
    for (table, ids) in zip(tables, ids) where !ids.isEmpty {
      count += table.rows.readAhead(ids.sorted { $0.order(against: $1) < 0 }, on: parallel)
    }
    withExtendedLifetime((first, blocks)) {}
    return count > 0
  }
}

extension Folding {
  fileprivate var isOfDocuments: Bool {
    switch self {
    case .touching(let folding): folding.isOfDocuments
    case .documents: true
    case .own: false
    }
  }
}
