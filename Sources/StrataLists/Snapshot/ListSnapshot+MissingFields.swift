// Fields that a request names and no row has: how a mistyped name shows up, since documents have no schema.

public import StrataTables

extension ListSnapshot {
  /// The fields that the request names and no row of its table has, ascending, those of aggregates last. Documents have no schema that could
  /// reject a name, so a mistyped one leads to an empty list, or to one that is not sorted as intended; this property
  /// lists such names.
  ///
  /// All rows of the table count, shown or not, and a field that is null counts as present. Empty if the table has no
  /// rows. Key paths and closures name no fields.
  ///
  /// Computed on every access, and at no other time. The search ends at the row that has the last of the fields: O(1)
  /// if every row has all of them, and O(rows × missing fields) if no row has some.
  public var missingFields: [FieldPath] {
    version.table.count == 0 ? [] : version.table.missing(version.namedFields)
  }
}

extension ListVersion {
  /// The fields that the request names, each once: those of the view, then those of aggregates.
  fileprivate var namedFields: [FieldPath] {
    let fields = view.definition.fields
    return fields + (totals?.plan.paths ?? []).filter { !fields.contains($0) }
  }
}

extension Table {
  private struct AllFound: Error {}

  /// The fields of documents, out of those given, that no row has, in the order given. O(1) to O(rows × missing
  /// fields).
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
