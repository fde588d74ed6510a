// How changes are delivered: one task that waits for the next list, and calls the delegate where it can be called.

internal import StrataBase
internal import StrataFetch
internal import StrataLists
internal import StrataTables

// The loop is the list's: each delivery is the difference from the list that was delivered last to the newest published
// one. So it does not matter how often or in which order a new list is announced, and nothing is queued. The controller
// decides when the loop may look, and whether what it found is delivered.

/// What became of something that was found.
private enum DeliveryResult {
  case delivered
  /// The controller does not want it now. It is a part of the next difference.
  case refused
  /// Another delegate was set, which may have to be called elsewhere.
  case wrongPlace
}

extension DiffableFetchController {
  /// Begins to deliver what follows the current list.
  func begin(with consumer: ListConsumer<Item, Section>) {
    var consumer = consumer
    consumer.gate = { [weak self] in self?.passGate() ?? .closed }
    // Not under the lock: the queue is the caller's, and may run the work at once or call the controller.
    let task = processingQueue.task { [weak self, consumer] in
      await Self.deliver(consumer) { [weak self] in self }
    }
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.delivery = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  private static func deliver(
    _ consumer: ListConsumer<Item, Section>, for controller: @Sendable () -> DiffableFetchController?
  ) async {
    var consumer = consumer
    while true {
      let before = consumer
      // No reference to the controller is held during a wait, so that nothing is delivered after the last one is gone.
      let news = await consumer.nextNews()
      if case .end = news { return }
      var result = DeliveryResult.wrongPlace
      while result == .wrongPlace {
        guard let (executor, number) = controller()?.destination else { return }
        // Without a capture list, with which Swift 6.3 would run it on the thread pool.
        let outcome = await executor.run { await controller()?.deliver(news, to: number) }
        guard let outcome else { return }
        result = outcome
      }
      if result == .refused { consumer = before }
    }
  }

  /// Called before each look.
  private func passGate() -> ConsumerGate {
    state.withLock { state in
      state.isAnswering = state.isAsked
      state.isAsked = false
      return state.isMonitoring ? .open : state.isAnswering ? .listsAlone : .closed
    }
  }

  /// Requests the delivery of what is new, which is then delivered even if the store is not followed.
  func ask() {
    state.withLock { $0.isAsked = true }
    list.lookAgain()
  }

  /// Makes the list follow the store, if it is meant to.
  func follow() {
    state.withLock { state in
      if state.isMonitoring, state.current != nil, !state.isCancelled { list.keepFollowing(true) }
    }
  }

  private nonisolated(nonsending) func deliver(
    _ news: News<ListUpdate<Item, Section>>, to number: Int
  ) async -> DeliveryResult {
    switch news {
    case .update(let update): await deliver(update, to: number)
    case .failure(let error): await deliver(error, to: number)
    case .end: .delivered
    }
  }

  /// Nothing suspends between the check of the state and the call of a delegate that is isolated to the same place.
  private nonisolated(nonsending) func deliver(
    _ update: ListUpdate<Item, Section>, to number: Int
  ) async -> DeliveryResult {
    // A list without a difference becomes current, and nobody is notified of it.
    let isNews = !update.changes.isEmpty || update.reason == .reconfigured
    let change = isNews ? DiffableFetchChange(update) : nil
    let stale = change.map { ($0.deletes + $0.updates).map(Self.cacheKey) } ?? []
    // Released after the lock, as rows are.
    var old: ListSnapshot<Item, Section>?
    let (result, recipient) = withCache { state -> (DeliveryResult, Recipient<Item, Section>) in
      guard state.recipient.number == number else { return (.wrongPlace, state.recipient) }
      guard !state.isCancelled, state.isAnswering || state.isMonitoring else {
        return (.refused, state.recipient)
      }
      old = state.current
      state.current = update.after
      // No update names a row of which only the revision changed.
      if Item.self == DocumentRow.self { state.cache.forgetAll() }
      guard let change else { return (.delivered, state.recipient) }
      state.cache.forget(stale)
      state.statistics.count(change)
      return (.delivered, state.recipient)
    }
    withExtendedLifetime(old) {}
    guard result == .delivered, let change else { return result }
    switch recipient.place {
    case .main: await deliverOnMain(change)
    case .processingQueue: await recipient.delegate?.didChangeContent(self, change)
    }
    return .delivered
  }

  private nonisolated(nonsending) func deliver(_ error: ListError, to number: Int) async -> DeliveryResult {
    let (result, recipient) = state.withLock { state -> (DeliveryResult, Recipient<Item, Section>) in
      guard state.recipient.number == number else { return (.wrongPlace, state.recipient) }
      guard !state.isCancelled else { return (.delivered, Recipient()) }
      state.statistics.failureCount += 1
      return (.delivered, state.recipient)
    }
    guard result == .delivered else { return result }
    switch recipient.place {
    case .main: await deliverOnMain(error)
    case .processingQueue: await recipient.delegate?.didFail(self, with: error)
    }
    return .delivered
  }

  @MainActor private func deliverOnMain(_ change: DiffableFetchChange<Item, Section>) async {
    await mainDelegate?.didChangeContent(self, change)
  }

  @MainActor private func deliverOnMain(_ error: ListError) async {
    await mainDelegate?.didFail(self, with: error)
  }
}
