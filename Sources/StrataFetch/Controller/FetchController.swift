// The fetch controller: a list that stays up to date, and the same list at any moment of the past.

public import StrataEvents
internal import StrataLog
public import StrataTables

/// Keeps a list of a store's rows up to date, and says what changed.
///
/// ```swift
/// let list = FetchController(request, from: incidents)
/// for try await update in list.updates {
///   view.apply(update.changes)
/// }
/// ```
///
/// - Every update is the difference between what its iteration delivered last and the newest state at the end
///   of an append. A slow consumer sees one larger difference; nothing is queued for it.
/// - An append that changes nothing that the list shows makes no update.
/// - Every list that is delivered is the state after exactly one append, and includes every append that its
///   store had acknowledged before the call that made it. A store that is open for reading includes what it has
///   seen of its writer; `reaches` waits for more.
///
/// Safe to use from any task and thread. `snapshot`, `updates`, `cancel()` and the lookups of a snapshot do not
/// wait; `performFetch`, `apply` and the past do.
public final class FetchController<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  /// A snapshot, what keeps its view up to date, and its number among those that were published.
  struct Published: Sendable {
    var snapshot: FetchSnapshot<Item, Section>
    var list: CompiledList
    var lease: ViewLease
    var generation: UInt64
    var number: UInt64
  }

  private struct State {
    var request: ListRequest<Item, Section>
    /// Counts the requests; a fetch that was begun for an older one is not published.
    var generation: UInt64 = 0
    var published: Published?
    var nextNumber: UInt64 = 1
    var isCancelled = false
    /// Follows the log for those who wait.
    var follower: Task<Void, Never>?
    /// Why the list cannot go on.
    var failure: ListError?
    /// The store was closed.
    var isEnded = false
  }

  let rows: RowTable<Item>
  private let state: Lock<State>
  let announcement = Announcement()

  /// - Parameter source: a collection of documents, or a table of a projection.
  public init(
    _ request: ListRequest<Item, Section>, from source: some RowSource<Item>
  ) {
    rows = source.table
    state = Lock(State(request: request))
  }

  deinit { state.withLock { $0.follower }?.cancel() }

  /// The request that is in force.
  public var request: ListRequest<Item, Section> { state.withLock { $0.request } }

  /// The newest list that was fetched; nil before the first fetch. It is kept up to date while somebody
  /// iterates over `updates`.
  public var snapshot: FetchSnapshot<Item, Section>? { state.withLock { $0.published?.snapshot } }

  var published: Published? { state.withLock { $0.published } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends all iterations and refuses fetches. Who calls it on the actor that iterates gets no update after it
  /// has returned.
  public func cancel() {
    // What was published is taken out and ends behind the lock: it may hold many pages, and closures.
    let (follower, published) = state.withLock { state in
      state.isCancelled = true
      defer { (state.follower, state.published) = (nil, nil) }
      return (state.follower, state.published)
    }
    follower?.cancel()
    announcement.announce()
    withExtendedLifetime(published) {}
  }

  /// How iterations end.
  enum Ending: Sendable {
    case none, quiet
    case failure(ListError)
  }

  var ending: Ending {
    state.withLock { state in
      if state.isCancelled || state.isEnded { return .quiet }
      return state.failure.map { .failure($0) } ?? .none
    }
  }
}

// MARK: Fetching

extension FetchController {
  /// Fetches the list as it is now: it includes every append that was acknowledged before the call.
  @discardableResult
  public func performFetch() async throws(ListError) -> FetchSnapshot<Item, Section> {
    try await fetch(reaching: rows.store.head.sequence)
  }

  /// The list with an append in it, and everything before it. Where the store is open for reading, this waits
  /// until it sees that much of what its writer appends; a cancelled task throws `cancelled`.
  @discardableResult
  public func reaches(_ receipt: AppendReceipt) async throws(ListError) -> FetchSnapshot<Item, Section> {
    let (store, last) = (rows.store, receipt.sequences.upperBound)
    while store.head.sequence < last {
      if Task.isCancelled || isCancelled { throw .cancelled }
      try await ListError.wrapping { () async throws(StoreError) in try await store.wait(beyond: last - 1) }
    }
    return try await fetch(reaching: last)
  }

  /// Replaces the request. Iterations of `updates` deliver one difference from the old list to the new one.
  ///
  /// Where another call replaces it again meanwhile, the list of that one is returned. Where the request is
  /// refused, the one before stays in force.
  @discardableResult
  public func apply(
    _ request: ListRequest<Item, Section>
  ) async throws(ListError) -> FetchSnapshot<Item, Section> {
    // A request that does not compile is refused before it is in force.
    _ = try request.compiled(decode: rows.decode)
    let isCancelled = state.withLock { state in
      state.request = request
      state.generation += 1
      return state.isCancelled
    }
    if isCancelled { throw .cancelled }
    return try await performFetch()
  }

  func fetch(reaching sequence: UInt64) async throws(ListError) -> FetchSnapshot<Item, Section> {
    while true {
      let (request, generation, published, isCancelled) = state.withLock {
        ($0.request, $0.generation, $0.published, $0.isCancelled)
      }
      if isCancelled { throw .cancelled }
      let list: CompiledList
      let lease: ViewLease
      if let published, published.generation == generation {
        if published.snapshot.sequence >= sequence { return published.snapshot }
        (list, lease) = (published.list, published.lease)
      } else {
        list = try request.compiled(decode: rows.decode)
        lease = rows.projector.lease(list.definition, of: rows.name)
      }
      let set = try await ListError.wrapping { () async throws(StoreError) in
        try await rows.projector.state(reaching: sequence, with: lease)
      }
      let snapshot = request.snapshot(of: set, rows, list)
      switch publish(snapshot, list, lease, generation) {
      case .published(let snapshot): return snapshot
      case .superseded: continue
      case .cancelled: throw .cancelled
      }
    }
  }

  private enum Publication {
    case published(FetchSnapshot<Item, Section>)
    case superseded
    case cancelled
  }

  private func publish(
    _ snapshot: FetchSnapshot<Item, Section>, _ list: CompiledList, _ lease: ViewLease, _ generation: UInt64
  ) -> Publication {
    let (publication, old) = state.withLock { state -> (Publication, Published?) in
      if state.isCancelled { return (.cancelled, nil) }
      guard state.generation == generation else { return (.superseded, nil) }
      let old = state.published
      if let old, old.generation == generation, old.snapshot.sequence >= snapshot.sequence {
        return (.published(old.snapshot), nil)
      }
      state.published = Published(
        snapshot: snapshot, list: list, lease: lease, generation: generation, number: state.nextNumber)
      state.nextNumber += 1
      return (.published(snapshot), old)
    }
    if case .published = publication { announcement.announce() }
    // The old list ends behind the lock.
    withExtendedLifetime(old) {}
    return publication
  }
}

extension ListRequest {
  /// The list over a state that holds its view.
  func snapshot(
    of set: TableSet, _ rows: RowTable<Item>, _ list: CompiledList
  ) -> FetchSnapshot<Item, Section> {
    FetchSnapshot(
      version: ListVersion(
        set, table: rows.name, view: list.definition.identity, window: list.window,
        isSectioned: list.isSectioned),
      decode: rows.decode, decodeSection: decodeSection, encodeSection: encodeSection)
  }
}

// MARK: Following

extension FetchController {
  /// Sees to it that somebody follows the log while there are iterations that wait.
  func follow() {
    let store = rows.store
    state.withLock { state in
      guard state.follower == nil, !state.isCancelled, !state.isEnded, state.failure == nil else { return }
      state.follower = Task { [weak self] in
        while !Task.isCancelled {
          guard let shown = self?.published?.snapshot.sequence else { break }
          do throws(StoreError) {
            try await store.wait(beyond: shown)
          } catch {
            self?.end(with: error)
            return
          }
          guard let self else { return }
          // Where nobody waits any more nothing is folded; the next one who waits begins anew.
          guard announcement.hasWaiters else { break }
          do throws(ListError) { _ = try await fetch(reaching: store.head.sequence) } catch {
            if case .store(let error) = error { return end(with: error) }
            return fail(with: error)
          }
        }
        self?.stopFollowing()
      }
    }
  }

  private func stopFollowing() {
    state.withLock { $0.follower = nil }
    // Somebody may have begun to wait in between.
    if announcement.hasWaiters { follow() }
  }

  private func end(with error: StoreError) {
    guard error == .closed else { return fail(with: .store(error)) }
    state.withLock { state in
      state.isEnded = true
      state.follower = nil
    }
    announcement.announce()
  }

  private func fail(with error: ListError) {
    state.withLock { state in
      state.failure = error
      state.follower = nil
    }
    announcement.announce()
  }

  /// Forgets a failure that was delivered, so that a new iteration tries again.
  func clearFailure() { state.withLock { $0.failure = nil } }
}

extension EventStore {
  /// Suspends until something visible stands behind a sequence, or the task is cancelled. Throws where the log
  /// cannot go on; `closed` where it was closed.
  fileprivate func wait(beyond sequence: UInt64) async throws(StoreError) {
    do throws(LogError) { try log.follow() } catch { throw StoreError(error) }
    await log.tail.wait(beyond: sequence)
    if log.mark.sequence <= sequence, let end = log.tail.end { throw StoreError(end) }
  }
}
