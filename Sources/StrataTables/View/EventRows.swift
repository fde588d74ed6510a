// Which rows an event changed, for what follows a fold event by event.

internal import StrataBase

/// The rows that an event changed, as their tables note them when they are put there: those whose bytes, revision or
/// problem are others now, or that are gone. One may be there twice.
package struct EventRows {
  private struct Row {
    /// The name's UTF-8.
    var table: [UInt8]
    /// In `ids`.
    var id: Range<Int>
  }

  /// Whether rows are noted.
  var isOn = false
  private var rows: [Row] = []
  private var ids: [UInt8] = []

  @inline(__always)
  mutating func note(_ id: UnsafeRawBufferPointer, of table: [UInt8]) {
    if isOn { add(id, table) }
  }

  private mutating func add(_ id: UnsafeRawBufferPointer, _ table: [UInt8]) {
    let start = ids.count
    ids.append(contentsOf: id)
    rows.append(Row(table: table, id: start..<ids.count))
  }

  mutating func removeAll() {
    // An event that changes very many rows is rare.
    rows.removeAll(keepingCapacity: rows.count <= 1_024)
    ids.removeAll(keepingCapacity: ids.count <= 1 << 16)
  }

  /// Lends each row once, in the order of the indices of tables and of ids.
  ///
  /// - Parameter indexOf: the index of the table with a name; nil if the event left none.
  func forEach(
    _ indexOf: (_ table: [UInt8]) -> Int?, _ body: (_ table: Int, _ id: UnsafeRawBufferPointer) -> Void
  ) {
    guard rows.count > 1 else {
      guard let row = rows.first, let table = indexOf(row.table) else { return }
      return ids.withUnsafeBytes { body(table, $0) }
    }
    ids.withUnsafeBytes { ids in
      var order: [(table: Int, id: UnsafeRawBufferPointer)] = []
      for row in rows {
        guard let table = indexOf(row.table) else { continue }
        order.append((table, UnsafeRawBufferPointer(rebasing: ids[row.id])))
      }
      order.sort { a, b in a.table == b.table ? a.id.order(b.id) < 0 : a.table < b.table }
      for (index, row) in order.enumerated() {
        if index > 0, order[index - 1].table == row.table, order[index - 1].id.hasSameBytes(as: row.id) {
          continue
        }
        body(row.table, row.id)
      }
    }
  }
}
