// Two states of one list, and what changed between them.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// The old list, the new one, and the canonical batch that makes one of the other.
struct ListComparison {
  var old: ListState
  var new: ListState
  var batch: ListDiff

  /// What changed in a row of both lists.
  struct RowChange {
    var oldRevision: UInt64
    var newRevision: UInt64
    /// Ascending by the names' UTF-8.
    var fields: [FieldChange]
  }

  /// What changed in a row, of the fields that are shown.
  func rowChange(_ id: String, _ shown: ShownFields) -> RowChange {
    let old = Self.row(id, in: old, shown)
    let new = Self.row(id, in: new, shown)
    return RowChange(
      oldRevision: old.revision, newRevision: new.revision,
      fields: FieldChange.changes(from: old.fields, to: new.fields))
  }

  /// A row's revision and the fields that are shown.
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
