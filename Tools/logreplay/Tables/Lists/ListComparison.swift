// Two states of one list, and the changes between them.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// The old list, the new one, and the canonical batch that turns the old one into the new one.
struct ListComparison {
  var old: ListState
  var new: ListState
  var batch: ListDiff

  /// The changes of a row that is in both lists.
  struct RowChange {
    var oldRevision: UInt64
    var newRevision: UInt64
    /// Ascending by the names' UTF-8.
    var fields: [FieldChange]
  }

  /// The changes of a row, in the fields that are shown.
  func rowChange(_ id: String, _ shown: ShownFields) -> RowChange {
    let old = Self.row(id, in: old, shown)
    let new = Self.row(id, in: new, shown)
    return RowChange(
      oldRevision: old.revision, newRevision: new.revision,
      fields: FieldChange.changes(from: old.fields, to: new.fields))
  }

  /// A row's revision and its shown fields.
  static func row(
    _ id: String, in state: ListState, _ shown: ShownFields
  ) -> (revision: UInt64, fields: DocumentObject) {
    state.withRow(id) { row in
      guard let row else { return (0, [:]) }
      return (row.revision, shown.fields(of: row))
    }
  }
}

extension ListComparison {
  init(from old: ListState, to new: ListState) {
    self.init(old: old, new: new, batch: ListDiff(from: old.version, to: new.version))
  }
}
