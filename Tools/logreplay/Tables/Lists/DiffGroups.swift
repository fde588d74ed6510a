// The changes of a list, grouped by section for people.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// The changes of one section.
struct DiffGroup {
  enum Mark: String {
    case inserted = "+"
    case deleted = "-"
    case updated = "~"
    case moved = ">"

    var color: PeopleText.Color {
      switch self {
      case .inserted: .green
      case .deleted: .red
      case .updated: .yellow
      case .moved: .cyan
      }
    }
  }

  struct Item {
    var mark: Mark
    var id: String
    var from: ListIndex?
    var to: ListIndex?
    /// Whether the row of a moved item changed too.
    var isChanged = true
  }

  /// The section's value.
  var section: DocumentValue
  /// The change of the section itself.
  var mark: Mark?
  /// How many items it held; nil if it was not shown.
  var oldCount: Int?
  /// How many items it holds; nil if it is not shown.
  var newCount: Int?
  /// The aggregates that it had and has; none where it was not shown, or is not.
  var oldResults = ListResults()
  var newResults = ListResults()
  /// Deleted items by their old index, then all others by their new index.
  var items: [Item] = []

  func count(_ mark: Mark) -> Int { items.reduce(0) { $0 + ($1.mark == mark ? 1 : 0) } }
}

extension ListComparison {
  /// The sections in which something changed: those of the new list in its order, then the deleted ones.
  func groups() -> [DiffGroup] {
    var groups: [DiffGroup] = []
    var places: [[UInt8]: Int] = [:]
    for place in 0..<new.version.sectionCount {
      new.version.withSection(at: place) { key, count, _ in
        places[Array(key)] = groups.count
        groups.append(DiffGroup(section: new.section(Array(key)), newCount: count))
      }
    }
    /// The index of the group of each old section.
    var oldPlaces: [Int] = []
    for place in 0..<old.version.sectionCount {
      old.version.withSection(at: place) { key, count, _ in
        let index = places[Array(key)] ?? groups.count
        if index == groups.count { groups.append(DiffGroup(section: old.section(Array(key)))) }
        groups[index].oldCount = count
        oldPlaces.append(index)
      }
    }
    for change in batch.sectionDeletions { groups[oldPlaces[change.from]].mark = .deleted }
    for change in batch.sectionInsertions {
      groups[change.to].mark = .inserted
      groups[change.to].newResults = new.results(inSectionAt: change.to)
    }
    for change in batch.sectionUpdates {
      groups[change.to].oldResults = old.results(inSectionAt: change.from)
      groups[change.to].newResults = new.results(inSectionAt: change.to)
    }
    for change in batch.sectionMoves { groups[change.to].mark = .moved }
    for change in batch.deletions.reversed() {
      groups[oldPlaces[change.from.section]].items.append(
        .init(mark: .deleted, id: change.id, from: change.from))
    }
    var others: [(to: ListIndex, item: DiffGroup.Item)] = []
    others += batch.insertions.map { ($0.to, .init(mark: .inserted, id: $0.id, to: $0.to)) }
    others += batch.moves.map {
      ($0.to, .init(mark: .moved, id: $0.id, from: $0.from, to: $0.to, isChanged: $0.isChanged))
    }
    others += batch.updates.map { ($0.to, .init(mark: .updated, id: $0.id, from: $0.from, to: $0.to)) }
    others.sort { $0.to < $1.to }
    for (to, item) in others { groups[to.section].items.append(item) }
    return groups.filter {
      !$0.items.isEmpty || $0.mark != nil || $0.oldCount != $0.newCount || $0.oldResults != $0.newResults
    }
  }
}
