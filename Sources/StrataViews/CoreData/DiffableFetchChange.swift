// The difference between two lists that a delegate receives.

public import StrataEvents
public import StrataLists

/// What changed between the list that the delegate received last and the new one.
public struct DiffableFetchChange<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  /// The items of both lists whose rows changed, whether they moved or not, in the order of the new list.
  public let updates: [Item.ID]
  /// The items that only the new list shows, in its order.
  public let inserts: [Item.ID]
  /// The items that only the old list shows, in its order.
  public let deletes: [Item.ID]
  /// The items whose section changed, or whose order among their neighbours did, in the order of the new list.
  public let moves: [Item.ID]
  /// The new list; nil if it has the sections and items of the old one in the same order, so that only rows or counts
  /// changed.
  public let snapshot: ListSnapshot<Item, Section>?
  /// The whole update: the lists before and after, the reason, and the changes with their indices.
  public let update: ListUpdate<Item, Section>

  /// The changes with their indices. Applied to the old list they give the new one.
  public var changes: ListChanges<Item.ID, Section> { update.changes }

  init(_ update: ListUpdate<Item, Section>) {
    self.update = update
    updates = update.changes.changedItems
    inserts = update.changes.insertions.map(\.id)
    deletes = update.changes.deletions.reversed().map(\.id)
    moves = update.changes.moves.map(\.id)
    snapshot = update.changes.isStructural ? update.after : nil
  }
}

extension DiffableFetchChange {
  /// The new list as a snapshot of Apple's vocabulary, in which every item of `updates` is marked to be reconfigured.
  ///
  /// The list is always whole, also if `snapshot` is nil. O(n).
  ///
  /// - Throws: `identifiersCollide` if two ids or two sections are different in the list, by their bytes, and equal in
  ///   Swift, or if a section is not equal to itself, as NaN; `DiffableSnapshot.init(byteWise:)` never does.
  public func diffableSnapshot() throws(DiffableSnapshotError) -> DiffableSnapshot<Item.ID, Section> {
    var snapshot = try DiffableSnapshot(update.after)
    snapshot.reconfigureItems(updates)
    return snapshot
  }
}
