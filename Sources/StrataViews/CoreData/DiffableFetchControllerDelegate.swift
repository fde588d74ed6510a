// Who is told what changed in a diffable fetch controller's list, and what it is told.

public import StrataEvents
public import StrataLists

/// Is told what changed.
///
/// Its methods may be isolated to an actor, the main actor for example, or to none: then they run where the
/// controller's `processingQueue` says. The next change is told when the method has returned.
public protocol DiffableFetchControllerDelegate<Item, Section>: AnyObject, Sendable {
  associatedtype Item: Identifiable & Sendable where Item.ID: DocumentID
  associatedtype Section: Hashable & Sendable

  /// The list changed; `controller.currentSnapshot` is the new one already.
  nonisolated(nonsending) func didChangeContent(
    _ change: DiffableFetchChange<Item, Section>, controller: DiffableFetchController<Item, Section>) async

  /// The list cannot follow the store any more. What is current stays; `performFetch` tries again.
  nonisolated(nonsending) func didFail(
    with error: ListError, controller: DiffableFetchController<Item, Section>) async
}

extension DiffableFetchControllerDelegate {
  public nonisolated(nonsending) func didFail(
    with error: ListError, controller: DiffableFetchController<Item, Section>
  ) async {}
}

/// What changed between two lists that a delegate is told of.
public struct DiffableFetchChange<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  /// The items of both lists whose rows changed, moved or not, by their place in the new list.
  public let updates: [Item.ID]
  /// The items that only the new list shows, by their place in it.
  public let inserts: [Item.ID]
  /// The items that only the old list shows, by their place in it.
  public let deletes: [Item.ID]
  /// The items whose section or place among their neighbours changed, by their place in the new list.
  public let moves: [Item.ID]
  /// The new list; nil where its sections and items are those of the old one, in the same order, and what
  /// changed are rows or counts alone.
  public let snapshot: ListSnapshot<Item, Section>?
  /// The whole of it: the lists before and after, the reason, and the changes with their places.
  public let update: ListUpdate<Item, Section>

  /// Applied to the old list they give the new one.
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
