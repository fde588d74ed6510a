// The canonical batch of a list without sections as the difference of two arrays.

public import StrataLists

extension ListChanges where Section == Unsectioned {
  /// The changes as the difference of two arrays of items.
  ///
  /// `old.itemIdentifiers.applying(changes.difference)` equals `new.itemIdentifiers`. An item that moves is a removal
  /// and an insertion that are associated with each other. Content is not compared.
  ///
  /// The program stops if an index of a list is named twice, which no batch between two lists does.
  ///
  /// - Complexity: O(k log k) for k changes.
  public var difference: CollectionDifference<ItemID> {
    var changes: [CollectionDifference<ItemID>.Change] = []
    func remove(_ id: ItemID, from: ListIndex, to: ListIndex? = nil) {
      assert(from.section == 0, "a list without sections has one section")
      changes.append(.remove(offset: from.item, element: id, associatedWith: to?.item))
    }
    func insert(_ id: ItemID, to: ListIndex, from: ListIndex? = nil) {
      assert(to.section == 0, "a list without sections has one section")
      changes.append(.insert(offset: to.item, element: id, associatedWith: from?.item))
    }
    for deletion in deletions { remove(deletion.id, from: deletion.from) }
    for insertion in insertions { insert(insertion.id, to: insertion.to) }
    for move in moves {
      remove(move.id, from: move.from, to: move.to)
      insert(move.id, to: move.to, from: move.from)
    }
    guard let difference = CollectionDifference(changes) else {
      preconditionFailure("an index is named twice; take the difference of the changes between two lists")
    }
    return difference
  }
}
