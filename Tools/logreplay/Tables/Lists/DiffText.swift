// The changes of a list as text for people: by section, with a mark for each item, and old → new values.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Formats a diff: `+` marks an inserted item, `-` a deleted one, `~` one that changed in place, `>` one that moved.
struct DiffText {
  private let fields: ShownFields
  private let headingName: String?
  private let people: PeopleText
  private let isTable: Bool

  init(_ query: ListQuery, people: PeopleText, isTable: Bool) {
    fields = query.fields
    let names = query.sectionPath?.names ?? []
    headingName = names.count == 1 && query.fields.chosen == nil ? names[0] : nil
    self.people = people
    self.isTable = isTable
  }

  func write(_ diff: ListComparison, to writer: inout OutputWriter) throws {
    try writer.line(head(diff))
    for group in diff.groups() {
      try writer.line(heading(group, of: diff))
      let width = isTable ? group.items.map { PeopleText.printable($0.id).count }.max() ?? 0 : 0
      for item in group.items { try writer.line(line(item, of: diff, idWidth: width)) }
    }
  }

  /// `incident  seq 990 → 1000  2012-01-11 … → 2012-01-11 …`.
  func head(_ diff: ListComparison) -> String {
    func time(_ state: ListState) -> String { state.time.map { people.time($0) } ?? "the beginning" }
    return people.colored(PeopleText.printable(diff.new.table), .cyan)
      + people.colored(
        "  seq \(diff.old.sequence) → \(diff.new.sequence)  (\(time(diff.old)) → \(time(diff.new)))", .dim)
  }

  private func heading(_ group: DiffGroup, of diff: ListComparison) -> String {
    let name = diff.new.version.isSectioned ? PeopleText.heading(group.section) : "items"
    let mark = group.mark.map { people.colored($0.rawValue, $0.color) + " " } ?? ""
    return mark + people.colored(name, .cyan) + "  " + people.colored(DiffStat.counts(group), .dim)
      + DiffStat.results(group)
  }

  private func line(_ item: DiffGroup.Item, of diff: ListComparison, idWidth: Int) -> String {
    let id = PeopleText.printable(item.id)
    var line = "  " + people.colored(item.mark.rawValue, item.mark.color) + " "
    line += people.colored(id, .yellow)
    let padding = PeopleText.padding(id, to: idWidth)
    var parts: [String] = []
    if item.mark == .moved, let from = item.from, let to = item.to {
      parts.append("[\(from.section),\(from.item)] → [\(to.section),\(to.item)]")
    }
    switch item.mark {
    case .inserted: parts.append(words(ListComparison.row(item.id, in: diff.new, fields).fields))
    case .deleted: parts.append(words(ListComparison.row(item.id, in: diff.old, fields).fields))
    case .moved, .updated:
      if item.isChanged { parts.append(changes(diff.rowChange(item.id, fields))) }
    }
    parts.removeAll(where: \.isEmpty)
    return parts.isEmpty ? line : line + padding + "  " + parts.joined(separator: "  ")
  }

  private func words(_ object: DocumentObject) -> String {
    let pairs: [(String, DocumentValue)]
    if let chosen = fields.chosen {
      pairs = chosen.compactMap { field in object[field.name].map { (field.name, $0) } }
    } else {
      pairs = object.filter { $0.key != headingName }.map { ($0.key, $0.value) }
    }
    return pairs.map { "\(PeopleText.printable($0))=\(PeopleText.word($1))" }.joined(separator: " ")
  }

  /// A changed field as `status: Queued → Accepted`, an added one as `+role: A2`, a removed one as `-role: A2`.
  private func changes(_ change: ListComparison.RowChange) -> String {
    guard !change.fields.isEmpty else { return "revision \(change.oldRevision) → \(change.newRevision)" }
    return change.fields.map { field in
      let name = PeopleText.printable(field.name)
      switch (field.old, field.new) {
      case (let old?, let new?): return "\(name): \(PeopleText.word(old)) → \(PeopleText.word(new))"
      case (nil, let new?): return people.colored("+\(name): \(PeopleText.word(new))", .green)
      case (let old?, nil): return people.colored("-\(name): \(PeopleText.word(old))", .red)
      case (nil, nil): return name
      }
    }.joined(separator: ", ")
  }
}
