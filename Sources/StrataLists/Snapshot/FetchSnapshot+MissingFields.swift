// Fields that a request names and no row has: what a mistyped name looks like where documents have no schema.

public import StrataTables

extension FetchSnapshot {
  /// The fields that the request names and no row of its table has, ascending. A list of documents has no schema
  /// that could refuse a name, so a mistyped one is an empty list, or one without an order; this says which.
  ///
  /// All rows of the table count, shown or not, and a field that is null is there. Empty where the table has no
  /// rows. Key paths and closures name no fields.
  ///
  /// Worked out anew by every call, and in no other one. It ends with the row that has the last of the fields: O(1)
  /// where every row has all of them, and O(rows × missing fields) where some are in none.
  public var missingFields: [FieldPath] {
    version.table.count == 0 ? [] : version.table.missing(version.view.definition.fields)
  }
}

extension Table {
  private struct AllFound: Error {}

  /// Those of these fields of documents that no row has, in the order given. O(1) to O(rows × missing fields).
  package func missing(_ fields: [FieldPath]) -> [FieldPath] {
    var missing = fields
    guard !missing.isEmpty else { return [] }
    do throws(AllFound) {
      try forEachRow { (row) throws(AllFound) in
        missing.removeAll { $0.find(in: row.document) != nil }
        if missing.isEmpty { throw AllFound() }
      }
    } catch { return [] }
    return missing
  }
}
