// The canonical batch in at most five stages, each a batch update of its own.

public import StrataLists

/// One stage of a change: a batch update, and the data after it.
@frozen
public struct ListStage<ItemID: Hashable & Sendable, Section: Hashable & Sendable>: Hashable, Sendable {
  public enum Kind: Int, Hashable, Sendable, CaseIterable {
    /// Cells of items that stay in view are given their new content, at their old positions.
    case updates
    /// Sections and items are removed.
    case deletions
    /// Sections are inserted with all their items, and moved.
    case sections
    /// Items are inserted and moved.
    case insertions
    /// Headers are updated and sections reloaded, when there is no other change.
    case sectionUpdates
  }

  public var kind: Kind
  public var batch: ListBatch
  /// The whole list after this stage. Sections that the stage does not change share their memory with those of the
  /// previous stage.
  public var data: DiffableSnapshot<ItemID, Section>

  @inlinable
  public init(kind: Kind, batch: ListBatch, data: DiffableSnapshot<ItemID, Section>) {
    self.kind = kind
    self.batch = batch
    self.data = data
  }
}

extension ListChanges {
  /// The changes as at most five stages, each a batch update that UIKit accepts.
  ///
  /// Each stage starts from the data of the previous one, the first from `old`; the data of the last stage are `old`
  /// with the changes applied. Stages without operations are left out.
  ///
  /// Unlike in a single batch, a section that moves while its items change is not rebuilt; the price is up to five
  /// animations in a row.
  ///
  /// - A section is inserted or deleted together with all its items. An item that moves from a section that stays into
  ///   an inserted one is deleted; an item that moves from a deleted section into one that stays is inserted.
  /// - A moved item whose row changed is updated at its old position, and moves in a later stage.
  /// - Headers are updated with the last stage, and in a stage of their own only if nothing else changes.
  /// - Until the deletions are done, the view requests rows of items that the new list lacks: look them up in the old
  ///   list.
  ///
  /// O(k log k) for k changes, and the cost of ``DiffableSnapshot/apply(_:)``.
  ///
  /// - Parameter style: how the cells of changed rows are updated.
  /// - Throws: `changesDoNotFit` if they are not changes of `old`.
  @inlinable
  public func staged(
    from old: DiffableSnapshot<ItemID, Section>, _ style: ListContentStyle = .reconfigure
  ) throws(DiffableSnapshotError) -> [ListStage<ItemID, Section>] {
    var new = old
    try new.apply(self)
    var stager = ListStager(changes: self, old: old, new: new)
    stager.update(style)
    stager.delete()
    stager.placeSections()
    stager.insert()
    stager.updateSections()
    if let last = stager.stages.indices.last {
      assert(stager.stages[last].data == new, "the stages make the new list")
      // It knows the positions of its items.
      stager.stages[last].data = new
    }
    return stager.stages
  }
}

/// Builds the stages one after the other.
@usableFromInline @frozen
struct ListStager<ItemID: Hashable & Sendable, Section: Hashable & Sendable> {
  @usableFromInline typealias Content = DiffableSnapshot<ItemID, Section>.Content

  @usableFromInline let changes: ListChanges<ItemID, Section>
  @usableFromInline let new: DiffableSnapshot<ItemID, Section>
  @usableFromInline let newSections: [Content]
  @usableFromInline var stages: [ListStage<ItemID, Section>] = []
  @usableFromInline var data: DiffableSnapshot<ItemID, Section>
  /// The sections of the old list as the deletions leave them, at their old indices.
  @usableFromInline var sections: [Content]
  /// The old indices of deleted sections.
  @usableFromInline let dying: Set<Int>
  /// The new indices of inserted sections.
  @usableFromInline let born: Set<Int>
  /// By old section: the indices of the items that are deleted from it, ascending.
  @usableFromInline var removed: [Int: [Int]] = [:]
  /// The new index of each section of the old list that stays.
  @usableFromInline var newPositions: [Int]

  @inlinable
  init(
    changes: ListChanges<ItemID, Section>, old: DiffableSnapshot<ItemID, Section>,
    new: DiffableSnapshot<ItemID, Section>
  ) {
    self.changes = changes
    self.new = new
    newSections = new.sections
    data = old
    sections = old.sections
    dying = Set(changes.sectionDeletions.map { $0.from })
    born = Set(changes.sectionInsertions.map { $0.to })
    newPositions = [Int](repeating: 0, count: sections.count)
  }

  @inlinable
  mutating func add(_ kind: ListStage<ItemID, Section>.Kind, _ batch: ListBatch) {
    guard !batch.isEmpty else { return }
    var batch = batch
    batch.sort()
    stages.append(ListStage(kind: kind, batch: batch, data: data))
  }

  @inlinable
  func staysInView(_ move: ListChanges<ItemID, Section>.Move) -> Bool {
    !dying.contains(move.from.section) && !born.contains(move.to.section)
  }

  @inlinable
  mutating func update(_ style: ListContentStyle) {
    var batch = ListBatch()
    func add(_ position: ListIndex, isReload: Bool) {
      if isReload || style == .reload {
        batch.reloads.append(position)
      } else {
        batch.reconfigures.append(position)
      }
    }
    for update in changes.updates { add(update.from, isReload: update.isReload) }
    for move in changes.moves where (move.isChanged || move.isReload) && staysInView(move) {
      add(move.from, isReload: move.isReload)
    }
    self.add(.updates, batch)
  }

  @inlinable
  mutating func delete() {
    var batch = ListBatch()
    batch.sectionDeletions = Array(dying)
    batch.deletions = changes.deletions.map { $0.from }.filter { !dying.contains($0.section) }
    for move in changes.moves where born.contains(move.to.section) && !dying.contains(move.from.section) {
      batch.deletions.append(move.from)
    }
    for position in batch.deletions { removed[position.section, default: []].append(position.item) }
    for (section, positions) in removed {
      let positions = positions.sorted()
      removed[section] = positions
      sections[section].items.remove(atSorted: positions)
    }
    data = snapshot(sections.enumerated().filter { !dying.contains($0.offset) }.map { $0.element })
    add(.deletions, batch)
  }

  @inlinable
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
    for position in newSections.indices {
      if born.contains(position) {
        placed.append(newSections[position])
      } else {
        guard let from = arrivals[position] ?? staying.next() else {
          preconditionFailure("every section of the new list is inserted, or one of the old list")
        }
        newPositions[from] = position
        placed.append(sections[from])
      }
    }
    assert(staying.next() == nil, "every section of the old list that is not deleted is in the new one")
    if !batch.isEmpty { data = snapshot(placed) }
    add(.sections, batch)
  }

  @inlinable
  mutating func insert() {
    var batch = ListBatch()
    batch.insertions = changes.insertions.map { $0.to }.filter { !born.contains($0.section) }
    for move in changes.moves where !born.contains(move.to.section) {
      if dying.contains(move.from.section) {
        batch.insertions.append(move.to)
      } else {
        let before = removed[move.from.section]?.countBelow(move.from.item) ?? 0
        let from = ListIndex(section: newPositions[move.from.section], item: move.from.item - before)
        batch.moves.append(.init(from: from, to: move.to))
      }
    }
    if !batch.isEmpty { data = new }
    add(.insertions, batch)
  }

  @inlinable
  mutating func updateSections() {
    var batch = ListBatch()
    for update in changes.sectionUpdates {
      if update.isReload {
        batch.sectionReloads.append(update.to)
      } else {
        batch.sectionUpdates.append(update.to)
      }
    }
    guard !batch.isEmpty else { return }
    // Part of the last stage, whose data is the new list: headers do not need an animation of their own.
    if let last = stages.indices.last {
      batch.sort()
      stages[last].batch.sectionUpdates = batch.sectionUpdates
      stages[last].batch.sectionReloads = batch.sectionReloads
    } else {
      add(.sectionUpdates, batch)
    }
  }

  @inlinable
  func snapshot(_ sections: [Content]) -> DiffableSnapshot<ItemID, Section> {
    DiffableSnapshot(unchecked: sections)
  }
}

extension DiffableSnapshot {
  /// The number of items of each section, in order. O(sections).
  package var itemCounts: [Int] { sections.map { $0.items.count } }
}
