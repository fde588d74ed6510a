// The columns of a list that is shown as a table.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// The columns that every row has, such as its id, and the columns of the fields. All names are distinct.
struct ListColumns {
  /// The titles of the columns that every row has. One that is also the name of a field is written as in filters,
  /// `$id`.
  let own: [String]
  /// The names of the fields, without an `id` that repeats the row's id.
  let fields: [String]

  /// - Parameters:
  ///   - own: the columns that every row has, including `id`.
  ///   - rowCountMax: how many rows are read to find the fields, beginning with the first.
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

/// The columns of a list as CSV. A title means the same whatever the rows hold, and no two are equal.
struct ListCSVColumns {
  /// The columns that every row has.
  private static let own = ["section", "id", "revision"]
  /// The names of the fields: those that were chosen, in their order, or otherwise those of all shown rows, ascending,
  /// without an `id` that repeats the row's id everywhere.
  let fields: [String]
  /// The titles of all columns.
  let titles: [String]

  init(of state: ListState, _ shown: ShownFields) throws {
    if let chosen = shown.chosen {
      fields = chosen.map(\.name)
      titles = Self.own + chosen.map { $0.path.names.count == 1 ? Self.title($0.name) : $0.name }
    } else {
      var names = try state.fieldNames(shown, rowCountMax: .max)
      if names.contains("id"), try state.repeatsIDs(shown, rowCountMax: .max) {
        names.removeAll { $0 == "id" }
      }
      fields = names
      titles = Self.own + names.map(Self.title)
    }
  }

  /// The title of a field: its name, which is in backquotes, as filters take it, where it could be taken for a column
  /// that every row has, a path, or another name in backquotes.
  private static func title(_ name: String) -> String {
    let isOdd =
      own.contains(name) || name.unicodeScalars.first == "$"
      || name.unicodeScalars.contains { $0 == "`" || $0 == "." }
    return isOdd ? FieldPath.quoted(name, always: true) : name
  }
}

extension ListState {
  /// Lends the first shown rows, at most `countMax`.
  private func forEachRow(countMax: Int, _ body: (RowView) throws -> Void) throws {
    var left = countMax
    for place in 0..<version.sectionCount where left > 0 {
      let shown = min(left, shownCount(ofSectionAt: place))
      left -= shown
      try forEachRow(inSectionAt: place, 0..<shown, body)
    }
  }

  /// The names of all fields of the first shown rows, ascending by UTF-8.
  fileprivate func fieldNames(_ fields: ShownFields, rowCountMax: Int) throws -> [String] {
    var names = DocumentObject()
    try forEachRow(countMax: rowCountMax) { row in
      for (name, _) in fields.fields(of: row) where names[name] == nil { names[name] = .null }
    }
    return Array(names.keys)
  }

  /// Whether the field `id`, in each of the first shown rows that have it, repeats the row's id.
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
