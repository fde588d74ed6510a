// A naive model of a snapshot: arrays with linear search.

package import StrataLists
package import StrataViews

package struct ModelSnapshot: Equatable {
  package struct Section: Equatable {
    package var id: Int
    package var items: [Int]

    package init(id: Int, items: [Int]) {
      self.id = id
      self.items = items
    }
  }

  package var sections: [Section] = []
  /// Whether each marked item is reloaded and not only reconfigured.
  package var marks: [Int: Bool] = [:]
  package var sectionMarks: Set<Int> = []

  package init() {}

  package var items: [Int] { sections.flatMap(\.items) }
  package var ids: [Int] { sections.map(\.id) }

  package func place(_ item: Int) -> ListIndex? {
    for (section, content) in sections.enumerated() {
      if let place = content.items.firstIndex(of: item) { return ListIndex(section: section, item: place) }
    }
    return nil
  }
}

// MARK: Items

extension ModelSnapshot {
  /// Marks the target position while the items are removed from their old positions.
  private static let marker = Int.min

  private mutating func put(_ items: [Int], _ section: Int, _ place: Int) throws(DiffableSnapshotError) {
    for (number, item) in items.enumerated() where items[..<number].contains(item) {
      throw .duplicateItem("\(item)")
    }
    sections[section].items.insert(Self.marker, at: place)
    for section in sections.indices { sections[section].items.removeAll { items.contains($0) } }
    sections[section].items = sections[section].items.flatMap { $0 == Self.marker ? items : [$0] }
  }

  package mutating func append(_ items: [Int], _ section: Int?) throws(DiffableSnapshotError) {
    var place = sections.count - 1
    if let section {
      guard let known = ids.firstIndex(of: section) else { throw .unknownSection("\(section)") }
      place = known
    }
    if sections.isEmpty { throw .noSections }
    try put(items, place, sections[place].items.count)
  }

  package mutating func insert(_ items: [Int], by other: Int, isAfter: Bool) throws(DiffableSnapshotError) {
    guard let place = place(other) else { throw .unknownItem("\(other)") }
    try put(items, place.section, place.item + (isAfter ? 1 : 0))
  }

  package mutating func move(_ item: Int, by other: Int, isAfter: Bool) throws(DiffableSnapshotError) {
    guard let from = place(item) else { throw .unknownItem("\(item)") }
    guard place(other) != nil else { throw .unknownItem("\(other)") }
    if item == other { return }
    sections[from.section].items.remove(at: from.item)
    guard let to = place(other) else { return }
    sections[to.section].items.insert(item, at: to.item + (isAfter ? 1 : 0))
  }

  package mutating func delete(_ items: [Int]) {
    for section in sections.indices { sections[section].items.removeAll { items.contains($0) } }
    for item in items { marks[item] = nil }
  }

  package mutating func deleteAll() { delete(items) }

  package mutating func replace(_ section: Int, _ items: [Int]) throws(DiffableSnapshotError) {
    guard let place = ids.firstIndex(of: section) else { throw .unknownSection("\(section)") }
    let before = sections[place].items
    try put(items, place, before.count)
    delete(before.filter { !items.contains($0) })
  }

  package mutating func mark(_ items: [Int], isReload: Bool) throws(DiffableSnapshotError) {
    for item in items where place(item) == nil { throw .unknownItem("\(item)") }
    for item in items { marks[item] = isReload || marks[item] == true }
  }
}

// MARK: Sections

extension ModelSnapshot {
  package mutating func appendSections(_ ids: [Int]) throws(DiffableSnapshotError) {
    try put(ids, sections.count)
  }

  private mutating func put(_ ids: [Int], _ place: Int) throws(DiffableSnapshotError) {
    for (number, id) in ids.enumerated() where ids[..<number].contains(id) {
      throw .duplicateSection("\(id)")
    }
    let run = ids.map { id in sections.first { $0.id == id } ?? Section(id: id, items: []) }
    sections.insert(Section(id: Self.marker, items: []), at: place)
    sections.removeAll { ids.contains($0.id) }
    sections = sections.flatMap { $0.id == Self.marker ? run : [$0] }
  }

  package mutating func insertSections(
    _ ids: [Int], by other: Int, isAfter: Bool
  ) throws(DiffableSnapshotError) {
    guard let place = self.ids.firstIndex(of: other) else { throw .unknownSection("\(other)") }
    try put(ids, place + (isAfter ? 1 : 0))
  }

  package mutating func moveSection(_ id: Int, by other: Int, isAfter: Bool) throws(DiffableSnapshotError) {
    guard let from = ids.firstIndex(of: id) else { throw .unknownSection("\(id)") }
    guard ids.contains(other) else { throw .unknownSection("\(other)") }
    if id == other { return }
    let section = sections.remove(at: from)
    guard let to = ids.firstIndex(of: other) else { return }
    sections.insert(section, at: to + (isAfter ? 1 : 0))
  }

  package mutating func deleteSections(_ ids: [Int]) {
    for section in sections where ids.contains(section.id) { delete(section.items) }
    sections.removeAll { ids.contains($0.id) }
    sectionMarks.subtract(ids)
  }

  package mutating func reloadSections(_ ids: [Int]) { sectionMarks.formUnion(ids.filter(self.ids.contains)) }
}

// MARK: Comparing

extension ModelSnapshot {
  /// The results in which a snapshot differs from the model.
  package func differences(_ snapshot: DiffableSnapshot<Int, Int>, lookups: Range<Int>) -> [String] {
    var found: [String] = []
    func require(_ holds: Bool, _ what: @autoclosure () -> String) { if !holds { found.append(what()) } }
    require(snapshot.sectionIdentifiers == ids, "sections")
    require(snapshot.itemIdentifiers == items, "items")
    require(snapshot.numberOfItems == items.count, "number of items")
    require(snapshot.numberOfSections == ids.count, "number of sections")
    require(snapshot.isEmpty == items.isEmpty, "emptiness")
    require(snapshot.reloadedItemIdentifiers == items.filter { marks[$0] == true }, "reloaded items")
    require(
      snapshot.reconfiguredItemIdentifiers == items.filter { marks[$0] == false }, "reconfigured items")
    require(snapshot.reloadedSectionIdentifiers == ids.filter(sectionMarks.contains), "reloaded sections")
    for (place, section) in sections.enumerated() {
      require(snapshot.itemIdentifiers(inSection: section.id) == section.items, "items of \(section.id)")
      require(snapshot.numberOfItems(inSection: section.id) == section.items.count, "count of \(section.id)")
      require(snapshot.sectionIdentifier(at: place) == section.id, "section at \(place)")
    }
    let all = items
    for id in lookups {
      let place = place(id)
      require(snapshot.index(of: id) == place, "index of \(id)")
      require(snapshot.indexOfItem(id) == all.firstIndex(of: id), "flat index of \(id)")
      require(snapshot.contains(id) == (place != nil), "contains \(id)")
      require(
        snapshot.sectionIdentifier(containingItem: id) == place.map { ids[$0.section] }, "section of \(id)")
      require(snapshot.indexOfSection(id) == ids.firstIndex(of: id), "index of section \(id)")
      require(snapshot.contains(section: id) == ids.contains(id), "contains section \(id)")
      require(place == nil || snapshot.itemIdentifier(at: place!) == id, "item at \(place!)")
    }
    return found
  }
}
