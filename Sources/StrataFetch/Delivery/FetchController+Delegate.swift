// The delegate of a controller: held weakly, and called on an executor of its choice.

internal import StrataEvents
public import StrataLists

extension FetchController {
  /// Notifies a delegate of every change of the list, beginning with the current list. Replaces the previous delegate.
  ///
  /// The delegate is held weakly. It is called only on the executor, with one update at a time, and never inside a
  /// write, so it may write, fetch and cancel. Changes that occur while it handles an update are combined into one
  /// further update. It is notified of failures, and receives updates again when a later `apply` or `performFetch`
  /// succeeds. The controller is not kept alive; releasing it ends the calls.
  ///
  /// - Parameters:
  ///   - delegate: nil for none.
  ///   - executor: where all methods of the delegate are called. For a delegate that is an actor, pass that actor.
  public func setDelegate(
    _ delegate: (any FetchControllerDelegate<Item, Section>)?, on executor: UpdateExecutor = .main,
    _ policy: UpdatePolicy = .latest, since token: ListToken? = nil
  ) {
    guard let delegate else { return replaceDelivery(by: nil) }
    let reference = WeakDelegate(delegate)
    let delivery = CancellableTask()
    replaceDelivery(by: delivery)
    deliver(UpdateOptions(policy: policy, token: token), delivery, executor) { error in
      reference.delegate?.didFail(with: error)
    } _: { update in
      guard let delegate = reference.delegate else { return false }
      delegate.receive(update)
      return true
    }
  }
}

/// A weak reference to a delegate.
///
/// Sendable without the compiler's proof: the reference is set once, and the delegate is used only on its executor.
private final class WeakDelegate<Item: Identifiable & Sendable, Section: Hashable & Sendable>:
  @unchecked Sendable
where Item.ID: DocumentID {
  private(set) weak var delegate: (any FetchControllerDelegate<Item, Section>)?

  init(_ delegate: any FetchControllerDelegate<Item, Section>) { self.delegate = delegate }
}
