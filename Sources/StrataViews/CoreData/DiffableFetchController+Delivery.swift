// How the delegate is told: one task that asks the list for what is next, where the delegate is called.

internal import StrataBase
internal import StrataFetch
internal import StrataLists
internal import StrataTables

// The loop is the list's: what is told is always the difference from what was told last to the newest list that was
// published, so it does not matter how often or in which order somebody says that there is something new, and nothing
// is queued. The façade says when it may look, and whether what was found is told.

extension DiffableFetchController {
  /// Begins to tell the delegate what comes after the current list.
  func begin(with consumer: ListConsumer<Item, Section>) {
    var consumer = consumer
    consumer.gate = { [weak self] in self?.passGate() ?? .closed }
    // Not under the lock: the queue is the caller's, and may run the work at once or ask the controller something.
    let task = processingQueue.task { [weak self, consumer] isolation in
      await Self.deliver(consumer, isolation: isolation) { [weak self] in self }
    }
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.delivery = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  private static func deliver(
    _ consumer: ListConsumer<Item, Section>, isolation: isolated (any Actor)?,
    for controller: @Sendable () -> DiffableFetchController?
  ) async {
    var consumer = consumer
    while true {
      let told = consumer
      // Found while nobody holds the controller, so that who drops it meanwhile hears nothing.
      let news = await consumer.nextNews()
      guard let controller = controller() else { return }
      switch news {
      case .update(let update): if await !controller.tell(update) { consumer = told }
      case .failure(let error): await controller.tell(error)
      case .end: return
      }
    }
  }

  /// Asked before each look.
  private func passGate() -> ConsumerGate {
    state.withLock { state in
      state.isAnswering = state.isAsked
      state.isAsked = false
      return state.isMonitoring ? .open : state.isAnswering ? .listsAlone : .closed
    }
  }

  /// Says that somebody asked for what is new, so that it is told also where the store is not followed.
  func ask() {
    state.withLock { $0.isAsked = true }
    list.lookAgain()
  }

  /// Has the store followed where it shall be.
  func follow() {
    state.withLock { state in
      if state.isMonitoring, state.current != nil, !state.isCancelled { list.keepFollowing(true) }
    }
  }

  /// Between the look at whether it was cancelled and the delegate nothing suspends where the delegate is called
  /// where this runs. False where the update is not wanted: then it was not told.
  private nonisolated(nonsending) func tell(_ update: ListUpdate<Item, Section>) async -> Bool {
    // A list without a difference is current, and no news.
    let isNews = !update.changes.isEmpty || update.reason == .reconfigured
    let change = isNews ? DiffableFetchChange(update) : nil
    let stale = change.map { ($0.deletes + $0.updates).map(Self.cacheKey) } ?? []
    // Kept so that the list before ends behind the lock, as rows do.
    var old: ListSnapshot<Item, Section>?
    let (isWanted, delegate) = withCache {
      state -> (Bool, (any DiffableFetchControllerDelegate<Item, Section>)?) in
      guard !state.isCancelled, state.isAnswering || state.isMonitoring else { return (false, nil) }
      old = state.current
      state.current = update.after
      guard let change else { return (true, nil) }
      state.cache.forget(stale)
      state.statistics.count(change)
      return (true, state.delegate)
    }
    withExtendedLifetime(old) {}
    if let change { await delegate?.didChangeContent(change, controller: self) }
    return isWanted
  }

  private nonisolated(nonsending) func tell(_ error: ListError) async {
    let delegate = state.withLock { state -> (any DiffableFetchControllerDelegate<Item, Section>)? in
      guard !state.isCancelled else { return nil }
      state.statistics.failureCount += 1
      return state.delegate
    }
    await delegate?.didFail(with: error, controller: self)
  }
}
