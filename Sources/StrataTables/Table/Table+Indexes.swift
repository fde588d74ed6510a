// The indexes over a table's rows, and some of its rows.

extension Table {
  /// The views under a name over all rows in the order of some of their fields.
  package var indexes: [View] {
    views.filter { !$0.definition.keyFields.isEmpty && $0.definition.kept != nil }
  }

  /// Some of the rows as a tree. O(k log n), and a copy of their bytes.
  ///
  /// - Parameter ids: ascending, each once. Those without a row are passed over.
  func rows(withIDs ids: ArraySlice<[UInt8]>) -> Tree {
    willRead(Array(ids))
    var found = Tree.Builder(pageSize: rows.pageSize)
    for id in ids {
      id.withUnsafeBytes { id in
        rows.withValue(of: id) { value in if let value { found.append(id, value) } }
      }
    }
    return found.finish()
  }
}
