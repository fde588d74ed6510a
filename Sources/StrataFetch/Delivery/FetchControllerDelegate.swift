// Those who are told what became of a list: step by step, or at once.

public import StrataEvents
public import StrataLists

/// An object that is told what became of a fetch controller's list.
///
/// There are two ways to be told, and a delegate has one of them: it conforms to `FetchChangesDelegate`, which is
/// told every change, or to `FetchContentDelegate`, which is told the whole list. Each of the two brings its own
/// `receive(_:)`, so a type that conforms to both does not compile unless it says itself what it wants.
///
/// All methods are called on the executor that the delegate was given with, one update after the other, and
/// never inside a write. They are plain methods; a type of the main actor conforms with an isolated conformance:
/// `extension ListScreen: @MainActor FetchChangesDelegate`.
public protocol FetchControllerDelegate<Item, Section>: AnyObject {
  associatedtype Item: Identifiable & Sendable where Item.ID: DocumentID
  associatedtype Section: Hashable & Sendable

  /// One step of the list. The first is `.initial`, and each of the others begins where the one before ended.
  func receive(_ update: ListUpdate<Item, Section>)

  /// The list cannot go on, or the request was refused. What was told stays true.
  func didFail(with error: ListError)
}

extension FetchControllerDelegate {
  public func didFail(with error: ListError) {}
}

/// A delegate that is told every change: `willChange`, all changes of sections, all changes of items,
/// `didChange`.
///
/// What is told is the canonical batch, `ListUpdate.changes`: what was put in, taken out, moved or changed, and
/// nothing that was only shifted by it; a moved item whose row changed is told once, as a move. A view with rules
/// of its own takes `changes.batch()` or `changes.staged(from:to:)` in `didChange` instead.
public protocol FetchChangesDelegate<Item, Section>: FetchControllerDelegate {
  // Named again so that the types are inferred from the methods below.
  associatedtype Item
  associatedtype Section

  /// The list as it is: show it whole. Called alone, for an update that has no `before`: the first one.
  func didLoad(_ update: ListUpdate<Item, Section>)

  /// Changes follow.
  func willChange(_ update: ListUpdate<Item, Section>)

  /// A section was put in, taken out or moved, or holds another number of items.
  func didChangeSection(_ section: Section, _ change: ListSectionChange)

  /// An item was put in, taken out or moved, or its row changed.
  func didChangeItem(_ id: Item.ID, _ change: ListItemChange)

  /// That was all.
  func didChange(_ update: ListUpdate<Item, Section>)
}

extension FetchChangesDelegate {
  public func willChange(_ update: ListUpdate<Item, Section>) {}
  public func didChangeSection(_ section: Section, _ change: ListSectionChange) {}
  public func didChangeItem(_ id: Item.ID, _ change: ListItemChange) {}
  public func didChange(_ update: ListUpdate<Item, Section>) {}

  /// Tells an update change by change.
  public func receive(_ update: ListUpdate<Item, Section>) {
    guard update.before != nil else { return didLoad(update) }
    willChange(update)
    update.changes.forEachSectionChange { didChangeSection($0, $1) }
    update.changes.forEachItemChange { didChangeItem($0, $1) }
    didChange(update)
  }
}

/// A delegate that is told the whole list, after every update.
public protocol FetchContentDelegate<Item, Section>: FetchControllerDelegate {
  associatedtype Item
  associatedtype Section

  /// The list became another one. `update` says why, what it was, and what changed: an item that changed and
  /// stayed is in no list of identifiers, but in `update.updates`.
  func didChange(_ content: FetchSnapshot<Item, Section>, _ update: ListUpdate<Item, Section>)
}

extension FetchContentDelegate {
  /// Tells an update as the list that it leads to.
  public func receive(_ update: ListUpdate<Item, Section>) { didChange(update.after, update) }
}
