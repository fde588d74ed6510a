// Fetching, changing the request, and feeding by hand.

internal import StrataBase
public import StrataEvents
internal import StrataFetch
public import StrataLists
internal import StrataTables

extension DiffableFetchController {
  /// A closure that changes the request before every `performFetch`; nil for none.
  ///
  /// It receives the request in force, and what it leaves is the new one. If it changes nothing, the fetch is a plain
  /// one. It runs where it is isolated:
  ///
  /// ```swift
  /// controller.configureFetch = { @MainActor [weak self] request in
  ///   request.filter = self?.search.map { "sectionName contains \($0)" }
  /// }
  /// try await controller.performFetch()
  /// ```
  ///
  /// A request in which `refine` was called again differs from the one before.
  public var configureFetch: Configuration? {
    get { state.withLock { $0.configure } }
    set {
      let old = state.withLock { state in
        defer { state.configure = newValue }
        return state.configure
      }
      // Released after the lock: it may hold anything.
      withExtendedLifetime(old) {}
    }
  }

  /// Fetches the list: it includes every append that was acknowledged before the call.
  ///
  /// `configureFetch` runs first. The first call makes the list current and begins to follow the store. A later call
  /// tries again after a failure; what it finds new is delivered like every change.
  ///
  /// - Returns: the newest list. If it is called where the delegate is called, the delegate has received nothing newer
  ///   when it returns.
  /// - Throws: `DiffableFetchError`, and `CancellationError` if the task or the list was cancelled.
  @discardableResult
  public nonisolated(nonsending) func performFetch()
    async throws -> ListSnapshot<Item, Section>
  {
    if let configureFetch { return try await fetch(changing: configureFetch) }
    return try await fetchUnchanged()
  }

  private nonisolated(nonsending) func fetchUnchanged() async throws -> ListSnapshot<Item, Section> {
    guard fetchRequest.isSorted else { throw DiffableFetchError.fetchWithoutSortKeys }
    try await DiffableFetchError.wrapping { try await list.performFetch() }
    return try fetched()
  }

  private nonisolated(nonsending) func fetch(
    changing configure: Configuration
  ) async throws -> ListSnapshot<Item, Section> {
    await configuring.take()
    defer { configuring.give() }
    let old = fetchRequest
    var request = old
    await configure(&request)
    return request.isSame(as: old) ? try await fetchUnchanged() : try await fetch(request)
  }

  /// Changes how the list is sectioned, sorted and filtered, and fetches it. The delegate receives one difference from
  /// the old list to the new one.
  ///
  /// Calls are carried out one after the other, and each body receives the request that the previous one left. The body
  /// runs once. If the request is rejected, the previous one stays in force.
  ///
  /// - Throws: `DiffableFetchError`, and `CancellationError` if the task or the list was cancelled.
  @discardableResult
  public nonisolated(nonsending) func apply(
    changing change: (inout DiffableFetchRequest<Item, Section>) -> Void
  ) async throws -> ListSnapshot<Item, Section> {
    await configuring.take()
    defer { configuring.give() }
    var request = fetchRequest
    change(&request)
    return try await fetch(request)
  }

  /// Puts a request in force and fetches it. The caller has the turn to change the request.
  private nonisolated(nonsending) func fetch(
    _ request: DiffableFetchRequest<Item, Section>
  ) async throws -> ListSnapshot<Item, Section> {
    guard request.isSorted else { throw DiffableFetchError.fetchWithoutSortKeys }
    let listRequest = request.listRequest
    do { try await DiffableFetchError.wrapping { try await list.apply(listRequest) } } catch {
      // Unless the request was rejected, it is in force, and a later fetch is one for it.
      if list.request == listRequest { replaceRequest(by: request) }
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
    // Released after the lock: its closures may hold anything.
    withExtendedLifetime(old) {}
  }

  /// Takes in what the store holds up to a sequence, such as that of an event of its feed, and whatever else it holds by
  /// then. If the sequence is past the end
  /// of the log, that is everything. For lists that do not follow the store by themselves.
  @discardableResult
  public nonisolated(nonsending) func process(
    upTo sequence: UInt64
  ) async throws -> ListSnapshot<Item, Section> {
    guard fetchRequest.isSorted else { throw DiffableFetchError.fetchWithoutSortKeys }
    _ = try await DiffableFetchError.wrapping { try await list.fetch(through: sequence) }
    return try fetched()
  }

  /// Takes in an append, and everything before it. If the store is open for reading, this waits until the store has seen
  /// that part of what its writer appends.
  @discardableResult
  public nonisolated(nonsending) func process(
    _ receipt: AppendReceipt
  ) async throws -> ListSnapshot<Item, Section> {
    guard fetchRequest.isSorted else { throw DiffableFetchError.fetchWithoutSortKeys }
    try await DiffableFetchError.wrapping { try await list.fetch(through: receipt) }
    return try fetched()
  }

  /// What follows every fetch. It does not suspend, so a delegate on the caller's actor receives nothing before the
  /// fetch returns.
  private func fetched() throws -> ListSnapshot<Item, Section> {
    guard let newest = list.consumerAtNewest(), let snapshot = newest.snapshot else {
      throw CancellationError()
    }
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
}
