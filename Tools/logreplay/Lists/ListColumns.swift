// Which columns a list has, where rows stand below each other.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// The columns of what every row has of its own, and of the fields beside them, each under a name of its own.
struct ListColumns {
  /// The titles of the rows' own columns. One that is also the name of a field is written as in filters, `$id`.
  let own: [String]
  /// The names of the fields, without an `id` that says the same as the row's own.
  let fields: [String]

  /// - Parameters:
  ///   - own: the rows' own columns, `id` among them.
  ///   - rowCountMax: the rows that are looked at, beginning with the first.
  init(
    own: [String], of state: ListState, _ shown: ShownFields, except heading: String? = nil, rowCountMax: Int
  ) throws {
    var names = try shown.chosen?.map(\.name) ?? state.fieldNames(shown, rowCountMax: rowCountMax)
    names.removeAll { $0 == heading }
    if names.contains("id"), try state.repeatsIDs(shown, rowCountMax: rowCountMax) {
      names.removeAll { $0 == "id" }
    }
    fields = names
    self.own = own.map { names.contains($0) ? "$" + $0 : $0 }
  }
}

extension ListState {
  /// Lends the first rows that are shown.
  private func forEachRow(countMax: Int, _ body: (RowView) throws -> Void) throws {
    var left = countMax
    for place in 0..<version.sectionCount where left > 0 {
      let shown = min(left, shownCount(ofSectionAt: place))
      left -= shown
      try forEachRow(inSectionAt: place, 0..<shown, body)
    }
  }

  /// The names of all fields of the first rows that are shown, ascending by UTF-8.
  fileprivate func fieldNames(_ fields: ShownFields, rowCountMax: Int) throws -> [String] {
    var names = DocumentObject()
    try forEachRow(countMax: rowCountMax) { row in
      for (name, _) in fields.fields(of: row) where names[name] == nil { names[name] = .null }
    }
    return Array(names.keys)
  }

  /// Whether the field `id` says nothing else than the row's own id in any of the first rows that are shown.
  fileprivate func repeatsIDs(_ fields: ShownFields, rowCountMax: Int) throws -> Bool {
    struct Other: Error {}
    do {
      try forEachRow(countMax: rowCountMax) { row in
        guard let id = fields.fields(of: row)["id"], !id.isNull else { return }
        let text = if case .string(let text) = id { text } else { id.json() }
        if !text.utf8.elementsEqual(row.id) { throw Other() }
      }
    } catch is Other { return false }
    return true
  }
}
