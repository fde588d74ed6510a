// Reading the model of a list from the library, and applying a batch to it.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables

extension ModelList {
  /// The content that a version of a list shows.
  init(_ list: ListVersion) {
    sections = (0..<list.sectionCount).map { rank in
      let (value, count, shown) = list.withSection(at: rank) { section, count, shown in
        var reader = SortKeyReader(section)
        return (list.isSectioned ? (try? reader.readDocumentValue()) ?? .string("?") : .null, count, shown)
      }
      var items: [Item] = []
      list.forEachItem(inSectionAt: rank, 0..<shown) { key in
        let revision = list.table.withRow(key.id) { $0.map { XXH64.of($0.document) >> 1 } ?? 0 }
        items.append(Item(id: Array(key.id), revision: revision))
      }
      return Section(value: value, count: count, items: items)
    }
  }

  /// The list after the four steps of a batch. If the batch says that the revision or count of something that stays
  /// changed, the value is taken from `new`.
  func applying(_ diff: ListDiff, toward new: ModelList) throws(ModelError) -> ModelList {
    var sections = sections
    func take(_ id: String, _ from: ListIndex) throws(ModelError) {
      guard from.section < self.sections.count, from.item < self.sections[from.section].items.count,
        self.sections[from.section].items[from.item].id.elementsEqual(id.utf8)
      else { throw ModelError(what: "\(id) is not at \(from)") }
    }
    var gone: [ListIndex: Bool] = [:]
    var moving: [[UInt8]: Item] = [:]
    for change in diff.deletions {
      try take(change.id, change.from)
      gone[change.from] = true
    }
    for change in diff.moves {
      try take(change.id, change.from)
      guard gone[change.from] == nil else { throw ModelError(what: "\(change.from) is removed twice") }
      gone[change.from] = true
      moving[Array(change.id.utf8)] = self.sections[change.from.section].items[change.from.item]
    }
    for change in diff.updates {
      try take(change.id, change.from)
      guard gone[change.from] == nil else {
        throw ModelError(what: "\(change.from) is removed and updated")
      }
      guard change.to.section < new.sections.count,
        change.to.item < new.sections[change.to.section].items.count
      else { throw ModelError(what: "\(change.to) is not in the new list") }
      sections[change.from.section].items[change.from.item].revision =
        new.sections[change.to.section].items[change.to.item].revision
    }
    for position in gone.keys.sorted(by: >) { sections[position.section].items.remove(at: position.item) }
    var movingSections: [Int: Section] = [:]
    for move in diff.sectionMoves { movingSections[move.to] = sections[move.from] }
    for rank in (diff.sectionDeletions.map(\.from) + diff.sectionMoves.map(\.from)).sorted(by: >) {
      let isDeleted = diff.sectionDeletions.contains { $0.from == rank }
      guard !isDeleted || sections[rank].items.isEmpty else {
        throw ModelError(what: "section \(rank) is deleted with items in it")
      }
      sections.remove(at: rank)
    }
    for change in diff.sectionInsertions {
      movingSections[change.to] = Section(
        value: Self.value(of: change.section), count: change.count, items: [])
    }
    for (rank, section) in movingSections.sorted(by: { $0.key < $1.key }) {
      guard rank <= sections.count else { throw ModelError(what: "section \(rank) is inserted past the end") }
      sections.insert(section, at: rank)
    }
    let put =
      diff.insertions.map { ($0.to, $0.id, false) } + diff.moves.map { ($0.to, $0.id, $0.isChanged) }
    for (to, id, isChanged) in put.sorted(by: { $0.0 < $1.0 }) {
      guard to.section < sections.count, to.item <= sections[to.section].items.count else {
        throw ModelError(what: "\(id) is inserted at \(to), past the end")
      }
      var item = moving[Array(id.utf8)] ?? new.sections[to.section].items[to.item]
      if isChanged { item.revision = new.sections[to.section].items[to.item].revision }
      sections[to.section].items.insert(item, at: to.item)
    }
    for change in diff.sectionUpdates { sections[change.to].count = change.count }
    return ModelList(sections: sections)
  }

  static func value(of key: [UInt8]) -> DocumentValue {
    key.withUnsafeBytes { bytes in
      var reader = SortKeyReader(bytes)
      return bytes.isEmpty ? .null : (try? reader.readDocumentValue()) ?? .string("?")
    }
  }
}

struct ModelError: Error, Equatable { var what: String }
