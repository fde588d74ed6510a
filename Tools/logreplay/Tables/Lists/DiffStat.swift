// The number of changes in a list: `--stat` prints it per section and in total, `--summary` on one line.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLists

/// The numbers of changes of a list.
struct DiffStat {
  private let diff: ListComparison
  private let groups: [DiffGroup]

  init(_ diff: ListComparison) {
    self.diff = diff
    groups = diff.groups()
  }

  /// `55 → 57`, or a single number if both are equal.
  static func counts(_ group: DiffGroup) -> String {
    let (old, new) = (group.oldCount ?? 0, group.newCount ?? 0)
    return old == new ? PeopleText.count(new) : "\(PeopleText.count(old)) → \(PeopleText.count(new))"
  }

  /// The aggregates that changed, or all of a new section; empty if there are none.
  static func results(_ group: DiffGroup) -> String {
    group.mark == .inserted ? group.newResults.text() : group.newResults.text(since: group.oldResults)
  }

  func text(perSection: Bool, people: PeopleText) -> String {
    var text = ""
    if perSection, diff.new.version.isSectioned {
      let marks: [DiffGroup.Mark] = [.inserted, .deleted, .moved, .updated]
      let rows = groups.map { group in
        [PeopleText.heading(group.section)]
          + marks.map { "\($0.rawValue)\(PeopleText.count(group.count($0)))" }
      }
      let widths = (0...marks.count).map { column in rows.map { $0[column].count }.max() ?? 0 }
      for (group, row) in zip(groups, rows) {
        text += people.colored(row[0], .cyan) + PeopleText.padding(row[0], to: widths[0])
        for (index, mark) in marks.enumerated() {
          let cell = row[index + 1]
          let isNone = group.count(mark) == 0
          text +=
            "  " + PeopleText.padding(cell, to: widths[index + 1])
            + people.colored(cell, isNone ? .dim : mark.color)
        }
        text += "  " + Self.counts(group) + Self.results(group) + "\n"
      }
    }
    let (old, new) = (diff.old.count, diff.new.count)
    let items =
      old == new
      ? PeopleText.count(new, "item") : "\(PeopleText.count(old)) → \(PeopleText.count(new, "item"))"
    let batch = diff.batch
    return text
      + "\(PeopleText.count(batch.insertions.count)) inserted, \(PeopleText.count(batch.deletions.count)) deleted, "
      + "\(PeopleText.count(batch.moves.count)) moved, \(PeopleText.count(batch.updates.count)) updated; \(items)\n"
  }

  /// `{"schema":1,"table":…,"from":{…},"to":{…},"inserted":n,"deleted":n,"moved":n,"updated":n,"sections":[…]}`.
  func json(perSection: Bool) -> [UInt8] {
    var line = JSONLine.document()
    line.field("table", diff.new.table)
    DiffJSON.addEnds(diff, to: &line)
    let batch = diff.batch
    line.field("inserted", batch.insertions.count)
    line.field("deleted", batch.deletions.count)
    line.field("moved", batch.moves.count)
    line.field("updated", batch.updates.count)
    if perSection { line.array("sections", groups.map(Self.json)) }
    return line.finish() + [UInt8(ascii: "\n")]
  }

  private static func json(_ group: DiffGroup) -> [UInt8] {
    var line = JSONLine()
    line.field("section", group.section)
    line.field("inserted", group.count(.inserted))
    line.field("deleted", group.count(.deleted))
    line.field("moved", group.count(.moved))
    line.field("updated", group.count(.updated))
    line.raw("count", "[\(group.oldCount ?? 0),\(group.newCount ?? 0)]".utf8)
    if group.mark == .inserted {
      group.newResults.add(to: &line)
    } else {
      group.newResults.addChanges(since: group.oldResults, to: &line)
    }
    return line.finish()
  }
}
