// Delegates of a list: notified change by change, or once per update.

public import StrataEvents
public import StrataLists

/// An object that is notified of the changes of a fetch controller's list.
///
/// A delegate conforms to one of two refinements: `ListChangesDelegate`, which is notified of every single change, or
/// `ListContentDelegate`, which receives the whole list. Each provides its own `receive(_:_:)`, so a type that conforms
/// to both does not compile unless it implements that method itself.
///
/// All methods are called where `FetchController.setDelegate` says, with one update at a time, and never inside a
/// write. Their first argument is the controller, so that one object can be the delegate of several lists.
///
/// The conforming type writes its methods without any mark, in either isolation mode:
///
/// ```swift
/// @MainActor final class Screen: ListContentDelegate {
///   private var shown: ListSnapshot<Incident, String>?
///   func didChange(
///     _ controller: FetchController<Incident, String>, _ content: ListSnapshot<Incident, String>,
///     _ update: ListUpdate<Incident, String>
///   ) {
///     shown = content
///   }
/// }
/// ```
///
/// - A class of the main actor, marked so or isolated by default: its methods run on the main actor.
/// - An actor: its methods run on that actor.
/// - A class without isolation: its methods run where the delegate was set to be called. If the class is not `Sendable`,
///   it can only be set on the main actor, and is called there.
///
/// A method may be `async`; the next update is delivered when it has returned. In a class of the main actor an `async`
/// method has to be marked `@MainActor`, because otherwise it takes its isolation from the protocol.
public protocol FetchControllerDelegate<Item, Section>: AnyObject {
  associatedtype Item: Identifiable & Sendable where Item.ID: DocumentID
  associatedtype Section: Hashable & Sendable

  /// One step of the list. The first is `.initial`, and each later one begins where the previous one ended.
  nonisolated(nonsending) func receive(
    _ controller: FetchController<Item, Section>, _ update: ListUpdate<Item, Section>) async

  /// The list cannot continue, or the request was rejected. What was delivered before stays valid.
  nonisolated(nonsending) func didFail(
    _ controller: FetchController<Item, Section>, with error: ListError) async
}

extension FetchControllerDelegate {
  public nonisolated(nonsending) func didFail(
    _ controller: FetchController<Item, Section>, with error: ListError
  ) async {}
}

/// A delegate that is notified of every change: `willChange`, all section changes, all item changes, `didChange`.
///
/// The changes are the canonical batch, `ListUpdate.changes`: insertions, deletions, moves and updates. Items that only
/// shifted are not reported, and a moved item whose row changed is reported once, as a move. For a view with its own
/// rules, use `changes.batch()` or `changes.staged(from:)` in `didChange` instead.
///
/// The calls of one update follow each other without a suspension if the methods are not `async` and the delegate is
/// called where it is isolated: nothing else runs on the main actor between `willChange` and `didChange` of a screen.
/// If one of them removes or replaces the delegate, or cancels the list, none follows, not even `didChange`.
public protocol ListChangesDelegate<Item, Section>: FetchControllerDelegate {
  // Named again so that the types are inferred from the methods below.
  associatedtype Item
  associatedtype Section

  /// The current list, to be shown as a whole. Called alone, for an update without `before`, such as the first one.
  nonisolated(nonsending) func didLoad(
    _ controller: FetchController<Item, Section>, _ update: ListUpdate<Item, Section>) async

  /// Called before the changes of an update.
  nonisolated(nonsending) func willChange(
    _ controller: FetchController<Item, Section>, _ update: ListUpdate<Item, Section>) async

  /// A section was inserted, deleted or moved, or its number of items changed.
  nonisolated(nonsending) func didChangeSection(
    _ controller: FetchController<Item, Section>, _ section: Section, _ change: ListSectionChange) async

  /// An item was inserted, deleted or moved, or its row changed.
  nonisolated(nonsending) func didChangeItem(
    _ controller: FetchController<Item, Section>, _ id: Item.ID, _ change: ListItemChange) async

  /// Called after the changes of an update.
  nonisolated(nonsending) func didChange(
    _ controller: FetchController<Item, Section>, _ update: ListUpdate<Item, Section>) async
}

extension ListChangesDelegate {
  public nonisolated(nonsending) func willChange(
    _ controller: FetchController<Item, Section>, _ update: ListUpdate<Item, Section>
  ) async {}

  public nonisolated(nonsending) func didChangeSection(
    _ controller: FetchController<Item, Section>, _ section: Section, _ change: ListSectionChange
  ) async {}

  public nonisolated(nonsending) func didChangeItem(
    _ controller: FetchController<Item, Section>, _ id: Item.ID, _ change: ListItemChange
  ) async {}

  public nonisolated(nonsending) func didChange(
    _ controller: FetchController<Item, Section>, _ update: ListUpdate<Item, Section>
  ) async {}

  /// Delivers an update change by change. O(changes), in time and memory.
  public nonisolated(nonsending) func receive(
    _ controller: FetchController<Item, Section>, _ update: ListUpdate<Item, Section>
  ) async {
    guard update.before != nil else { return await didLoad(controller, update) }
    var sections: [(Section, ListSectionChange)] = []
    var items: [(Item.ID, ListItemChange)] = []
    update.changes.forEachSectionChange { sections.append(($0, $1)) }
    update.changes.forEachItemChange { items.append(($0, $1)) }
    // Each call may end the delivery that it belongs to.
    let delivery = controller.delivery
    await willChange(controller, update)
    for (section, change) in sections where controller.delivery === delivery {
      await didChangeSection(controller, section, change)
    }
    for (id, change) in items where controller.delivery === delivery {
      await didChangeItem(controller, id, change)
    }
    if controller.delivery === delivery { await didChange(controller, update) }
  }
}

/// A delegate that receives the whole list after every update.
public protocol ListContentDelegate<Item, Section>: FetchControllerDelegate {
  associatedtype Item
  associatedtype Section

  /// Called after every update. `update` holds the reason, the previous list and the changes. An item that changed
  /// without moving is not in the difference of the identifiers, but in `update.changes.changedItems`.
  nonisolated(nonsending) func didChange(
    _ controller: FetchController<Item, Section>, _ content: ListSnapshot<Item, Section>,
    _ update: ListUpdate<Item, Section>) async
}

extension ListContentDelegate {
  /// Delivers an update as the list after it.
  public nonisolated(nonsending) func receive(
    _ controller: FetchController<Item, Section>, _ update: ListUpdate<Item, Section>
  ) async {
    await didChange(controller, update.after, update)
  }
}
