// Updates that are told instead of asked for: to a closure, or to a delegate.

internal import StrataBase
public import StrataLists

/// An observation of a list. It ends when it is cancelled or released, and keeps the controller alive until then.
public final class ListObservation: Sendable {
  private let delivery: CancellableTask
  private let controller: any AnyObject & Sendable

  init(_ delivery: CancellableTask, of controller: any AnyObject & Sendable) {
    self.delivery = delivery
    self.controller = controller
  }

  deinit { delivery.cancel() }

  /// Nothing is told any more. Who calls it on the executor that is told, can rely on that from the moment at
  /// which it returns; from elsewhere, what was begun may still be under way.
  public func cancel() { delivery.cancel() }
}

extension FetchController {
  /// Tells every change of the list on an executor, one after the other, beginning with the list as it is.
  ///
  /// Nothing is told inside a write, and what is told may write. While one update is told, what comes meanwhile
  /// is gathered into one more. It ends with the observation that is returned: hold it.
  ///
  /// - Parameters:
  ///   - failed: called where the request is refused or the list cannot go on. Telling goes on when a later
  ///     `apply` or `performFetch` succeeds.
  public func observe(
    _ policy: UpdatePolicy = .latest, since token: ListToken? = nil, on executor: UpdateExecutor = .main,
    failed: @escaping @Sendable (ListError) -> Void = { _ in },
    _ body: @escaping @Sendable (ListUpdate<Item, Section>) -> Void
  ) -> ListObservation {
    let delivery = CancellableTask()
    deliver(UpdateOptions(policy: policy, token: token), delivery, executor, failed) { update in
      body(update)
      return true
    }
    return ListObservation(delivery, of: self)
  }

  /// Tells updates for as long as the controller lives and the delivery is not cancelled. Nothing here keeps the
  /// controller alive while nothing happens. A token that is refused is told as a failure once; what is told next
  /// is the whole list.
  ///
  /// - Parameter body: returns false to end it.
  func deliver(
    _ options: UpdateOptions<Item>, _ delivery: CancellableTask, _ executor: UpdateExecutor,
    _ failed: @escaping @Sendable (ListError) -> Void, _ body: @escaping @Sendable (Update) -> Bool
  ) {
    delivery.start { [weak self, consumer = ListConsumer(self, options)] delivery in
      var consumer = consumer
      while true {
        let news = await consumer.next()
        if case .end = news { return }
        await executor.run { [weak self] in
          // Asked on the executor itself: whoever cancelled there is told nothing more.
          guard !delivery.isCancelled, self?.isCancelled == false else { return }
          switch news {
          case .update(let update): if !body(update) { delivery.cancel() }
          case .failure(let error): failed(error)
          case .end: break
          }
        }
      }
    }
  }
}
