// The delegate of a diffable fetch controller.

public import StrataEvents
public import StrataLists

/// An object that is notified of the changes of a diffable fetch controller's list.
///
/// The conforming type writes its methods without any mark, in either isolation mode:
///
/// ```swift
/// @MainActor final class Screen: DiffableFetchControllerDelegate {
///   private var inserted: [String] = []
///   func didChangeContent(
///     _ controller: DiffableFetchController<Incident, String>, _ change: DiffableFetchChange<Incident, String>
///   ) {
///     inserted = change.inserts
///   }
/// }
/// ```
///
/// - A class of the main actor, marked so or isolated by default: its methods run on the main actor.
/// - An actor: its methods run on that actor.
/// - A class without isolation: its methods run on the main actor if it is set as `delegate`, and on the controller's
///   `processingQueue` if it is set with `setDelegate`.
///
/// A method may be `async`; the next change is delivered when it has returned. In a class of the main actor an `async`
/// method has to be marked `@MainActor`, because otherwise it takes its isolation from the protocol.
public protocol DiffableFetchControllerDelegate<Item, Section>: AnyObject {
  associatedtype Item: Identifiable & Sendable where Item.ID: DocumentID
  associatedtype Section: Hashable & Sendable

  /// Called after the list has changed. `controller.currentSnapshot` is the new list already.
  nonisolated(nonsending) func didChangeContent(
    _ controller: DiffableFetchController<Item, Section>, _ change: DiffableFetchChange<Item, Section>) async

  /// Called when the list can no longer follow the store. The current list stays; `performFetch` tries again.
  nonisolated(nonsending) func didFail(
    _ controller: DiffableFetchController<Item, Section>, with error: ListError) async
}

extension DiffableFetchControllerDelegate {
  public nonisolated(nonsending) func didFail(
    _ controller: DiffableFetchController<Item, Section>, with error: ListError
  ) async {}
}
