// The fetch controller: a list that stays up to date, and the same list at any moment of the past.

internal import StrataBase
public import StrataEvents
public import StrataLists
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
  package struct Published: Sendable {
    package var snapshot: FetchSnapshot<Item, Section>
    var list: CompiledList
    var lease: ViewLease
    package var generation: UInt64
    package var number: UInt64
    /// How many appends are in it.
    var appendCount: UInt64
  }

  struct State {
    var request: ListRequest<Item, Section>
    /// Counts the requests; a fetch that was begun for an older one is not published.
    var generation: UInt64 = 0
    var published: Published?
    var nextNumber: UInt64 = 1
    var isCancelled = false
    /// Follows the log for those who wait.
    var follower: Task<Void, Never>?
    /// Why following ended last, and how often it ended so. Every position knows how many failures it has heard
    /// of, so that each iteration hears of one once, and none hears of what was before it.
    var failure: ListError?
    var failureCount: UInt64 = 0
    /// How many of them were there when somebody fetched last, and got the list.
    var healedFailureCount: UInt64 = 0
    /// The store was closed.
    var isEnded = false
    /// What tells the delegate.
    var delivery: UpdateDelivery?
  }

  let rows: RowTable<Item>
  let state: Lock<State>
  let announcement = Announcement()
  let counts: Lock<ListStatistics>
  /// Who makes the list of a request that was put in force. One at a time, so that of many requests at once those that
  /// others have replaced by then are never begun.
  private let building = Turns<OneThing>()

  /// - Parameter source: a collection of documents, or a table of a projection.
  public init(
    _ request: ListRequest<Item, Section>, from source: some RowSource<Item>
  ) {
    let counts = Lock(ListStatistics())
    self.counts = counts
    rows = source.table.counting { counts.withLock { $0.rowsDecoded += 1 } }
    state = Lock(State(request: request))
  }

  deinit {
    let (follower, delivery) = state.withLock { ($0.follower, $0.delivery) }
    follower?.cancel()
    delivery?.cancel()
  }

  /// The request that is in force.
  public var request: ListRequest<Item, Section> { state.withLock { $0.request } }

  /// The newest list that was fetched; nil before the first fetch and after `cancel()`. It is kept up to date
  /// while somebody iterates over `updates`.
  public var snapshot: FetchSnapshot<Item, Section>? { state.withLock { $0.published?.snapshot } }

  package var published: Published? { state.withLock { $0.published } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends all iterations, tells delegates nothing more, and refuses fetches. Who calls it on the actor that
  /// iterates, or on the executor that is told, gets no update after it has returned.
  public func cancel() {
    // What was published is taken out and ends behind the lock: it may hold many pages, and closures.
    let (follower, delivery, published) = state.withLock { state in
      state.isCancelled = true
      defer { (state.follower, state.delivery, state.published) = (nil, nil, nil) }
      return (state.follower, state.delivery, state.published)
    }
    follower?.cancel()
    delivery?.cancel()
    announcement.announce()
    withExtendedLifetime(published) {}
  }

  /// How iterations end.
  enum Ending: Sendable {
    case none, quiet
    /// A failure, and its number.
    case failure(ListError, UInt64)
  }

  /// How an iteration ends that has heard of some failures already.
  func ending(behind heardFailures: UInt64) -> Ending {
    state.withLock { state in
      if state.isCancelled || state.isEnded { return .quiet }
      guard let failure = state.failure, state.failureCount > heardFailures else { return .none }
      return .failure(failure, state.failureCount)
    }
  }

  var failureCount: UInt64 { state.withLock { $0.failureCount } }
  var healedFailureCount: UInt64 { state.withLock { $0.healedFailureCount } }
}

// MARK: Fetching

extension FetchController {
  /// Fetches the list as it is now: it includes every append that was acknowledged before the call.
  @discardableResult
  public func performFetch() async throws(ListError) -> FetchSnapshot<Item, Section> {
    let snapshot = try await fetch(reaching: rows.store.head.sequence)
    heal()
    return snapshot
  }

  /// Lets those go on who were told of a failure and wait for a fetch that succeeds, also one that finds nothing new.
  private func heal() {
    state.withLock { $0.healedFailureCount = $0.failureCount }
    announcement.announce()
  }

  /// The list with an append in it, and everything before it. Where the store is open for reading, this waits
  /// until it sees that much of what its writer appends; a cancelled task throws `cancelled`. The receipt of another
  /// store, which the list would wait for in vain, throws `otherStore`.
  @discardableResult
  public func reaches(_ receipt: AppendReceipt) async throws(ListError) -> FetchSnapshot<Item, Section> {
    let (store, last) = (rows.store, receipt.sequences.upperBound)
    guard receipt.storeID == store.log.storeID else { throw .otherStore(receipt.store, expected: store.id) }
    while store.head.sequence < last {
      let number = announcement.number
      if Task.isCancelled || isCancelled { throw .cancelled }
      // Who cancels the list announces it.
      try await ListError.wrapping {
        try await store.wait(beyond: last - 1, or: [(announcement, beyond: number)])
      }
    }
    let snapshot = try await fetch(reaching: last)
    heal()
    return snapshot
  }

  /// Replaces the request. Iterations of `updates` deliver one difference from the old list to the new one.
  ///
  /// Where another call replaces it again meanwhile, the list of that one is returned, and a list that was not begun by
  /// then is never made. Where the request is refused, the one before stays in force.
  @discardableResult
  public func apply(
    _ request: ListRequest<Item, Section>
  ) async throws(ListError) -> FetchSnapshot<Item, Section> {
    _ = try replaceRequest(by: request, ofGeneration: nil)
    return try await performFetch()
  }

  /// Changes the request that is in force. Of two calls at once neither undoes what the other one changed.
  ///
  /// - Parameter change: a pure function. It is called again where the request was replaced meanwhile.
  @discardableResult
  public func apply(
    changing change: @Sendable (inout ListRequest<Item, Section>) -> Void
  ) async throws(ListError) -> FetchSnapshot<Item, Section> {
    while true {
      var (request, generation) = state.withLock { ($0.request, $0.generation) }
      change(&request)
      if try replaceRequest(by: request, ofGeneration: generation) { return try await performFetch() }
    }
  }

  /// Puts another request in force; false where the one in force is no more that of a generation.
  private func replaceRequest(
    by request: ListRequest<Item, Section>, ofGeneration generation: UInt64?
  ) throws(ListError) -> Bool {
    // A request that does not compile is refused before it is in force.
    _ = try request.compiled(decode: rows.decode)
    let (isReplaced, isCancelled, old) = state.withLock { state in
      guard generation ?? state.generation == state.generation else {
        return (false, state.isCancelled, request)
      }
      defer {
        state.request = request
        state.generation += 1
      }
      return (true, state.isCancelled, state.request)
    }
    // The old request ends behind the lock: its closures may hold whatever a program likes.
    withExtendedLifetime(old) {}
    if isCancelled { throw .cancelled }
    if isReplaced { counts.withLock { $0.requestsReplaced += 1 } }
    return isReplaced
  }

  package func fetch(reaching sequence: UInt64) async throws(ListError) -> FetchSnapshot<Item, Section> {
    if isBuilt { return try await fetchInTurn(reaching: sequence) }
    try await ListError.wrapping {
      try await building.take(.it)
    }
    defer { building.give() }
    return try await fetchInTurn(reaching: sequence)
  }

  /// Whether the list of the request in force is there.
  private var isBuilt: Bool { state.withLock { $0.published?.generation == $0.generation } }

  private func fetchInTurn(reaching sequence: UInt64) async throws(ListError) -> FetchSnapshot<Item, Section>
  {
    while true {
      let prepared = try prepared()
      if let shown = prepared.published, shown.sequence >= sequence { return shown }
      counts.withLock { $0.fetches += 1 }
      // What is shown never goes back, whatever other fold the request in force may read.
      let wanted = max(sequence, published?.snapshot.sequence ?? 0)
      let set = try await ListError.wrapping {
        try await prepared.rows.projector.state(reaching: wanted, with: prepared.lease)
      }
      switch publish(prepared.snapshot(of: set), prepared, set.appendCount) {
      case .published(let snapshot): return snapshot
      case .superseded:
        counts.withLock { $0.resultsRefused += 1 }
        continue
      case .cancelled: throw .cancelled
      }
    }
  }

  /// The request in force made ready, and its number.
  struct Prepared: Sendable {
    var request: ListRequest<Item, Section>
    var rows: RowTable<Item>
    var list: CompiledList
    var lease: ViewLease
    var generation: UInt64
    /// What was published of it.
    var published: FetchSnapshot<Item, Section>?

    /// The list over a state that holds its view.
    func snapshot(of set: TableSet) -> FetchSnapshot<Item, Section> { request.snapshot(of: set, rows, list) }
  }

  /// The request that is in force, with a view that is held.
  func prepared() throws(ListError) -> Prepared {
    let (request, generation, published, isCancelled) = state.withLock {
      ($0.request, $0.generation, $0.published, $0.isCancelled)
    }
    if isCancelled { throw .cancelled }
    let rows = rows.folded(for: request)
    if let published, published.generation == generation {
      return Prepared(
        request: request, rows: rows, list: published.list, lease: published.lease, generation: generation,
        published: published.snapshot)
    }
    let list = try request.compiled(decode: rows.decode)
    return Prepared(
      request: request, rows: rows, list: list, lease: rows.projector.lease(list.definition, of: rows.name),
      generation: generation)
  }

  /// The number of the request that is in force.
  var generation: UInt64 { state.withLock { $0.generation } }

  enum Publication {
    case published(FetchSnapshot<Item, Section>)
    case superseded
    case cancelled
  }

  @discardableResult
  func publish(
    _ snapshot: FetchSnapshot<Item, Section>, _ prepared: Prepared, _ appendCount: UInt64
  ) -> Publication {
    let generation = prepared.generation
    let (publication, old) = state.withLock { state -> (Publication, Published?) in
      if state.isCancelled { return (.cancelled, nil) }
      guard state.generation == generation else { return (.superseded, nil) }
      let old = state.published
      if let old, old.snapshot.sequence >= snapshot.sequence {
        if old.generation == generation { return (.published(old.snapshot), nil) }
        // What is shown never goes back, whichever fold the request reads.
        if old.snapshot.sequence > snapshot.sequence { return (.superseded, nil) }
      }
      state.published = Published(
        snapshot: snapshot, list: prepared.list, lease: prepared.lease, generation: generation,
        number: state.nextNumber, appendCount: appendCount)
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
      decode: rows.decode, decodeSection: decodeSection, encodeSection: encodeSection,
      token: set.chain.map { ListToken(storeID: rows.store.log.storeID, sequence: set.sequence, chain: $0) })
  }
}
