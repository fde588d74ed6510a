// Fields that an answer is asked for and no row has, named on standard error with those that are near.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Says which names of a query are in no row. Documents have no schema, so that a mistyped field is an empty answer,
/// or one without an order, and never an error.
enum UnknownFields {
  /// Rows whose fields are looked at for names that are near.
  private static let sampledMax = 1000
  /// Names that are kept of them, and how deep inside each other.
  private static let namesMax = 1000
  private static let depthMax = 4

  /// Names the fields of the query that no row of the states' tables has. Where all are in rows that are shown, no
  /// other row is looked at; otherwise it takes one pass over the table, O(rows).
  static func report(_ query: ListQuery, _ states: ListState...) {
    var missing = query.namedFields
    for state in states { missing = state.missingFromShown(missing) }
    let tables = states.map(\.version.table).filter { $0.count > 0 }
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

  /// The paths of the fields of some rows, as text.
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
  /// Those of these fields that no row which is shown has. Ends with the row that has the last of them.
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
  /// Whether a field that is missing is a text without its quotes: it is compared with another field. Of two that
  /// are both missing, that is the second.
  fileprivate func isBareWord(_ path: FieldPath, missing: [FieldPath]) -> Bool {
    comparisons.contains { left, right in
      right == path ? left != path : left == path && right != path && !missing.contains(right)
    }
  }
}
