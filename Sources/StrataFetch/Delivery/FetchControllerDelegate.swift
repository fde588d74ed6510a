// Delegates of a list: notified change by change, or once per update.

public import StrataEvents
public import StrataLists

/// An object that is notified of the changes of a fetch controller's list.
///
/// A delegate conforms to one of two refinements: `ListChangesDelegate`, which is notified of every single change, or
/// `ListContentDelegate`, which receives the whole list. Each provides its own `receive(_:)`, so a type that conforms
/// to both does not compile unless it implements that method itself.
///
/// All methods are called on the executor that was passed with the delegate, with one update at a time, and never
/// inside a write. They are synchronous and not isolated; a type of the main actor conforms with an isolated
/// conformance:
/// `extension ListScreen: @MainActor ListChangesDelegate`.
public protocol FetchControllerDelegate<Item, Section>: AnyObject {
  associatedtype Item: Identifiable & Sendable where Item.ID: DocumentID
  associatedtype Section: Hashable & Sendable

  /// One step of the list. The first is `.initial`, and each later one begins where the previous one ended.
  func receive(_ update: ListUpdate<Item, Section>)

  /// The list cannot continue, or the request was rejected. What was delivered before stays valid.
  func didFail(with error: ListError)
}

extension FetchControllerDelegate {
  public func didFail(with error: ListError) {}
}

/// A delegate that is notified of every change: `willChange`, all section changes, all item changes, `didChange`.
///
/// The changes are the canonical batch, `ListUpdate.changes`: insertions, deletions, moves and updates. Items that only
/// shifted are not reported, and a moved item whose row changed is reported once, as a move. For a view with its own
/// rules, use `changes.batch()` or `changes.staged(from:to:)` in `didChange` instead.
public protocol ListChangesDelegate<Item, Section>: FetchControllerDelegate {
  // Named again so that the types are inferred from the methods below.
  associatedtype Item
  associatedtype Section

  /// The current list, to be shown as a whole. Called alone, for an update without `before`, such as the first one.
  func didLoad(_ update: ListUpdate<Item, Section>)

  /// Called before the changes of an update.
  func willChange(_ update: ListUpdate<Item, Section>)

  /// A section was inserted, deleted or moved, or its number of items changed.
  func didChangeSection(_ section: Section, _ change: ListSectionChange)

  /// An item was inserted, deleted or moved, or its row changed.
  func didChangeItem(_ id: Item.ID, _ change: ListItemChange)

  /// Called after the changes of an update.
  func didChange(_ update: ListUpdate<Item, Section>)
}

extension ListChangesDelegate {
  public func willChange(_ update: ListUpdate<Item, Section>) {}
  public func didChangeSection(_ section: Section, _ change: ListSectionChange) {}
  public func didChangeItem(_ id: Item.ID, _ change: ListItemChange) {}
  public func didChange(_ update: ListUpdate<Item, Section>) {}

  /// Delivers an update change by change.
  public func receive(_ update: ListUpdate<Item, Section>) {
    guard update.before != nil else { return didLoad(update) }
    willChange(update)
    update.changes.forEachSectionChange { didChangeSection($0, $1) }
    update.changes.forEachItemChange { didChangeItem($0, $1) }
    didChange(update)
  }
}

/// A delegate that receives the whole list after every update.
public protocol ListContentDelegate<Item, Section>: FetchControllerDelegate {
  associatedtype Item
  associatedtype Section

  /// Called after every update. `update` holds the reason, the previous list and the changes. An item that changed
  /// without moving is not in the difference of the identifiers, but in `update.changes.changedItems`.
  func didChange(_ content: ListSnapshot<Item, Section>, _ update: ListUpdate<Item, Section>)
}

extension ListContentDelegate {
  /// Delivers an update as the list after it.
  public func receive(_ update: ListUpdate<Item, Section>) { didChange(update.after, update) }
}
