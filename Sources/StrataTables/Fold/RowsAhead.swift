// The blocks that are folded in next, and the rows of the state that their events change.

internal import StrataBase
internal import StrataLog

/// Reads the pages that a fold of documents will need together, instead of one after another.
///
/// A state from disk has few pages in memory. Events after it change rows all over its tables, so that a fold would wait
/// for the disk at almost every event. Therefore some blocks are taken from the log before the first of them is folded
/// in, and the pages of all their rows are read at once. This ends when the rows of some blocks were all in memory.
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

  init(isOnDisk: Bool) { self.isOnDisk = isOnDisk }

  /// Notes that rows that were in memory no longer are.
  mutating func noteSpilled() { isOnDisk = true }

  /// Forgets the blocks, which are to be read again.
  mutating func removeAll() { blocks = [] }

  /// The next block, nil at the end of what is visible.
  ///
  /// - Parameter count: the number of events that are to be folded in.
  mutating func next(
    _ reader: BlocksAhead, events count: UInt64, into state: borrowing TableSet, _ folding: Folding,
    on parallel: Parallel
  ) throws(StoreError) -> DecodedBlock? {
    if let block = blocks.popLast() { return block }
    guard let first = try reader.next() else { return nil }
    guard isOnDisk, count >= Self.eventCountMin, folding.isOfDocuments else { return first }
    var next = [first]
    var sum = UInt64(first.header.eventCount)
    // What this read throws, the next one throws again.
    while sum < min(count, Self.eventCount), let block = try? reader.next() {
      next.append(block)
      sum += UInt64(block.header.eventCount)
    }
    isOnDisk = Self.read(next, state, folding, on: parallel)
    next.reverse()
    blocks = next
    return blocks.popLast()
  }

  /// Reads the rows of the state that events of some blocks are about. Returns whether one of them was not in memory.
  private static func read(
    _ blocks: [DecodedBlock], _ state: borrowing TableSet, _ folding: Folding, on parallel: Parallel
  ) -> Bool {
    let tables = state.tables
    var ids = Array(repeating: [ByteRun](), count: tables.count)
    var last = 0
    for block in blocks {
      // What is damaged is found by the fold.
      try? block.forEachAppend { append, _ throws(ContentProblem) in
        var events = append.events
        for _ in 0..<append.eventCount {
          guard let event = try? events.nextEvent() else { return }
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
      }
    }
    var count = 0
    for (table, ids) in zip(tables, ids) where !ids.isEmpty {
      count += table.rows.readAhead(ids.sorted { $0.order(against: $1) < 0 }, on: parallel)
    }
    withExtendedLifetime(blocks) {}
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
