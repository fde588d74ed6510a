// Warnings about requested fields that no row has, with similar names as suggestions.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Reports which fields of a query are in no row. Documents have no schema, so a mistyped field is not an error: it
/// gives an empty or unsorted list.
enum UnknownFields {
  /// The most rows that are read for similar names.
  private static let sampledMax = 1000
  /// The most names that are kept, and the greatest depth of nested fields.
  private static let namesMax = 1000
  private static let depthMax = 4

  /// Reports the fields of the query that no row of the states' tables has. If the shown rows have all fields, no other
  /// row is read; otherwise one pass over the table is made, O(rows).
  static func report(_ query: ListQuery, _ states: ListState...) {
    var missing = query.namedFields
    for state in states { missing = state.missingFromShown(missing) }
    report(missing, of: query, in: states.map(\.version.table))
  }

  /// Reports the fields of the query that no row of the tables has. O(rows) if there are any, otherwise as many rows as it
  /// takes to see all fields.
  static func report(_ query: ListQuery, in tables: [Table]) {
    report(query.namedFields, of: query, in: tables)
  }

  private static func report(_ fields: [FieldPath], of query: ListQuery, in tables: [Table]) {
    var missing = fields
    let tables = tables.filter { $0.count > 0 }
    guard !tables.isEmpty else { return }
    for table in tables { missing = table.missing(missing) }
    guard !missing.isEmpty else { return }
    let names = names(in: tables)
    for path in missing {
      let hint =
        query.isBareWord(path, missing: missing)
        ? "write \(FilterOperand.value(.string(path.names.joined(separator: ".")))) in quotes"
        : NearNames.hint(for: path.description, among: names)
      let what = "no row has a field \(path)" + (hint.map { "; \($0)" } ?? "")
      Terminal.note("logreplay: warning: " + PeopleText.printable(what))
    }
  }

  /// The paths of the fields in a sample of rows, as text.
  private static func names(in tables: [Table]) -> [String] {
    struct Enough: Error {}
    var paths: Set<FieldPath> = []
    func gather(_ value: DocumentValue, _ names: [String]) {
      guard names.count < depthMax, case .object(let object) = value else { return }
      for (name, value) in object where !name.isEmpty && paths.count < namesMax {
        paths.insert(FieldPath(names: names + [name]))
        gather(value, names + [name])
      }
    }
    for table in tables {
      var left = sampledMax
      do throws(Enough) {
        try table.forEachRow { (row) throws(Enough) in
          if left == 0 { throw Enough() }
          left -= 1
          if let document = try? DocumentValue(cbor: row.document) { gather(document, []) }
        }
      } catch {}
    }
    return paths.map(\.description)
  }
}

extension ListState {
  /// The given fields that no shown row has. Stops reading at the row in which the last of them is found.
  fileprivate func missingFromShown(_ fields: [FieldPath]) -> [FieldPath] {
    struct AllFound: Error {}
    var missing = fields
    do {
      for place in 0..<version.sectionCount {
        if missing.isEmpty { break }
        try forEachRow(inSectionAt: place, 0..<version.shownCount(ofSectionAt: place)) { row in
          missing.removeAll { $0.find(in: row.document) != nil }
          if missing.isEmpty { throw AllFound() }
        }
      }
    } catch { return [] }
    return missing
  }
}

extension ListQuery {
  /// Whether a missing field is probably a text without quotes: it is compared with another field that exists, or is
  /// the second of two missing fields.
  fileprivate func isBareWord(_ path: FieldPath, missing: [FieldPath]) -> Bool {
    comparisons.contains { left, right in
      right == path ? left != path : left == path && right != path && !missing.contains(right)
    }
  }
}
