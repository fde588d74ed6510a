// The changes of a list as a patch: the old and new values of every field that changed.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Writes one hunk per item, in the order of the lists:
///
/// ```
/// --- incident/1-42  revision 3  Queued [1,0]
/// +++ incident/1-42  revision 9  Accepted [0,1]
/// -status: "Queued"
/// +status: "Accepted"
/// ```
struct DiffPatch {
  let diff: ListComparison
  let fields: ShownFields
  let people: PeopleText

  private static let nowhere = "/dev/null"

  func write(to writer: inout OutputWriter) throws {
    for group in diff.groups() {
      for item in group.items { try write(item, to: &writer) }
    }
  }

  private func write(_ item: DiffGroup.Item, to writer: inout OutputWriter) throws {
    let none: (revision: UInt64, fields: DocumentObject) = (0, [:])
    let old = item.from == nil ? none : ListComparison.row(item.id, in: diff.old, fields)
    let new = item.to == nil ? none : ListComparison.row(item.id, in: diff.new, fields)
    try writer.line(people.colored("--- " + head(item.id, old.revision, item.from, diff.old), .dim))
    try writer.line(people.colored("+++ " + head(item.id, new.revision, item.to, diff.new), .dim))
    for change in FieldChange.changes(from: old.fields, to: new.fields) {
      let name = PeopleText.printable(change.name)
      if let old = change.old {
        try writer.line(people.colored("-\(name): \(PeopleText.printable(old.json()))", .red))
      }
      if let new = change.new {
        try writer.line(people.colored("+\(name): \(PeopleText.printable(new.json()))", .green))
      }
    }
  }

  private func head(_ id: String, _ revision: UInt64, _ position: ListIndex?, _ state: ListState) -> String {
    guard let position else { return Self.nowhere }
    let section = state.version.isSectioned ? PeopleText.word(state.section(at: position.section)) + " " : ""
    return PeopleText.printable("\(state.table)/\(id)")
      + "  revision \(revision)  \(section)[\(position.section),\(position.item)]"
  }
}
