// Two random lists, and a simple batch between them that includes the awkward cases.

@testable internal import StrataLists
@testable internal import StrataViews
internal import StrataTesting

/// A list before and after, and a canonical batch that does not always have the fewest moves.
struct ListPair {
  typealias Data = MockListData<Int, Int>
  typealias Changes = ListChanges<Int, Int>

  var old = Data()
  var new = Data()
  var changes = Changes()

  var oldSnapshot: DiffableSnapshot<Int, Int> { old.snapshot }
  var newSnapshot: DiffableSnapshot<Int, Int> { new.snapshot }

  init(old: Data, new: Data, _ random: inout SeededGenerator) {
    self.old = old
    self.new = new
    findChanges(&random)
  }

  /// At most 8 sections with at most 50 items each.
  init(_ random: inout SeededGenerator) {
    var editor = ListEditor(random: random.split())
    old = editor.data
    for _ in 0..<Int.random(in: 0...12, using: &random) { editor.edit() }
    new = editor.data
    findChanges(&random)
  }

  /// Data with the given sections and items, all of version 0.
  static func data(_ sections: [(id: Int, items: [Int])]) -> Data {
    Data(
      sections: sections.map { section in
        .init(id: section.id, version: 0, cells: section.items.map { .init(id: $0, version: 0) })
      })
  }

  // MARK: The batch

  private struct Place {
    var index: ListIndex
    var section: Int
    var version: Int
  }

  private static func places(_ data: Data) -> [Int: Place] {
    var places: [Int: Place] = [:]
    for (section, content) in data.sections.enumerated() {
      for (item, cell) in content.cells.enumerated() {
        places[cell.id] = Place(
          index: ListIndex(section: section, item: item), section: content.id, version: cell.version)
      }
    }
    return places
  }

  /// Which of the numbers stay. They are ascending. Sometimes one moves that could stay.
  private static func staying(_ numbers: [Int], _ random: inout SeededGenerator) -> Set<Int> {
    var last = -1
    var staying: Set<Int> = []
    for number in numbers where number > last && Int.random(in: 0..<12, using: &random) > 0 {
      staying.insert(number)
      last = number
    }
    return staying
  }

  private mutating func findChanges(_ random: inout SeededGenerator) {
    let oldPlaces = Self.places(old)
    let newPlaces = Self.places(new)
    let oldSections = Dictionary(uniqueKeysWithValues: old.sections.enumerated().map { ($1.id, $0) })
    let newSections = Dictionary(uniqueKeysWithValues: new.sections.enumerated().map { ($1.id, $0) })

    for (place, section) in old.sections.enumerated().reversed() where newSections[section.id] == nil {
      changes.sectionDeletions.append(.init(section: section.id, from: place))
    }
    let stayingSections = Self.staying(new.sections.compactMap { oldSections[$0.id] }, &random)
    for (place, section) in new.sections.enumerated() {
      guard let from = oldSections[section.id] else {
        changes.sectionInsertions.append(.init(section: section.id, to: place, count: section.cells.count))
        continue
      }
      if !stayingSections.contains(from) {
        changes.sectionMoves.append(.init(section: section.id, from: from, to: place))
      }
      let isReload = Int.random(in: 0..<20, using: &random) == 0
      if old.sections[from].version != section.version || isReload {
        changes.sectionUpdates.append(
          .init(section: section.id, from: from, to: place, count: section.cells.count, isReload: isReload))
      }
    }
    for (id, place) in oldPlaces where newPlaces[id] == nil {
      changes.deletions.append(.init(id: id, from: place.index))
    }
    changes.deletions.sort { $0.from > $1.from }
    for (place, section) in new.sections.enumerated() {
      let stayed = section.cells.compactMap { cell in
        oldPlaces[cell.id].flatMap { $0.section == section.id ? $0.index.item : nil }
      }
      let staying = Self.staying(stayed, &random)
      for (item, cell) in section.cells.enumerated() {
        let to = ListIndex(section: place, item: item)
        guard let from = oldPlaces[cell.id] else {
          changes.insertions.append(.init(id: cell.id, to: to))
          continue
        }
        let isChanged = from.version != cell.version
        let isReload = Int.random(in: 0..<(isChanged ? 3 : 30), using: &random) == 0
        if from.section == section.id, staying.contains(from.index.item) {
          guard isChanged || isReload else { continue }
          changes.updates.append(.init(id: cell.id, from: from.index, to: to, isReload: isReload))
        } else {
          changes.moves.append(
            .init(id: cell.id, from: from.index, to: to, isChanged: isChanged, isReload: isReload))
        }
      }
    }
  }
}

extension MockListData {
  var snapshot: DiffableSnapshot<ItemID, SectionID> {
    DiffableSnapshot(unchecked: sections.map { .init(id: $0.id, items: $0.cells.map(\.id)) })
  }
}

/// Changes a list at random.
private struct ListEditor {
  var data = ListPair.Data()
  private var random: SeededGenerator
  private var nextID = 0

  init(random: SeededGenerator) {
    self.random = random
    let isLarge = Int.random(in: 0..<20, using: &self.random) == 0
    for _ in 0..<Int.random(in: 0...8, using: &self.random) {
      var section = newSection()
      for _ in 0..<Int.random(in: 0...(isLarge ? 50 : 6), using: &self.random) {
        section.cells.append(newCell())
      }
      data.sections.append(section)
    }
  }

  private mutating func newID() -> Int {
    nextID += 1
    return nextID
  }

  private mutating func newCell() -> ListPair.Data.Cell { .init(id: newID(), version: 0) }
  private mutating func newSection() -> ListPair.Data.Section { .init(id: newID(), version: 0, cells: []) }

  private mutating func place(_ count: Int) -> Int? { (0..<count).randomElement(using: &random) }

  private mutating func put(_ cell: ListPair.Data.Cell) {
    guard let section = place(data.sections.count) else { return }
    let end = data.sections[section].cells.count
    data.sections[section].cells.insert(cell, at: Int.random(in: 0...end, using: &random))
  }

  private mutating func take() -> ListPair.Data.Cell? {
    guard let section = place(data.sections.count), let item = place(data.sections[section].cells.count)
    else {
      return nil
    }
    return data.sections[section].cells.remove(at: item)
  }

  mutating func edit() {
    let end = data.sections.count
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      guard let section = place(end) else { return }
      // Some of its items are deleted with it, some move to other sections.
      for cell in data.sections.remove(at: section).cells where Bool.random(using: &random) { put(cell) }
    case 1:
      guard end < 8 else { return }
      var section = newSection()
      for _ in 0..<3 {
        if Bool.random(using: &random) { section.cells.append(newCell()) }
        if Bool.random(using: &random), let cell = take() { section.cells.append(cell) }
      }
      data.sections.insert(section, at: Int.random(in: 0...end, using: &random))
    case 2, 3:
      guard let from = place(end) else { return }
      let section = data.sections.remove(at: from)
      data.sections.insert(section, at: Int.random(in: 0..<end, using: &random))
    case 4, 5: if let cell = take() { put(cell) }
    case 6: put(newCell())
    case 7: _ = take()
    case 8:
      guard let section = place(end), let item = place(data.sections[section].cells.count) else { return }
      data.sections[section].cells[item].version += 1
    default:
      guard let section = place(end) else { return }
      data.sections[section].version += 1
    }
  }
}
