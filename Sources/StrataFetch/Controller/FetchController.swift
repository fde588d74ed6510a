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
/// What fetches, applies and looks into the past throws ``ListError``, and `CancellationError` where the task or the list
/// was cancelled.
///
/// Safe to use from any task and thread. `snapshot`, `updates`, `cancel()` and the lookups of a snapshot do not
/// wait; `performFetch`, `apply` and the past do.
public final class FetchController<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  // The cycle, and who runs what:
  //
  //   apply        a caller's task puts a request in force: `state.replaceRequest`
  //   fetch        the same task, or the follower's, makes a list with it; the projector's threads fold
  //   publish      the list is shown where its request is still in force: `state.publish`
  //   wake         `announcement` wakes all consumers; each looks on its own task, and finds its own difference
  //   wait         a consumer that has nothing to tell waits, and has the log followed: `state.follow`
  //   follow       one detached task waits for the store, and fetches: from the top
  //
  // All that changes, and what guards it:
  //
  //   state         its own lock: the request, what is published, who follows, why that failed, the delegate's task.
  //                 Under it runs the state machine alone. No code of a program, no task and no other lock is
  //                 touched: what a transition asks for is done behind the lock, and what it replaced ends there.
  //   announcement  its own lock: a number, and who waits for the next one
  //   counts        its own lock: statistics
  //   building      its own lock: whose turn it is to make the list of a new request
  //
  // No two of these locks are held at a time. Where a consumer stands is the consumer's own: see `ListConsumer`.
  typealias State = ControllerState<ListRequest<Item, Section>, FetchedList<Item, Section>>

  let rows: RowTable<Item>
  let state: Lock<State>
  let announcement = Announcement()
  let counts: Lock<ListStatistics>
  /// Who makes the list of a request that was put in force. One at a time, so that of many requests at once those that
  /// others have replaced by then are never begun.
  let building = Turns<OneThing>()

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
    // Nobody waits, since who waits for news of a list keeps it or is ended here.
    let actions = state.withLock { $0.cancel() }
    for task in actions.cancel { task.cancel() }
  }

  /// The request that is in force.
  public var request: ListRequest<Item, Section> { state.withLock { $0.request } }

  /// The newest list that was fetched; nil before the first fetch and after `cancel()`. It is kept up to date
  /// while somebody iterates over `updates`.
  public var snapshot: FetchSnapshot<Item, Section>? { state.withLock { $0.published?.list.snapshot } }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Ends all iterations, tells delegates nothing more, and refuses fetches. Who calls it on the actor that
  /// iterates, or on the executor that is told, gets no update after it has returned.
  public func cancel() { change { $0.cancel() } }
}

/// A list that was fetched, and what keeps its view up to date.
struct FetchedList<Item: Identifiable & Sendable, Section: Hashable & Sendable>: SequencedList
where Item.ID: DocumentID {
  var snapshot: FetchSnapshot<Item, Section>
  var list: CompiledList
  var lease: ViewLease
  var appendCount: AppendCount

  var sequence: UInt64 { snapshot.sequence }
}

// MARK: The shell of the state machine

extension FetchController {
  /// Makes a transition, and does what it asks for once the lock is given back.
  func change(_ transition: (inout State) -> State.Actions) {
    perform(state.withLock { transition(&$0) })
  }

  /// The same for a transition that has an outcome.
  @inline(__always)
  func change<Outcome, Old>(
    _ transition: (inout State) -> (Outcome, ControllerActions<Old>)
  ) -> Outcome {
    let (outcome, actions) = state.withLock { transition(&$0) }
    perform(actions)
    return outcome
  }

  @inline(__always)
  private func perform<Old>(_ actions: ControllerActions<Old>) {
    if let task = actions.startFollowing { startFollowing(with: task) }
    for task in actions.cancel { task.cancel() }
    if actions.wake { announcement.announce() }
    withExtendedLifetime(actions.release) {}
  }
}
