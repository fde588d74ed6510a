// What one fold of a projection keeps from one event to the next.

internal import StrataDocuments

/// The decoded rows that a fold keeps for its projection, and buffers. Used by one thread at a time.
///
/// The rows are those of one state. They follow every event that is folded in, and are dropped if the next event is
/// folded into any other state.
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
  }

  private let rowCountMax: Int
  /// The tables, while no event is folded in.
  @exclusivity(unchecked) private var tables: [OpenTable] = []
  /// The sequence of the state whose rows are kept.
  @exclusivity(unchecked) private var sequence: UInt64?
  /// The event that is being folded in.
  @exclusivity(unchecked) private(set) var event: UInt64?
  private let encoder = RepeatedCBOREncoder()
  @exclusivity(unchecked) private var buffer = CBORWriter()

  package init(rowCountMax: Int = KeptRows.rowCountMax) { self.rowCountMax = rowCountMax }

  /// Drops all rows.
  package func removeAll() {
    assert(event == nil, "rows are dropped while an event uses them")
    tables = []
    sequence = nil
  }

  /// Lends the tables to an event that is folded into the state after `sequence`.
  func begin(_ event: UInt64, after sequence: UInt64) -> [OpenTable] {
    if self.sequence != sequence { removeAll() }
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
    for place in tables.indices where tables[place].rows.changes.count > 0 {
      // A copy of the tables may have outlived the event.
      if !isKnownUniquelyReferenced(&tables[place].rows) { tables[place].rows = tables[place].rows.copy() }
      tables[place].rows.clear()
    }
    if tables.count > Self.tableCountMax { tables.removeLast(tables.count - Self.tableCountMax) }
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
    return OpenTable(name: key.name, rows: ChangedRows(type, cache))
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

  /// Lends bytes of the buffer.
  func withEncoded(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Void) {
    buffer.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }
}
