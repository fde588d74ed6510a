// Which items an update put in, took out and changed, without their places.

extension ListUpdate {
  /// The items that only the new list shows; none in the first update.
  public var inserts: Set<Item.ID> { Set(changes.insertions.lazy.map { $0.id }) }

  /// The items that only the old list showed.
  public var deletes: Set<Item.ID> { Set(changes.deletions.lazy.map { $0.id }) }

  /// The items of both lists whose rows changed, moved or not.
  public var updates: Set<Item.ID> { Set(changes.changedItems) }
}
