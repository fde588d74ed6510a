// What one fold of a projection keeps from one event to the next.

internal import StrataDocuments

/// The decoded rows that a fold keeps for its projection, the rows that are to be put into its tables, and buffers.
/// Used by one thread at a time.
///
/// The rows are those of one state, which is not complete before `place(into:_:)`. They follow every event that is
/// folded in, and are dropped if the next event is folded into any other state.
package final class KeptRows {
  /// The number of rows that are kept of each table.
  package static let rowCountMax = 4_096
  /// The number of tables whose rows are kept.
  static let tableCountMax = 32
  /// The length of the longest document whose row is kept, in bytes.
  static let documentLengthMax = 4_096
  /// The most bytes that the buffer for encoded rows keeps.
  private static let bufferLengthMax = 1 << 20

  /// A table that the projection uses.
  struct OpenTable {
    let name: String
    var rows: ChangedRows
    /// What earlier events changed and is not in the table yet.
    var unplaced: UnplacedRows
  }

  private let rowCountMax: Int
  private let unplacedCountMax: Int
  /// The tables, while no event is folded in.
  @exclusivity(unchecked) private var tables: [OpenTable] = []
  /// The sequence of the state whose rows are kept.
  @exclusivity(unchecked) private var sequence: UInt64?
  /// The event that is being folded in.
  @exclusivity(unchecked) private(set) var event: UInt64?
  /// Whether there may be rows that are to be put into their tables.
  @exclusivity(unchecked) private var hasUnplaced = false
  /// Whether this is due, because they are many.
  @exclusivity(unchecked) private(set) var isFull = false
  private let encoder = RepeatedCBOREncoder()
  @exclusivity(unchecked) private var buffer = CBORWriter()

  package init(
    rowCountMax: Int = KeptRows.rowCountMax, unplacedCountMax: Int = UnplacedRows.countMax
  ) {
    self.rowCountMax = rowCountMax
    self.unplacedCountMax = unplacedCountMax
  }

  /// Drops all rows, also those that are not in their tables yet.
  package func removeAll() {
    assert(event == nil, "rows are dropped while an event uses them")
    tables = []
    sequence = nil
    (hasUnplaced, isFull) = (false, false)
  }

  /// Puts the rows that events changed into the tables of their state.
  package func place(into set: inout TableSet, _ scratch: FoldScratch) {
    guard hasUnplaced else { return }
    assert(event == nil, "rows are put into their tables while an event uses them")
    for index in tables.indices { tables[index].place(into: &set, scratch) }
    if tables.count > Self.tableCountMax { tables.removeLast(tables.count - Self.tableCountMax) }
    (hasUnplaced, isFull) = (false, false)
  }

  /// Lends the tables to an event that is folded into the state after `sequence`.
  func begin(_ event: UInt64, after sequence: UInt64) -> [OpenTable] {
    if self.sequence != sequence {
      assert(!hasUnplaced, "a state was replaced before its rows were put into its tables")
      removeAll()
    }
    self.event = event
    self.sequence = nil
    var lent: [OpenTable] = []
    swap(&lent, &tables)
    return lent
  }

  /// Takes the tables back, after an event was folded in or failed.
  func end(_ event: UInt64, _ returned: inout [OpenTable]) {
    assert(tables.isEmpty, "tables are given back that were not lent")
    // A projection that puts older tables in the place of those it got goes back to an older state.
    if event == self.event { swap(&tables, &returned) }
    for index in tables.indices where tables[index].rows.changeCount > 0 {
      // A copy of the tables may have outlived the event.
      if !isKnownUniquelyReferenced(&tables[index].rows) { tables[index].rows = tables[index].rows.copy() }
      tables[index].rows.clear()
      if tables[index].unplaced.count > 0 { hasUnplaced = true }
      if tables[index].unplaced.isFull { isFull = true }
    }
    if tables.count > Self.tableCountMax { (hasUnplaced, isFull) = (true, true) }
    if buffer.count > Self.bufferLengthMax { buffer = CBORWriter() } else { buffer.removeAll() }
    sequence = self.event
    self.event = nil
  }

  /// Notes that an event which the projection does not get was folded in.
  func pass(_ event: UInt64, after sequence: UInt64) {
    if self.sequence == sequence { self.sequence = event }
  }

  /// A table that the projection uses for the first time.
  func open<Row>(_ key: TableKey<Row>) -> OpenTable {
    let type = RowType(Row.self)
    let cache = RowCache(countMax: type == nil ? 0 : rowCountMax)
    return OpenTable(
      name: key.name, rows: ChangedRows(type, cache), unplaced: UnplacedRows(countMax: unplacedCountMax))
  }

  /// Encodes a row into the buffer, and returns the range of its document. Throws the reason why it cannot be encoded.
  func encode(_ row: DecodedRow, _ id: String, of table: String) throws(RowProblem) -> Range<Int> {
    let start = buffer.count
    do { try row.type.encode(row.address, encoder, &buffer) } catch {
      throw RowProblem(what: "row \(id) of \(table) does not encode: \(error)")
    }
    let isObject = buffer.withUnsafeBytes { $0.count > start && $0[start] & 0xE0 == 0xA0 }
    guard isObject else { throw RowProblem(what: "row \(id) of \(table) does not encode as an object") }
    return start..<buffer.count
  }

  /// Copies a document into the buffer, and returns its range.
  func add(_ document: [UInt8]) -> Range<Int> {
    let start = buffer.count
    document.withUnsafeBytes { buffer.writeEncoded($0) }
    return start..<buffer.count
  }

  /// Bytes of the buffer, valid until more are added.
  func encoded(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    buffer.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[range]) }
  }
}

extension KeptRows.OpenTable {
  /// Puts the rows that events changed into the table.
  mutating func place(into set: inout TableSet, _ scratch: FoldScratch) {
    guard unplaced.count > 0 else { return }
    set.withTable(name) { unplaced.place(into: &$0, scratch) }
    // A copy of the tables may have outlived its event.
    if isKnownUniquelyReferenced(&unplaced) { unplaced.removeAll() } else { unplaced = unplaced.another() }
  }
}
