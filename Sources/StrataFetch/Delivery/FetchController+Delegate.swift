// The delegate of a controller: held weakly, and told on an executor of its choice.

internal import StrataEvents
public import StrataLists

extension FetchController {
  /// Tells a delegate every change of the list, beginning with the list as it is, and nothing to the one before.
  ///
  /// The delegate is held weakly, and is told on the executor alone, one update after the other: never inside a
  /// write, and it may write, fetch and cancel. While it is told one update, what comes meanwhile is gathered into
  /// one more. It is told of failures, and goes on when a later `apply` or `performFetch` succeeds. The controller
  /// is not kept alive: who drops it ends the telling.
  ///
  /// - Parameters:
  ///   - delegate: nil for none.
  ///   - executor: where all methods of the delegate are called. A delegate of an actor gives that actor.
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

/// A delegate that somebody else keeps alive.
///
/// Sendable without the compiler's proof: the reference is set once, and what it leads to is used on the
/// delegate's executor alone.
private final class WeakDelegate<Item: Identifiable & Sendable, Section: Hashable & Sendable>:
  @unchecked Sendable
where Item.ID: DocumentID {
  private(set) weak var delegate: (any FetchControllerDelegate<Item, Section>)?

  init(_ delegate: any FetchControllerDelegate<Item, Section>) { self.delegate = delegate }
}
