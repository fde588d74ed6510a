// The fetch controller: a list that stays up to date, and the same list at any point of the past.

internal import StrataBase
public import StrataEvents
public import StrataLists
internal import StrataLog
internal import StrataPast
public import StrataTables

/// Keeps a list of a store's rows up to date, and reports what changed.
///
/// ```swift
/// let list = FetchController(request, from: incidents)
/// for try await update in list.updates {
///   view.apply(update.changes)
/// }
/// ```
///
/// - Every update is the difference between what its iteration delivered last and the newest state at the end of an
///   append. A slow consumer receives one larger difference; nothing is queued for it.
/// - An append that changes nothing visible in the list makes no update.
/// - Every delivered list is the state after exactly one append. It includes every append that its store had
///   acknowledged before the call that made the list. For a store that is open for reading, it includes what the store
///   has seen of its writer; `fetch(through:)` waits for more.
///
/// Fetching, `apply` and reading the past throw ``/StrataLists/ListError``, and `CancellationError` if the task or the list was
/// cancelled.
///
/// Safe to use from any task and thread. `snapshot`, `updates`, `cancel()` and the lookups of a snapshot do not wait;
/// `performFetch`, `apply` and reading the past do.
public final class FetchController<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  // The cycle, and which task runs each step:
  //
  //   apply        a caller's task puts a request in force: `state.replaceRequest`
  //   fetch        the same task, or the follower's, makes a list with it; the projector's threads fold
  //   publish      the list is published if its request is still in force: `state.publish`
  //   wake         `announcement` wakes all consumers; each looks on its own task and finds its own difference
  //   wait         a consumer that has nothing to deliver waits, and has the log followed: `state.follow`
  //   follow       one detached task waits for the store, then fetches: the cycle starts again. If the request in force
  //                has no list, because the fetch of `apply` failed, it fetches at once
  //
  // All mutable state, and what guards it:
  //
  //   state         its own lock: the request, the published list, the following task, its failure, and the delivery.
  //                 Only the state machine runs under it. No user code, no task and no other lock is touched there:
  //                 the actions of a transition run after the lock is released, and replaced values are released then.
  //   announcement  its own lock: a number, and the tasks that wait for the next one
  //   counts        its own lock: statistics, but for decoded rows and lists of the past
  //   decodedRows   atomic: each thread that makes a list adds to it at each row
  //   pastCounter   its own lock: what is done for those, also while a consumer looks at them
  //   lastCompiled  its own lock: the request that was compiled last
  //   building      its own lock: which task makes the list of a new request
  //   fetching      its own lock: what the fetch that began last waits for
  //
  // No two of these locks are held at the same time. A consumer's position belongs to the consumer: see `ListConsumer`.
  typealias State = ControllerState<ListRequest<Item, Section>, FetchedList<Item, Section>>

  let rows: RowTable<Item>
  let state: Lock<State>
  let announcement = Announcement()
  let counts = Lock(ListStatistics())
  let decodedRows = DecodedRowCounter()
  let pastCounter = PastCounter()
  /// The request of an epoch as compiled; nil before the first one.
  let lastCompiled = Lock<(epoch: RequestEpoch, list: CompiledList)?>(nil)
  /// The turn to make the list of a new request. One task at a time, so that of many requests at once, those that have
  /// been replaced by then are never begun.
  let building = Turns<OneThing>()
  /// What the fetch that began last waits for; nil if it is over.
  let fetching = Lock<AwaitedState?>(nil)

  /// - Parameter source: a collection of documents, or a table of a projection.
  public init(
    _ request: ListRequest<Item, Section>, from source: some RowSource<Item>
  ) {
    rows = source.table.counting(in: decodedRows)
    state = Lock(State(request: request))
  }

  deinit {
    // No announcement is needed: a waiting consumer keeps the controller alive, or its task is cancelled here.
    let actions = state.withLock { $0.cancel() }
    for task in actions.cancel { task.cancel() }
  }

  /// The request that is in force.
  public var request: ListRequest<Item, Section> { state.withLock { $0.request } }

  /// The list that was fetched last; nil before the first fetch and after `cancel()`. It is kept up to date while
  /// `updates` is being iterated over.
  public var snapshot: ListSnapshot<Item, Section>? { state.withLock { $0.published?.list.snapshot } }

  /// The number of the list that was published last; nil before the first one and after `cancel()`.
  var publishedNumber: PublicationNumber? { state.withLock { $0.published?.number } }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func checkNotCancelled() throws(CancellationError) { if isCancelled { throw CancellationError() } }

  /// Ends all iterations and all delegate callbacks, and makes later fetches and reads of the past throw. If it is called
  /// on the actor that iterates, or on the executor of the callbacks, no update is delivered there after it has returned.
  /// A scrubber that was made before goes on.
  public func cancel() { change { $0.cancel() } }
}

/// A list that was fetched, and what keeps its view up to date.
struct FetchedList<Item: Identifiable & Sendable, Section: Hashable & Sendable>: SequencedList
where Item.ID: DocumentID {
  var snapshot: ListSnapshot<Item, Section>
  var list: CompiledList
  var lease: ViewLease
  var appendCount: AppendCount

  var sequence: UInt64 { snapshot.sequence }
}

// MARK: The shell of the state machine

extension FetchController {
  /// Makes a transition, and performs its actions after the lock is released.
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
