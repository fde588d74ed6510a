// The list at any point of the log, and what changed between two of them.

internal import StrataBase
public import StrataEvents
public import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension FetchController {
  /// The same list at a point of the log.
  ///
  /// The head costs as much as `performFetch`, any other point a replay of the log up to it, from the newest saved state
  /// that is not later. With a history of the rows (`StoreOptions.history`) it costs O(rows of the tables), and for a kept
  /// list that the history has O(runs + sections); `statistics` say whether it was a replay. A point inside an append
  /// shows the part of the append up to it. To visit many points, use a `scrubber()`.
  ///
  /// Throws `store(.position)` if the log does not have the point: it starts later, or ends before it.
  public func snapshot(at point: LogPoint) async throws -> ListSnapshot<Item, Section> {
    if point == .head { return try await performFetch() }
    return try await withLists(at: [point]) { $0[0] }
  }

  /// Another list of the same rows at a point of the log, with other sections, sorts, filters and windows. The
  /// controller's own list is not affected.
  public func snapshot<Other>(
    at point: LogPoint, request: ListRequest<Item, Other>
  ) async throws -> ListSnapshot<Item, Other> {
    try checkNotCancelled()
    if point == .head { return try await rows.newestSnapshot(request) }
    return try await withLists(at: [point], request) { $0[0] }
  }

  /// The changes of the list between two points of the log, in either direction: one replay up to the later point.
  ///
  /// With a history of the rows (`StoreOptions.history`) the list at the earlier point costs O(rows of the tables), and
  /// the one at the later point the rows that differ, O(d log n) for the d events between them, or O(rows) if that is
  /// less. A kept list that the history has costs O(d log n) alone. To ask for many differences, use a `scrubber()`, which
  /// keeps the lists.
  ///
  /// The changes from b to a undo those from a to b. They cannot be derived from them, since a batch does not record
  /// how many items a deleted section held, so they are computed separately.
  public func changes(
    from start: LogPoint, to end: LogPoint
  ) async throws -> ListChanges<Item.ID, Section> {
    try await withLists(at: [start, end]) { ListChanges(from: $0[0], to: $0[1]) }
  }

  /// The changes between two points of the log in another list of the same rows.
  public func changes<Other>(
    from start: LogPoint, to end: LogPoint, request: ListRequest<Item, Other>
  ) async throws -> ListChanges<Item.ID, Other> {
    try await withLists(at: [start, end], request) { ListChanges(from: $0[0], to: $0[1]) }
  }

  /// What is made of the same list at several points, counted.
  func withLists<Result: Sendable>(
    at points: [LogPoint], _ body: @escaping @Sendable ([ListSnapshot<Item, Section>]) -> Result
  ) async throws -> Result {
    try checkNotCancelled()
    let (request, epoch) = state.withLock { ($0.request, $0.epoch) }
    let rows = rows.folded(for: request)
    let list = try compiled(request, rows, of: epoch)
    return try await rows.withLists(at: points, request, list, counting: pastCounter, body)
  }

  /// What is made of another list at several points, counted.
  func withLists<Other, Result: Sendable>(
    at points: [LogPoint], _ request: ListRequest<Item, Other>,
    _ body: @escaping @Sendable ([ListSnapshot<Item, Other>]) -> Result
  ) async throws -> Result {
    try checkNotCancelled()
    let rows = rows.folded(for: request)
    let list = try request.compiled(decode: rows.decode)
    return try await rows.withLists(at: points, request, list, counting: pastCounter, body)
  }
}

extension RowTable {
  /// What is made of lists at several points, by one replay. A list of the past reads files when it is looked at, so
  /// this happens on the thread of the replay.
  ///
  /// - Parameter list: the request as compiled.
  fileprivate func withLists<Section, Result: Sendable>(
    at points: [LogPoint], _ request: ListRequest<Item, Section>, _ list: CompiledList,
    counting counter: PastCounter, _ body: @escaping @Sendable ([ListSnapshot<Item, Section>]) -> Result
  ) async throws -> Result {
    try await ListError.wrapping {
      try await store.withStates(
        at: points, folding, view: (name, list.definition), counting: counter, findsChains: false
      ) { sets in
        let lists = sets.map { request.snapshot(of: $0, self, list) }
        for list in lists { list.version.totals?.make() }
        return body(lists)
      }
    }
  }

  /// The current list, without a replay.
  func newestSnapshot<Section>(
    _ request: ListRequest<Item, Section>
  ) async throws -> ListSnapshot<Item, Section> {
    let rows = folded(for: request)
    let list = try request.compiled(decode: rows.decode)
    let snapshot = request.snapshot(of: try await rows.newestState(list.definition), rows, list)
    try await rows.makeAggregates(of: snapshot.version)
    return snapshot
  }

  /// Makes the aggregates of a list before it is shown. Where that reads more than some rows, it happens on another thread.
  func makeAggregates(of version: ListVersion) async throws {
    guard let totals = version.totals, !totals.prepare(rowCountMax: 1_000) else { return }
    _ = try await store.machine.follows.result { totals.resume($0) ? true : nil }
  }

  /// The newest state, with a view. A view that another lease keeps up to date is shared.
  func newestState(_ definition: ViewDefinition) async throws -> TableSet {
    let lease = projector.lease(definition, of: name)
    return try await ListError.wrapping {
      try await projector.state(reaching: store.head.sequence, with: lease)
    }
  }
}
