// Fetching a list, and replacing its request.

internal import StrataBase
public import StrataEvents
public import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension FetchController {
  /// Fetches the current list: it includes every append that was acknowledged before the call.
  @discardableResult
  public func performFetch() async throws -> ListSnapshot<Item, Section> {
    try await fetch(through: rows.store.head.sequence)
  }

  /// The list with everything up to a sequence. Consumers that received a failure and wait for a successful fetch
  /// continue, even if nothing new is found.
  package func fetch(through sequence: UInt64) async throws -> ListSnapshot<Item, Section> {
    let call = rows.store.log.observation.beginCall()
    defer { rows.store.log.observation.end(call, .fetch) }
    let snapshot = try await fetch(reaching: sequence)
    change { $0.heal() }
    return snapshot
  }

  /// The list that includes an append and everything before it. If the store is open for reading, this waits until the
  /// store has seen that part of the writer's log. A receipt of another store, which the list would wait for in vain,
  /// throws `otherStore`.
  @discardableResult
  public func fetch(through receipt: AppendReceipt) async throws -> ListSnapshot<Item, Section> {
    let (store, last) = (rows.store, receipt.sequences.upperBound)
    guard receipt.storeID == store.log.storeID else {
      throw ListError.otherStore(receipt.store, expected: store.id)
    }
    try await wait(reaching: last)
    return try await fetch(through: last)
  }

  /// The list that includes everything up to a position: for an append of another process, which sends the position of
  /// its receipt as text. If the store is open for reading, this waits until the store has seen that part of the
  /// writer's log, and a position that the log never reaches is waited for until the task or the list is cancelled, or
  /// the store is closed.
  ///
  /// A store that is open for writing has everything there is, so a position past its end is not one of its log. While
  /// it is suspended another process may write, and this waits until it is resumed.
  ///
  /// - Throws: `ListError.store(.position)`: `diverged` if the log's events up to the position are not the ones that it
  ///   was read from, as in another store, and `trimmed` if the log begins after it. `CancellationError` if the task or
  ///   the list is cancelled.
  @discardableResult
  public func fetch(through position: LogPosition) async throws -> ListSnapshot<Item, Section> {
    let store = rows.store
    if store.log.isReadOnly || store.log.isSuspended { try await wait(reaching: position.sequence) }
    let found = await store.machine.reads.result { () throws(StoreError) in
      try store.sequenceBlocking(of: .position(position))
    }
    let sequence = try await ListError.wrapping { try found.get() }
    return try await fetch(through: sequence)
  }

  /// Waits until the store has seen a sequence.
  private func wait(reaching sequence: UInt64) async throws {
    let store = rows.store
    while store.head.sequence < sequence {
      let number = announcement.number
      if Task.isCancelled || isCancelled { throw CancellationError() }
      // `cancel()` announces too, and so ends this wait.
      try await ListError.wrapping {
        try await store.wait(beyond: sequence - 1, or: [(announcement, beyond: number)])
      }
    }
  }

  /// Replaces the request. Iterations of `updates` deliver one difference from the old list to the new one.
  ///
  /// If a concurrent call replaces the request again, the list of that later request is returned; a list that was not
  /// begun by then is never made. If the request is rejected, the previous one stays in force. If the task is cancelled
  /// or the fetch fails after that, the new one is in force, and iterations deliver it all the same.
  @discardableResult
  public func apply(
    _ request: ListRequest<Item, Section>
  ) async throws -> ListSnapshot<Item, Section> {
    _ = try replaceRequest(by: request)
    return try await fetchReplaced()
  }

  /// Changes the request in force. Concurrent calls do not overwrite each other's changes.
  ///
  /// - Parameter change: a pure function. It is called again if the request was replaced in the meantime.
  @discardableResult
  public func apply(
    changing change: @Sendable (inout ListRequest<Item, Section>) -> Void
  ) async throws -> ListSnapshot<Item, Section> {
    while true {
      var (request, epoch) = state.withLock { ($0.request, $0.epoch) }
      change(&request)
      if try replaceRequest(by: request, of: epoch) { return try await fetchReplaced() }
    }
  }

  /// Replaces the request in force; returns false if that is no longer the one that the new request was made from.
  private func replaceRequest(
    by request: ListRequest<Item, Section>, of epoch: RequestEpoch? = nil
  ) throws -> Bool {
    // A request that does not compile is rejected before it takes effect.
    _ = try request.compiled(decode: rows.decode)
    switch change({ $0.replaceRequest(by: request, of: epoch) }) {
    case .replaced:
      counts.withLock { $0.requestsReplaced += 1 }
      return true
    case .overtaken: return false
    case .cancelled: throw CancellationError()
    }
  }

  /// Fetches the list of a request that was just put in force.
  private func fetchReplaced() async throws -> ListSnapshot<Item, Section> {
    do { return try await performFetch() } catch {
      followAgain()
      throw error
    }
  }

  func fetch(reaching sequence: UInt64) async throws -> ListSnapshot<Item, Section> {
    if state.withLock({ $0.isBuilt }) { return try await fetchInTurn(reaching: sequence) }
    try await building.take(.it)
    defer { building.give() }
    return try await fetchInTurn(reaching: sequence)
  }

  private func fetchInTurn(reaching sequence: UInt64) async throws -> ListSnapshot<Item, Section> {
    while true {
      let prepared = try prepared()
      if let shown = prepared.published, shown.sequence >= sequence { return shown }
      let number = counts.withLock { counts in
        counts.fetches += 1
        return counts.fetches
      }
      // The published sequence never goes back, even if the request in force reads another fold.
      let wanted = max(sequence, state.withLock { $0.published?.list.sequence } ?? 0)
      let projector = prepared.rows.projector
      fetching.withLock {
        $0 = AwaitedState(number: number, projector: projector, sequence: wanted, lease: prepared.lease)
      }
      defer { fetching.withLock { if $0?.number == number { $0 = nil } } }
      let set = try await ListError.wrapping {
        try await projector.state(reaching: wanted, with: prepared.lease)
      }
      let list = prepared.fetched(set)
      try await rows.makeAggregates(of: list.snapshot.version)
      switch change({ $0.publish(list, of: prepared.epoch) }) {
      case .published: return list.snapshot
      case .alreadyShown:
        // The published list may be older than what was requested if that is all there is. Nil after cancellation.
        guard let shown = snapshot else { throw CancellationError() }
        return shown
      case .superseded:
        counts.withLock { $0.resultsRefused += 1 }
        continue
      case .cancelled: throw CancellationError()
      }
    }
  }

  /// The request in force, compiled and with its view leased.
  struct Prepared: Sendable {
    var request: ListRequest<Item, Section>
    var rows: RowTable<Item>
    var list: CompiledList
    var lease: ViewLease
    var epoch: RequestEpoch
    /// The published list of this request, if there is one.
    var published: ListSnapshot<Item, Section>?

    /// The list over a state that holds its view.
    func snapshot(of set: TableSet) -> ListSnapshot<Item, Section> { request.snapshot(of: set, rows, list) }

    /// The same, with what keeps its view up to date.
    func fetched(_ set: TableSet) -> FetchedList<Item, Section> {
      FetchedList(
        snapshot: snapshot(of: set), list: list, lease: lease, appendCount: AppendCount(set.appendCount))
    }
  }

  /// A request as compiled, once for all lists that are made with it.
  func compiled(
    _ request: ListRequest<Item, Section>, _ rows: RowTable<Item>, of epoch: RequestEpoch
  ) throws -> CompiledList {
    let known = lastCompiled.withLock { $0 }
    if let known, known.epoch == epoch { return known.list }
    let list = try request.compiled(decode: rows.decode).sharingAggregates(with: known?.list)
    // The program's functions that only the last one holds are released after the lock.
    let last = lastCompiled.withLock { known in
      defer { known = (epoch, list) }
      return known
    }
    withExtendedLifetime(last) {}
    return list
  }

  /// The request in force, with a lease on its view.
  func prepared() throws -> Prepared {
    let (request, epoch, published, isCancelled) = state.withLock {
      ($0.request, $0.epoch, $0.published, $0.isCancelled)
    }
    if isCancelled { throw CancellationError() }
    let rows = rows.folded(for: request)
    if let published, published.epoch == epoch {
      return Prepared(
        request: request, rows: rows, list: published.list.list, lease: published.list.lease, epoch: epoch,
        published: published.list.snapshot)
    }
    let list = try compiled(request, rows, of: epoch)
    return Prepared(
      request: request, rows: rows, list: list, lease: rows.projector.lease(list.definition, of: rows.name),
      epoch: epoch)
  }
}

extension ListRequest {
  /// The list over a state that holds its view.
  func snapshot(
    of set: TableSet, _ rows: RowTable<Item>, _ list: CompiledList
  ) -> ListSnapshot<Item, Section> {
    ListSnapshot(
      version: ListVersion(set, table: rows.name, list, heldBy: rows.store),
      decode: rows.decode, decodeSection: decodeSection, encodeSection: encodeSection,
      token: token(of: set, rows.store.log))
  }

  private func token(of set: TableSet, _ log: Log) -> ListTokenSource {
    let (storeID, sequence) = (log.storeID, set.sequence)
    @Sendable func token(_ chain: UInt64) -> ListToken {
      ListToken(storeID: storeID, sequence: sequence, chain: chain)
    }
    if let chain = set.chain { return .known(token(chain)) }
    return .later(
      LaterToken {
        // Not of what the folder has if that is another log by now.
        guard (try? log.checkOpen()) != nil, (try? log.refresh()) != nil else { return nil }
        return (try? log.chain(after: sequence))?.map(token)
      })
  }
}
