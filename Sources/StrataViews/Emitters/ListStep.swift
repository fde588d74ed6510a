// The canonical batch as a sequence of steps, each applied before the next.

public import StrataLists

/// One step of a change. Its indices are those in the list as the previous steps left it.
public enum ListStep<ItemID: Hashable & Sendable, Section: Hashable & Sendable>: Hashable, Sendable {
  case removeItem(ItemID, at: ListIndex)
  /// The section's items were removed by earlier steps.
  case removeSection(Section, at: Int)
  /// The section is inserted empty; later steps insert its items.
  case insertSection(Section, at: Int)
  case insertItem(ItemID, at: ListIndex)
  /// `to` is an index in the list without the moved section.
  case moveSection(Section, from: Int, to: Int)
  /// `to` is an index in the list without the moved item.
  case moveItem(ItemID, from: ListIndex, to: ListIndex, isChanged: Bool)
  case updateItem(ItemID, at: ListIndex)
  /// The section's number of items changed, or the section has to be reloaded.
  case updateSection(Section, at: Int)
}

extension ListChanges {
  /// The changes as steps for lists that change one step at a time: `NSOutlineView`, `NSTableView`, terminals.
  ///
  /// All removals come first, items before sections, each from last to first. Then come all insertions, sections before
  /// items, each from first to last. Changes of what stays come at the end: moves of sections, moves of items, updates
  /// of items, updates of sections. So an item that moves out of a removed section is removed and inserted.
  ///
  /// - Complexity: O(k log k) for k changes, however long the list is.
  public var steps: [ListStep<ItemID, Section>] {
    var stepper = ListStepper(self)
    stepper.remove()
    stepper.insert()
    stepper.move()
    stepper.update()
    return stepper.steps
  }
}

/// Finds the steps.
private struct ListStepper<ItemID: Hashable & Sendable, Section: Hashable & Sendable> {
  typealias Changes = ListChanges<ItemID, Section>

  var steps: [ListStep<ItemID, Section>] = []
  private let changes: Changes
  private var removals: [(id: ItemID, from: ListIndex)]
  private var insertions: [(id: ItemID, to: ListIndex)]
  private var moves: [Changes.Move] = []
  private var changedInPlace: [(id: ItemID, at: ListIndex)]
  private var sections: StepPlan
  /// By their index in the new list: the sections whose items are inserted, removed or moved.
  private var items: [Int: StepPlan] = [:]

  init(_ changes: Changes) {
    self.changes = changes
    removals = changes.deletions.map { ($0.id, $0.from) }
    insertions = changes.insertions.map { ($0.id, $0.to) }
    changedInPlace = changes.updates.map { ($0.id, $0.to) }
    let removed = Set(changes.sectionDeletions.map { $0.from })
    for move in changes.moves {
      if removed.contains(move.from.section) {
        removals.append((move.id, move.from))
        insertions.append((move.id, move.to))
      } else {
        moves.append(move)
      }
    }
    removals.sort { $0.from > $1.from }
    insertions.sort { $0.to < $1.to }
    sections = StepPlan(
      removed: changes.sectionDeletions.map { $0.from }, leaving: changes.sectionMoves.map { $0.from },
      inserted: changes.sectionInsertions.map { $0.to }, arriving: changes.sectionMoves.map { $0.to })
    planItems(removed)
  }

  /// Old index → new index of the sections that move.
  private var sectionMoves: [Int: Int] {
    Dictionary(uniqueKeysWithValues: changes.sectionMoves.map { ($0.from, $0.to) })
  }

  private mutating func planItems(_ removed: Set<Int>) {
    let sectionMoves = sectionMoves
    func newPosition(_ old: Int) -> Int { sectionMoves[old] ?? sections.newPosition(ofStaying: old) }
    var parts: [Int: (removed: [Int], leaving: [Int], inserted: [Int], arriving: [Int])] = [:]
    let none: (removed: [Int], leaving: [Int], inserted: [Int], arriving: [Int]) = ([], [], [], [])
    for removal in removals where !removed.contains(removal.from.section) {
      parts[newPosition(removal.from.section), default: none].removed.append(removal.from.item)
    }
    for insertion in insertions {
      parts[insertion.to.section, default: none].inserted.append(insertion.to.item)
    }
    for (index, move) in moves.enumerated() {
      let from = newPosition(move.from.section)
      parts[from, default: none].leaving.append(move.from.item)
      parts[move.to.section, default: none].arriving.append(move.to.item)
      // From here on, `from.section` is an index in the new list: items move after the sections did.
      moves[index].from.section = from
    }
    items = parts.mapValues {
      StepPlan(removed: $0.removed, leaving: $0.leaving, inserted: $0.inserted, arriving: $0.arriving)
    }
  }

  mutating func remove() {
    for removal in removals { steps.append(.removeItem(removal.id, at: removal.from)) }
    for change in changes.sectionDeletions { steps.append(.removeSection(change.section, at: change.from)) }
  }

  mutating func insert() {
    var current: [Int: Int] = [:]
    for change in changes.sectionInsertions {
      let position = sections.positionOfInsertion(at: change.to)
      current[change.to] = position
      steps.append(.insertSection(change.section, at: position))
    }
    for move in changes.sectionMoves { current[move.to] = sections.positionBeforeMoves(ofLeaving: move.from) }
    for (id, to) in insertions {
      let section = current[to.section] ?? sections.positionBeforeMoves(ofStaying: to.section)
      let item = items[to.section]?.positionOfInsertion(at: to.item) ?? to.item
      steps.append(.insertItem(id, at: ListIndex(section: section, item: item)))
    }
  }

  mutating func move() {
    for move in changes.sectionMoves {
      let from = sections.take(move.from)
      let to = sections.put(move.to)
      if from != to { steps.append(.moveSection(move.section, from: from, to: to)) }
    }
    for move in moves {
      let from = items[move.from.section]?.take(move.from.item) ?? move.from.item
      let to = items[move.to.section]?.put(move.to.item) ?? move.to.item
      if move.from.section != move.to.section || from != to {
        steps.append(
          .moveItem(
            move.id, from: ListIndex(section: move.from.section, item: from),
            to: ListIndex(section: move.to.section, item: to), isChanged: move.isChanged || move.isReload))
      } else if move.isChanged || move.isReload {
        // Earlier moves have already brought the item to its new index.
        changedInPlace.append((move.id, move.to))
      }
    }
  }

  mutating func update() {
    for (id, position) in changedInPlace.sorted(by: { $0.at < $1.at }) {
      steps.append(.updateItem(id, at: position))
    }
    for change in changes.sectionUpdates { steps.append(.updateSection(change.section, at: change.to)) }
  }
}
