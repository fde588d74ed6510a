// How the delegate is told: one task that pulls, and one that follows the store and says when.

internal import StrataBase
internal import StrataFetch
internal import StrataLists
internal import StrataTables

// What is told is always the difference from what was told last to the newest list that was published. So it does
// not matter how often or in which order somebody says that there is something new, and nothing is queued.

extension DiffableFetchController {
  /// What the delivering task has to do next.
  private enum Work: Sendable {
    case difference(Difference)
    case failure(ListError)
    case none
  }

  private struct Difference: Sendable {
    var old: List.Published
    var new: List.Published
    var isAsked: Bool
    /// An update with just this difference, where the list has found it already.
    var known: ListUpdate<Item, Section>?
  }

  /// Says that there is something to tell.
  func arrive(
    isAsked: Bool = false, _ update: ListUpdate<Item, Section>? = nil,
    behind after: FetchSnapshot<Item, Section>? = nil
  ) {
    let old = state.withLock { state in
      state.arrival.isThere = true
      if isAsked { state.arrival.isAsked = true }
      defer { state.arrival.update = update.map { ($0, after) } }
      return state.arrival.update
    }
    withExtendedLifetime(old) {}
    arrivals.announce()
  }

  /// Begins to tell the delegate what arrives.
  func begin() {
    let begins = state.withLock { state in
      guard !state.isTelling, !state.isCancelled else { return false }
      state.isTelling = true
      return true
    }
    guard begins else { return }
    // Not under the lock: the queue is the caller's, and may run the work at once or ask the controller something.
    let task = processingQueue.task { [weak self, arrivals] isolation in
      await Self.deliver(arrivals, isolation: isolation) { [weak self] in self }
    }
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.delivery = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  private static func deliver(
    _ arrivals: Announcement, isolation: isolated (any Actor)?,
    for controller: @Sendable () -> DiffableFetchController?
  ) async {
    while !Task.isCancelled {
      let number = arrivals.number
      guard let work = controller()?.takeWork() else { return }
      switch work {
      case .none: await arrivals.wait(beyond: number) {}
      case .failure(let error):
        guard let controller = controller() else { return }
        await controller.tell(error)
      case .difference(let difference):
        // Found while nobody holds the controller, so that who drops it meanwhile hears nothing.
        let update = await Self.update(difference)
        guard let controller = controller() else { return }
        await controller.tell(update, difference)
      }
    }
  }

  private func takeWork() -> Work {
    let arrival = state.withLock { state in
      let arrival = state.arrival
      // A failure is told when there is nothing else: what came before it is told before it.
      state.arrival = Arrival()
      if arrival.isThere { state.arrival.failure = arrival.failure }
      return arrival
    }
    guard arrival.isThere else { return arrival.failure.map { .failure($0) } ?? .none }
    // Read behind what was announced, so that it is at least that new.
    guard let new = list.published, let old = state.withLock({ $0.current }), new.number != old.number else {
      return arrival.failure == nil ? .none : takeWork()
    }
    var known: ListUpdate<Item, Section>?
    if let (update, after) = arrival.update, after?.version === old.snapshot.version,
      update.after.version === new.snapshot.version
    {
      known = update
    }
    return .difference(Difference(old: old, new: new, isAsked: arrival.isAsked, known: known))
  }

  /// Runs on no actor.
  private nonisolated static func update(_ difference: Difference) async -> ListUpdate<Item, Section>? {
    if let known = difference.known { return known }
    let (old, new) = (difference.old, difference.new)
    let changes = ListChanges(from: old.snapshot, to: new.snapshot)
    let isSame = old.generation == new.generation
    if isSame, changes.isEmpty { return nil }
    return ListUpdate(
      reason: isSame ? .changed : .reconfigured, before: old.snapshot, after: new.snapshot, changes: changes)
  }

  /// Between the look at whether it was cancelled and the delegate nothing suspends where the delegate is called
  /// where this runs.
  private nonisolated(nonsending) func tell(
    _ update: ListUpdate<Item, Section>?, _ difference: Difference
  ) async {
    let change = update.map { DiffableFetchChange($0) }
    let stale = change.map { ($0.deletes + $0.updates).map(Self.cacheKey) } ?? []
    // Kept so that the list before ends behind the lock, as rows do.
    var old: List.Published?
    let delegate = withCache { state -> (any DiffableFetchControllerDelegate<Item, Section>)? in
      guard !state.isCancelled, difference.isAsked || state.isMonitoring else { return nil }
      old = state.current
      state.current = difference.new
      guard let change else { return nil }
      state.cache.forget(stale)
      state.statistics.count(change)
      return state.delegate
    }
    withExtendedLifetime(old) {}
    guard let change else { return }
    await delegate?.didChangeContent(change, controller: self)
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

// MARK: Following

extension DiffableFetchController {
  /// Sees to it that the store is followed where it shall be.
  func follow() {
    state.withLock { state in
      guard state.isMonitoring, state.current != nil, state.follower == nil, !state.isCancelled else {
        return
      }
      let number = state.nextFollower
      state.nextFollower += 1
      let task = Task { [weak self, updates = list.updates] in
        var last: FetchSnapshot<Item, Section>?
        do throws(ListError) {
          for try await update in updates {
            guard let self else { return }
            arrive(update, behind: last)
            last = update.after
          }
          self?.followerEnded(number, nil)
        } catch {
          self?.followerEnded(number, error)
        }
      }
      state.follower = (task, number)
    }
  }

  private func followerEnded(_ number: UInt64, _ error: ListError?) {
    state.withLock { state in
      guard state.follower?.number == number else { return }
      state.follower = nil
      // One that was not told yet stays.
      if let error { state.arrival.failure = error }
    }
    arrivals.announce()
  }
}
