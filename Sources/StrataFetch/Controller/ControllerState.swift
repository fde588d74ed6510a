// The state machine of a fetch controller, as a value: it takes no locks, never waits and starts no tasks.

internal import StrataLists

/// A list as the state machine sees it: with the sequence of its last event.
protocol SequencedList: Sendable {
  var sequence: UInt64 { get }
}

/// The state of a fetch controller. Each method is one transition, and returns what the shell does next.
///
/// The phase says which task follows the log, if any:
///
/// | phase     | follow    | stopped | abandon | failed | ended | heal | cancel    |
/// |-----------|-----------|---------|---------|--------|-------|------|-----------|
/// | idle      | following |         |         |        |       |      | cancelled |
/// | following |           | idle    | idle    | failed | ended |      | cancelled |
/// | failed    | following |         |         |        |       | idle | cancelled |
/// | ended     |           |         |         |        |       |      | cancelled |
/// | cancelled |           |         |         |        |       |      |           |
///
/// In every phase but `cancelled`, requests can be replaced and lists published: a closed store can still be read.
/// After `cancelled`, nothing is shown, and there is no way back.
struct ControllerState<Request: Sendable, List: SequencedList>: Sendable {
  enum Phase: Sendable {
    /// No task follows the log.
    case idle
    /// This task follows it.
    case following(CancellableTask)
    /// Following ended with a failure that no fetch has healed yet. The next consumer that waits makes it try again.
    case failed
    /// The store was closed: there is nothing left to follow.
    case ended
    case cancelled
  }

  typealias Actions = ControllerActions<List>

  /// A list that was published.
  struct Published: Sendable {
    let list: List
    let epoch: RequestEpoch
    let number: PublicationNumber
  }

  private(set) var phase = Phase.idle
  private(set) var request: Request
  /// The request's number: a fetch that began for an older request is not published.
  private(set) var epoch = RequestEpoch.none
  /// Nil before the first publication and after cancellation.
  private(set) var published: Published?
  private var lastNumber = PublicationNumber.none
  /// Why following failed last. Every position records the last failure that it received, so that it receives each
  /// failure once and none from before it began. The failure outlives the phase `failed`, because positions may look
  /// later.
  private(set) var failure: (error: ListError, id: FailureID)?
  /// The last failure after which a fetch succeeded.
  private(set) var healed = FailureID.none
  /// Whether the log is followed even while no consumer waits.
  private(set) var keepsFollowing = false
  /// The task that notifies the delegate.
  private(set) var delivery: CancellableTask?

  init(request: Request) { self.request = request }

  var isCancelled: Bool { if case .cancelled = phase { true } else { false } }
  /// Whether the list of the request in force has been published.
  var isBuilt: Bool { published?.epoch == epoch }
  var lastFailure: FailureID { failure?.id ?? .none }
}

// MARK: Requests and lists

extension ControllerState {
  /// Puts another request in force.
  ///
  /// - Parameter expected: the request that the new one was made from; nil to replace any.
  mutating func replaceRequest(
    by new: Request, of expected: RequestEpoch? = nil
  ) -> (Replacement, ControllerActions<Request>) {
    if let expected, expected != epoch { return (isCancelled ? .cancelled : .overtaken, .none) }
    let old = request
    request = new
    epoch = epoch.next
    return (isCancelled ? .cancelled : .replaced, ControllerActions(release: old))
  }

  /// Publishes a list that was made for a request. The published sequence never goes back, whichever fold a request
  /// reads.
  mutating func publish(_ list: List, of made: RequestEpoch) -> (Publication, Actions) {
    if isCancelled { return (.cancelled, .none) }
    guard made == epoch else { return (.superseded, .none) }
    var actions = Actions.wake
    if let shown = published {
      if shown.list.sequence >= list.sequence {
        if shown.epoch == made { return (.alreadyShown, actions) }
        if shown.list.sequence > list.sequence { return (.superseded, .none) }
      }
      actions.release = shown.list
    }
    lastNumber = lastNumber.next
    published = Published(list: list, epoch: made, number: lastNumber)
    assert(isBuilt, "the published list is of the request in force")
    return (.published, actions)
  }
}

// MARK: Following

extension ControllerState {
  /// Called when a consumer waits: starts following the log, unless a task does so already or there is nothing to
  /// follow.
  mutating func follow(with task: @autoclosure () -> CancellableTask) -> Actions {
    switch phase {
    case .idle, .failed:
      let task = task()
      phase = .following(task)
      return Actions(startFollowing: task)
    case .following, .ended, .cancelled: return .none
    }
  }

  /// Sets whether the log is followed even while no consumer waits.
  mutating func keepFollowing(_ keeps: Bool, with task: @autoclosure () -> CancellableTask) -> Actions {
    keepsFollowing = keeps
    return keeps ? follow(with: task()) : .none
  }

  /// The task stops following, because no consumer waits. Returns whether it was the one that followed.
  @discardableResult
  mutating func followerStopped(_ task: CancellableTask) -> Bool {
    guard isFollowed(by: task) else { return false }
    phase = .idle
    return true
  }

  /// Ends the task that follows if it may wait for an append while the request in force has no list. The next one begins
  /// with that list.
  mutating func abandonFollowing() -> Actions {
    guard !isBuilt, case .following(let task) = phase else { return .none }
    phase = .idle
    return Actions(cancel: [task])
  }

  /// The task cannot continue. All current positions receive the failure; one that begins later tries again.
  mutating func followerFailed(_ task: CancellableTask, with error: ListError) -> Actions {
    guard isFollowed(by: task) else { return .none }
    phase = .failed
    failure = (error, lastFailure.next)
    assert(healed < lastFailure, "only a later fetch heals a failure")
    return .wake
  }

  /// The store was closed.
  mutating func followerEnded(_ task: CancellableTask) -> Actions {
    guard isFollowed(by: task) else { return .none }
    phase = .ended
    return .wake
  }

  private func isFollowed(by task: CancellableTask) -> Bool {
    if case .following(let current) = phase { current === task } else { false }
  }

  /// Called after a successful fetch: consumers that received a failure continue, even if nothing new was found.
  mutating func heal() -> Actions {
    if isCancelled { return .none }
    healed = lastFailure
    if case .failed = phase { phase = .idle }
    return .wake
  }
}

// MARK: Notifying

extension ControllerState {
  /// How a consumer ends that has received all failures up to `heard`.
  func ending(after heard: FailureID) -> Ending {
    switch phase {
    case .cancelled: return .cancelled
    case .ended: return .ended
    case .idle, .following, .failed:
      guard let failure, failure.id > heard else { return .none }
      return .failed(failure.error, failure.id)
    }
  }

  /// Replaces the delivery; the previous one is cancelled.
  mutating func replaceDelivery(by new: CancellableTask?) -> Actions {
    if isCancelled { return Actions(cancel: [new].compactMap { $0 }) }
    defer { delivery = new }
    return Actions(cancel: [delivery].compactMap { $0 })
  }

  /// Ends everything. The published list is dropped.
  mutating func cancel() -> Actions {
    if isCancelled { return .none }
    var actions = Actions.wake
    if case .following(let task) = phase { actions.cancel.append(task) }
    if let delivery { actions.cancel.append(delivery) }
    actions.release = published?.list
    phase = .cancelled
    (delivery, published, keepsFollowing) = (nil, nil, false)
    return actions
  }
}
