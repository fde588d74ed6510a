// Rows that are the same in two states of a list, but were written in between.

internal import StrataDocuments
internal import StrataLists
internal import StrataTables

/// A row that both lists show with the same content and with different revisions: it was changed and changed back, or
/// deleted and put again. The batch says nothing of it, or only that it moves, and `at` shows another revision.
struct RevisionChange {
  var id: String
  var old: UInt64
  var new: UInt64

  /// These rows, in the order of the new list. O(k log n) for k rows that differ between the two tables.
  static func changes(from old: ListVersion, to new: ListVersion) -> [RevisionChange] {
    var found: [(id: [UInt8], old: UInt64, new: UInt64)] = []
    Table.forEachChange(from: old.table, to: new.table) { change in
      guard let before = change.old, let after = change.new, before.revision != after.revision,
        before.document.elementsEqual(after.document)
      else { return }
      found.append((Array(change.id), before.revision, after.revision))
    }
    var placed: [(place: ListIndex, change: RevisionChange)] = []
    for row in found {
      row.id.withUnsafeBytes { id in
        guard old.position(of: id) != nil, let place = new.position(of: id) else { return }
        let id = String(decoding: id, as: UTF8.self)
        placed.append((place, RevisionChange(id: id, old: row.old, new: row.new)))
      }
    }
    return placed.sorted { $0.place < $1.place }.map(\.change)
  }
}
