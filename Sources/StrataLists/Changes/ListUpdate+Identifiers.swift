// The items that an update inserted, deleted and changed, without their indexes.

extension ListUpdate {
  /// The items that only the new list shows; empty in the first update.
  public var inserts: Set<Item.ID> { Set(changes.insertions.lazy.map { $0.id }) }

  /// The items that only the old list shows.
  public var deletes: Set<Item.ID> { Set(changes.deletions.lazy.map { $0.id }) }

  /// The items of both lists whose rows changed, moved or not.
  public var updates: Set<Item.ID> { Set(changes.changedItems) }
}
