// The delegate of a controller: held weakly, and called where it can be called.

internal import StrataEvents
public import StrataLists

extension FetchController {
  /// Notifies a delegate of every change of the list on the main actor, beginning with the current list. Replaces the
  /// previous delegate.
  ///
  /// The delegate is held weakly. It is called with one update at a time, and never inside a write, so it may write,
  /// fetch and cancel. Changes that occur while it handles an update are combined into one further update. It is
  /// notified of failures, and receives updates again when a later `apply` or `performFetch` succeeds. The controller is
  /// not kept alive; releasing it ends the calls.
  ///
  /// - Parameter delegate: any delegate, `Sendable` or not; nil for none.
  @MainActor public func setDelegate(
    _ delegate: (any FetchControllerDelegate<Item, Section>)?, _ policy: UpdatePolicy = .latest,
    since token: ListToken? = nil
  ) {
    guard let delegate else { return removeDelegate() }
    let reference = MainDelegate(delegate)
    deliver(UpdateOptions(policy: policy, start: UpdateStart(token)), on: .main) { controller, news in
      await reference.receive(news, from: controller)
    }
  }

  /// Notifies a delegate of every change of the list on an executor, beginning with the current list. Otherwise as the
  /// method for the main actor.
  ///
  /// A method of the delegate that is isolated to an actor runs there. A class that conforms on the main actor alone, as
  /// it does where everything is isolated by default, is rejected by the compiler: set it on the main actor.
  ///
  /// - Parameter executor: where all methods of the delegate are called.
  public func setDelegate(
    _ delegate: some FetchControllerDelegate<Item, Section> & Sendable, on executor: UpdateExecutor,
    _ policy: UpdatePolicy = .latest, since token: ListToken? = nil
  ) {
    let reference = WeakDelegate(delegate)
    deliver(UpdateOptions(policy: policy, start: UpdateStart(token)), on: executor) { controller, news in
      await reference.delegate?.receive(news, from: controller) ?? false
    }
  }

  /// Notifies an actor of every change of the list, isolated to that actor, beginning with the current list. Otherwise
  /// as the method for the main actor.
  public func setDelegate(
    _ delegate: some FetchControllerDelegate<Item, Section> & Actor, _ policy: UpdatePolicy = .latest,
    since token: ListToken? = nil
  ) {
    let reference = WeakDelegate(delegate)
    deliver(UpdateOptions(policy: policy, start: UpdateStart(token))) {
      (reference.delegate as? any Actor).map { .actor($0) }
    } _: { controller, news in
      await reference.delegate?.receive(news, from: controller) ?? false
    }
  }

  /// Ends the calls of the delegate. If it is called where the delegate is called, no call follows its return.
  public func removeDelegate() { replaceDelivery(by: nil) }

  private func deliver(
    _ options: UpdateOptions<Item>, on executor: UpdateExecutor,
    _ body: @escaping DeliveryBody
  ) {
    deliver(options, { executor }, body)
  }

  private func deliver(
    _ options: UpdateOptions<Item>, _ executor: @escaping @Sendable () -> UpdateExecutor?,
    _ body: @escaping DeliveryBody
  ) {
    let delivery = CancellableTask()
    replaceDelivery(by: delivery)
    deliver(options, delivery, executor, body)
  }
}

extension FetchControllerDelegate {
  /// Returns true: the delegate is there.
  fileprivate nonisolated(nonsending) func receive(
    _ news: News<ListUpdate<Item, Section>>, from controller: FetchController<Item, Section>
  ) async -> Bool {
    switch news {
    case .update(let update): await receive(controller, update)
    case .failure(let error): await didFail(controller, with: error)
    case .end: break
    }
    return true
  }
}

/// A weak reference to a delegate that may be called from anywhere.
///
/// The conformance that it is made with cannot be isolated to an actor: the compiler proves that where the delegate is
/// passed, because the parameter is generic. It does not for a parameter of an existential type.
private struct WeakDelegate<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  private(set) weak var delegate: (any FetchControllerDelegate<Item, Section> & Sendable)?

  init(_ delegate: some FetchControllerDelegate<Item, Section> & Sendable) { self.delegate = delegate }
}

/// A weak reference to a delegate that is used on the main actor only, so that it need not be sendable.
@MainActor
private final class MainDelegate<
  Item: Identifiable & Sendable, Section: Hashable & Sendable
>
where Item.ID: DocumentID {
  private weak var delegate: (any FetchControllerDelegate<Item, Section>)?

  init(_ delegate: any FetchControllerDelegate<Item, Section>) { self.delegate = delegate }

  /// Returns false if the delegate was released.
  func receive(
    _ news: News<ListUpdate<Item, Section>>, from controller: FetchController<Item, Section>
  ) async -> Bool {
    await delegate?.receive(news, from: controller) ?? false
  }
}
