// The canonical batch in at most five stages, each a batch update of its own.

public import StrataLists

/// One stage: a batch update, and the data that it leads to.
public struct ListStage<Section: Hashable & Sendable, ItemID: Hashable & Sendable>: Sendable {
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// Cells of items that stay in view are given their new content, at their old places.
    case updates
    /// Sections and items are taken out.
    case deletions
    /// Sections are put in, whole, and moved.
    case sections
    /// Items are put in and moved.
    case insertions
    /// Headers are given their new content, and sections are built anew.
    case sectionUpdates
  }

  public var kind: Kind
  public var batch: ListBatch
  /// All of the list after this stage. Sections that the stage does not touch share their memory with those of
  /// the stage before.
  public var data: DiffableSnapshot<Section, ItemID>
}

extension ListChanges {
  /// The changes as at most five stages, of which each is a batch update that UIKit accepts from the data of the
  /// one before; the data of the last one is `new`. Stages without operations are left out.
  ///
  /// No section is rebuilt because it moves while its items change, as in a single batch; the price is five
  /// animations after each other.
  ///
  /// - An inserted section comes with all its items, and a deleted one goes with all of its. An item that moves
  ///   from a section that stays into an inserted one is deleted, from a deleted one into one that stays
  ///   inserted.
  /// - A moved item whose row changed is updated at its old place, and moves after that.
  /// - Rows of items that the new list lacks are asked for until the second stage is over: look them up in the
  ///   old list.
  ///
  /// `self` must be the changes from `old` to `new`, as `apply(_:)` makes it of a copy of `old`.
  ///
  /// - Parameter style: how cells are shown again whose rows changed.
  /// - Complexity: O(k log k + sections + items of the sections that items are taken out of) for k changes.
  public func staged(
    from old: DiffableSnapshot<Section, ItemID>, to new: DiffableSnapshot<Section, ItemID>,
    _ style: ListContentStyle = .reconfigure
  ) -> [ListStage<Section, ItemID>] {
    var stager = ListStager(changes: self, old: old, new: new)
    stager.update(style)
    stager.delete()
    stager.placeSections()
    stager.insert()
    stager.updateSections()
    return stager.stages
  }
}

/// Makes the stages one after the other.
private struct ListStager<Section: Hashable & Sendable, ItemID: Hashable & Sendable> {
  typealias Content = DiffableSnapshot<Section, ItemID>.Content

  let changes: ListChanges<ItemID, Section>
  let new: DiffableSnapshot<Section, ItemID>
  let newSections: [Content]
  var stages: [ListStage<Section, ItemID>] = []
  private var data: DiffableSnapshot<Section, ItemID>
  /// The sections of the old list as the deletions leave them, at their old places.
  private var sections: [Content]
  private let dying: Set<Int>
  private let born: Set<Int>
  /// By old section, ascending: the places of items that are taken out.
  private var takenOut: [Int: [Int]] = [:]
  /// Where the sections of the old list are in the new one.
  private var newPlaces: [Int]

  init(
    changes: ListChanges<ItemID, Section>, old: DiffableSnapshot<Section, ItemID>,
    new: DiffableSnapshot<Section, ItemID>
  ) {
    self.changes = changes
    self.new = new
    newSections = new.sections
    data = old
    sections = old.sections
    dying = Set(changes.sectionDeletions.map { $0.from })
    born = Set(changes.sectionInsertions.map { $0.to })
    newPlaces = [Int](repeating: 0, count: sections.count)
  }

  private mutating func add(_ kind: ListStage<Section, ItemID>.Kind, _ batch: ListBatch) {
    guard !batch.isEmpty else { return }
    var batch = batch
    batch.sort()
    stages.append(ListStage(kind: kind, batch: batch, data: data))
  }

  private func staysInView(_ move: ListChanges<ItemID, Section>.Move) -> Bool {
    !dying.contains(move.from.section) && !born.contains(move.to.section)
  }

  mutating func update(_ style: ListContentStyle) {
    var batch = ListBatch()
    func add(_ place: ListIndex, isReload: Bool) {
      if isReload || style == .reload {
        batch.reloads.append(place)
      } else {
        batch.reconfigures.append(place)
      }
    }
    for update in changes.updates { add(update.from, isReload: update.isReload) }
    for move in changes.moves where (move.isChanged || move.isReload) && staysInView(move) {
      add(move.from, isReload: move.isReload)
    }
    self.add(.updates, batch)
  }

  mutating func delete() {
    var batch = ListBatch()
    batch.sectionDeletions = Array(dying)
    batch.deletions = changes.deletions.map { $0.from }.filter { !dying.contains($0.section) }
    for move in changes.moves where born.contains(move.to.section) && !dying.contains(move.from.section) {
      batch.deletions.append(move.from)
    }
    for place in batch.deletions { takenOut[place.section, default: []].append(place.item) }
    for (section, places) in takenOut {
      let places = places.sorted()
      takenOut[section] = places
      sections[section].items.remove(atSorted: places)
    }
    data = snapshot(sections.enumerated().filter { !dying.contains($0.offset) }.map { $0.element })
    add(.deletions, batch)
  }

  mutating func placeSections() {
    var batch = ListBatch()
    let deleted = dying.sorted()
    batch.sectionInsertions = Array(born)
    var arrivals: [Int: Int] = [:]
    var movers: Set<Int> = []
    for move in changes.sectionMoves {
      batch.sectionMoves.append(.init(from: move.from - deleted.countBelow(move.from), to: move.to))
      arrivals[move.to] = move.from
      movers.insert(move.from)
    }
    var staying = sections.indices.filter { !dying.contains($0) && !movers.contains($0) }.makeIterator()
    var placed: [Content] = []
    placed.reserveCapacity(newSections.count)
    for place in newSections.indices {
      if born.contains(place) {
        placed.append(newSections[place])
      } else {
        guard let from = arrivals[place] ?? staying.next() else {
          preconditionFailure("the changes are not those between the two lists")
        }
        newPlaces[from] = place
        placed.append(sections[from])
      }
    }
    if !batch.isEmpty { data = snapshot(placed) }
    add(.sections, batch)
  }

  mutating func insert() {
    var batch = ListBatch()
    batch.insertions = changes.insertions.map { $0.to }.filter { !born.contains($0.section) }
    for move in changes.moves where !born.contains(move.to.section) {
      if dying.contains(move.from.section) {
        batch.insertions.append(move.to)
      } else {
        let before = takenOut[move.from.section]?.countBelow(move.from.item) ?? 0
        let from = ListIndex(section: newPlaces[move.from.section], item: move.from.item - before)
        batch.moves.append(.init(from: from, to: move.to))
      }
    }
    if !batch.isEmpty { data = new }
    add(.insertions, batch)
  }

  mutating func updateSections() {
    var batch = ListBatch()
    for update in changes.sectionUpdates {
      if update.isReload {
        batch.sectionReloads.append(update.to)
      } else {
        batch.sectionUpdates.append(update.to)
      }
    }
    add(.sectionUpdates, batch)
  }

  private func snapshot(_ sections: [Content]) -> DiffableSnapshot<Section, ItemID> {
    var snapshot = DiffableSnapshot<Section, ItemID>()
    snapshot.sections = sections
    return snapshot
  }
}

extension DiffableSnapshot {
  /// How many items each section holds, in order. O(sections).
  package var itemCounts: [Int] { sections.map { $0.items.count } }
}
