// The content of single rows, compared without decoding.

internal import StrataBase
internal import StrataEvents
internal import StrataTables

extension ListSnapshot {
  /// A number for a row's content. Between two snapshots of a list, an item that both show has an update, or a move
  /// with `isChanged`, exactly if its number differs. Nil if the list does not show the item. O(log n), and a hash of
  /// the row.
  ///
  /// The number is a hash of the document (XXH64), so a row that was changed and changed back has its old number again.
  /// Under `reportTouches` it is the row's revision.
  public func contentVersion(of id: Item.ID) -> UInt64? {
    let isTouched = version.table.recordsTouches
    return withShownRow(id) { row in isTouched ? row.revision : XXH64.of(row.document) }
  }

  /// The sequence of the event that last changed the row. Nil if the list does not show it. O(log n).
  public func revision(of id: Item.ID) -> UInt64? {
    withShownRow(id) { $0.revision }
  }

  private func withShownRow(_ id: Item.ID, _ body: (RowView) -> UInt64) -> UInt64? {
    var text = id.documentID
    return text.withUTF8 { id in
      let id = UnsafeRawBufferPointer(id)
      guard version.position(of: id) != nil else { return nil }
      return version.table.withRow(id) { row in row.map(body) }
    }
  }
}
