// Fetching, configuring, and feeding by hand.

internal import StrataBase
public import StrataEvents
internal import StrataFetch
public import StrataLists
internal import StrataTables

extension DiffableFetchController {
  /// Fetches the list: it includes every append that was acknowledged before the call.
  ///
  /// The first call makes the list current and begins to follow the store. A later one tries again after a
  /// failure; what it finds new is told to the delegate like every change.
  ///
  /// - Returns: the newest list. Where the caller is where the delegate is called, the delegate was told nothing
  ///   newer when this returns.
  /// - Throws: `DiffableFetchError`, and `CancellationError` where the task or the list was cancelled.
  @discardableResult
  public nonisolated(nonsending) func performFetch()
    async throws -> ListSnapshot<Item, Section>
  {
    guard fetchRequest.isSorted else { throw DiffableFetchError.fetchWithoutSortKeys }
    try await DiffableFetchError.wrapping { try await list.performFetch() }
    return try fetched()
  }

  /// Changes how the list is sectioned, sorted and filtered, and fetches it. The delegate is told one difference
  /// from the old list to the new one.
  ///
  /// Calls are carried out one after the other, each body with what the one before it left. The body runs once.
  /// A request that is refused leaves the one before in force.
  @discardableResult
  public nonisolated(nonsending) func configureFetch(
    _ configure: (inout DiffableFetchRequest<Item, Section>) -> Void
  ) async throws -> ListSnapshot<Item, Section> {
    await configuring.take()
    defer { configuring.give() }
    var request = fetchRequest
    configure(&request)
    guard request.isSorted else { throw DiffableFetchError.fetchWithoutSortKeys }
    do { try await DiffableFetchError.wrapping { try await list.apply(request.listRequest) } } catch {
      // Every other error leaves the new request in force, and a later fetch is one for it.
      if case DiffableFetchError.list(.filter) = error { throw error }
      replaceRequest(by: request)
      throw error
    }
    replaceRequest(by: request)
    return try fetched()
  }

  private func replaceRequest(by request: DiffableFetchRequest<Item, Section>) {
    let old = state.withLock { state in
      defer { state.request = request }
      return state.request
    }
    // It ends behind the lock: its closures may hold whatever a program likes.
    withExtendedLifetime(old) {}
  }

  /// Takes in what the store holds up to a sequence, and whatever else it holds by then; up to its end where
  /// that is nearer. For lists that do not follow the store by themselves.
  @discardableResult
  public nonisolated(nonsending) func process(
    upTo sequence: UInt64
  ) async throws -> ListSnapshot<Item, Section> {
    guard fetchRequest.isSorted else { throw DiffableFetchError.fetchWithoutSortKeys }
    _ = try await DiffableFetchError.wrapping { try await list.fetch(through: sequence) }
    return try fetched()
  }

  /// Takes in events that were read from the store's feed, and everything before them.
  @discardableResult
  public nonisolated(nonsending) func process(
    events: some Sequence<RecordedEvent>
  ) async throws -> ListSnapshot<Item, Section> {
    try await process(upTo: events.lazy.map(\.sequence).max() ?? 0)
  }

  /// Takes in an append, and everything before it. Where the store is open for reading, this waits until it sees
  /// that much of what its writer appends.
  @discardableResult
  public nonisolated(nonsending) func process(
    _ receipt: AppendReceipt
  ) async throws -> ListSnapshot<Item, Section> {
    guard fetchRequest.isSorted else { throw DiffableFetchError.fetchWithoutSortKeys }
    try await DiffableFetchError.wrapping { try await list.fetch(through: receipt) }
    return try fetched()
  }

  /// What follows from every fetch. Does not suspend: who shares the delegate's actor has its turn, and the
  /// delegate hears nothing before the fetch returns.
  private func fetched() throws -> ListSnapshot<Item, Section> {
    guard let newest = list.consumerAtNewest(), let snapshot = newest.snapshot else {
      throw CancellationError()
    }
    try check(snapshot)
    let (isFirst, isCancelled) = state.withLock { state in
      state.statistics.fetchCount += 1
      let isFirst = state.current == nil
      if isFirst { state.current = snapshot }
      return (isFirst, state.isCancelled)
    }
    if !isFirst { ask() } else if !isCancelled { begin(with: newest) }
    follow()
    return snapshot
  }

  /// Items whose key is not their id would be looked for in vain: the first one that is shown tells.
  private func check(_ snapshot: ListSnapshot<Item, Section>) throws(DiffableFetchError) {
    guard snapshot.numberOfSections > 0, let item = snapshot.row(at: ListIndex(section: 0, item: 0))
    else {
      return
    }
    guard hasItsID(item) else { throw .itemKeyIsNotID }
  }
}
