// The canonical batch as the difference of two arrays.

public import StrataLists

extension ListChanges {
  /// The changes as the difference of two arrays of items, without the sections.
  ///
  /// `old.itemIdentifiers.applying(difference)` equals `new.itemIdentifiers`. An item that moves is a removal and an
  /// insertion that are associated with each other, even if it moves only because its section does. Content is not
  /// compared.
  ///
  /// The changes must be those from `old` to `new`; the program stops if they do not fit.
  ///
  /// - Complexity: O(k log k + sections) for k changes, where each item of a moved section counts as a change.
  @inlinable
  public func difference(
    from old: DiffableSnapshot<ItemID, Section>, to new: DiffableSnapshot<ItemID, Section>
  ) -> CollectionDifference<ItemID> {
    requireFit(from: old, to: new)
    let (oldSections, newSections) = (old.sections, new.sections)
    let oldStarts = Self.starts(of: oldSections)
    let newStarts = Self.starts(of: newSections)
    func offset(_ from: ListIndex) -> Int { oldStarts[from.section] + from.item }
    func newOffset(_ to: ListIndex) -> Int { newStarts[to.section] + to.item }

    var changes: [CollectionDifference<ItemID>.Change] = []
    func addMove(_ id: ItemID, _ from: Int, _ to: Int) {
      changes.append(.remove(offset: from, element: id, associatedWith: to))
      changes.append(.insert(offset: to, element: id, associatedWith: from))
    }
    for change in deletions {
      changes.append(.remove(offset: offset(change.from), element: change.id, associatedWith: nil))
    }
    for change in insertions {
      changes.append(.insert(offset: newOffset(change.to), element: change.id, associatedWith: nil))
    }
    for move in moves { addMove(move.id, offset(move.from), newOffset(move.to)) }

    // Items that stay in a moved section move with it. They keep their order, so the n-th of them in the old list is
    // the n-th of them in the new one.
    let hasMoved = !sectionMoves.isEmpty
    let leaving = hasMoved ? deletions.map { $0.from } + moves.map { $0.from } : []
    let arriving = hasMoved ? insertions.map { $0.to } + moves.map { $0.to } : []
    let movedOld = Dictionary(grouping: leaving) { $0.section }
    let movedNew = Dictionary(grouping: arriving) { $0.section }
    for move in sectionMoves {
      let gone = Set(movedOld[move.from]?.lazy.map { $0.item } ?? [])
      let came = Set(movedNew[move.to]?.lazy.map { $0.item } ?? [])
      let items = oldSections[move.from].items
      let from = items.indices.lazy.filter { !gone.contains($0) }
      let to = newSections[move.to].items.indices.lazy.filter { !came.contains($0) }
      for (old, new) in zip(from, to) {
        addMove(items[old], oldStarts[move.from] + old, newStarts[move.to] + new)
      }
    }
    guard let difference = CollectionDifference(changes) else {
      preconditionFailure("pass the two lists that the changes are from and to")
    }
    return difference
  }

  /// The offset of each section's first item among all items.
  @inlinable
  static func starts(of sections: [DiffableSnapshot<ItemID, Section>.Content]) -> [Int] {
    var starts: [Int] = []
    starts.reserveCapacity(sections.count)
    var start = 0
    for section in sections {
      starts.append(start)
      start += section.items.count
    }
    return starts
  }
}
