// Updates that are pushed: to a closure, or to a delegate.

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

  /// Ends the calls. If it is called on the executor of the closure, no call follows its return; if it is called from
  /// elsewhere, a call that has begun may still be running.
  public func cancel() { delivery.cancel() }
}

extension FetchController {
  /// Calls a closure on an executor for every change of the list, one at a time, beginning with the current list.
  ///
  /// The closure never runs inside a write, so it may write. Changes that occur while it handles an update are combined
  /// into one further update. The observation that is returned has to be held: releasing it ends the calls.
  ///
  /// - Parameters:
  ///   - failed: called if the request is rejected or the list cannot continue. Updates continue when a later `apply`
  ///     or `performFetch` succeeds.
  public func observe(
    _ policy: UpdatePolicy = .latest, since token: ListToken? = nil, on executor: UpdateExecutor = .main,
    failed: @escaping @Sendable (ListError) -> Void = { _ in },
    _ body: @escaping @Sendable (ListUpdate<Item, Section>) -> Void
  ) -> ListObservation {
    let delivery = CancellableTask()
    deliver(UpdateOptions(policy: policy, start: UpdateStart(token)), delivery, { executor }) { _, news in
      switch news {
      case .update(let update): body(update)
      case .failure(let error): failed(error)
      case .end: break
      }
      return true
    }
    return ListObservation(delivery, of: self)
  }

  /// Receives an update or a failure on the executor; returns false to end the delivery.
  typealias DeliveryBody =
    nonisolated(nonsending) @Sendable (FetchController<Item, Section>, News<Update>) async -> Bool

  /// Delivers updates for as long as the controller lives and the delivery is not cancelled. The delivery does not keep
  /// the controller alive while nothing happens. A rejected token is reported as a failure once; the next delivery is
  /// the whole list.
  ///
  /// - Parameter executor: called before every delivery; returns nil if there is no recipient any more.
  func deliver(
    _ options: UpdateOptions<Item>, _ delivery: CancellableTask,
    _ executor: @escaping @Sendable () -> UpdateExecutor?, _ body: @escaping DeliveryBody
  ) {
    // Not captured weakly by the closure that runs on the executor: Swift 6.3 takes a closure with a capture list for one
    // that runs on the thread pool.
    let controller: @Sendable () -> FetchController? = { [weak self] in self }
    // The recipient's executor may have the differences computed elsewhere than on the thread pool.
    let recipient = executor()
    let begin = { body in recipient?.task(body) ?? Task { await body() } }
    delivery.start(by: begin) { [consumer = ListConsumer(self, options)] delivery in
      var consumer = consumer
      while true {
        let news = await consumer.next()
        if case .end = news { return }
        guard let executor = executor() else { return }
        let isWanted = await executor.run {
          // Checked on the executor itself: after a cancellation there, nothing more is delivered.
          guard !delivery.isCancelled, let controller = controller(), !controller.isCancelled else {
            return false
          }
          return await body(controller, news)
        }
        if !isWanted { return }
      }
    }
  }
}
