// The state machine of a fetch controller, as a value: it locks nothing, waits for nothing and starts nothing.

internal import StrataLists

/// A list as the state machine sees it: with the sequence of the last event that is in it.
protocol SequencedList: Sendable {
  var sequence: UInt64 { get }
}

/// What a fetch controller is at a moment. Each method is one transition, and returns what its shell does next.
///
/// The phase says who follows the log:
///
/// | phase     | follow    | stopped | failed | ended | heal | cancel    |
/// |-----------|-----------|---------|--------|-------|------|-----------|
/// | idle      | following |         |        |       |      | cancelled |
/// | following |           | idle    | failed | ended |      | cancelled |
/// | failed    | following |         |        |       | idle | cancelled |
/// | ended     |           |         |        |       |      | cancelled |
/// | cancelled |           |         |        |       |      |           |
///
/// In every phase but `cancelled` a request may be replaced and a list published: a store that was closed still
/// answers. What is cancelled shows nothing, and stays so.
struct ControllerState<Request: Sendable, List: SequencedList>: Sendable {
  enum Phase: Sendable {
    /// Nobody follows the log.
    case idle
    /// This task follows it.
    case following(CancellableTask)
    /// Following ended with a failure that no fetch has healed yet. Who waits next has it tried again.
    case failed
    /// The store was closed: there is nothing to follow any more.
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
  /// The request's number: a fetch that was begun for an older one is not published.
  private(set) var epoch = RequestEpoch.none
  /// Nil before the first publication, and once it is cancelled.
  private(set) var published: Published?
  private var lastNumber = PublicationNumber.none
  /// Why following failed last. Every position knows up to which failure it has heard, so that each hears of one
  /// once, and none hears of what was before it. It outlives the phase `failed`: positions look when they like.
  private(set) var failure: (error: ListError, id: FailureID)?
  /// The last failure behind which somebody fetched, and got the list.
  private(set) var healed = FailureID.none
  /// Whether the log is followed also while nobody waits.
  private(set) var keepsFollowing = false
  /// What tells the delegate.
  private var delivery: CancellableTask?

  init(request: Request) { self.request = request }

  var isCancelled: Bool { if case .cancelled = phase { true } else { false } }
  /// Whether the list of the request in force is there.
  var isBuilt: Bool { published?.epoch == epoch }
  var lastFailure: FailureID { failure?.id ?? .none }
}

// MARK: Requests and lists

extension ControllerState {
  /// Puts another request in force.
  ///
  /// - Parameter expected: the request that it was made from; nil where that does not matter.
  mutating func replaceRequest(
    by new: Request, of expected: RequestEpoch? = nil
  ) -> (Replacement, ControllerActions<Request>) {
    if let expected, expected != epoch { return (isCancelled ? .cancelled : .overtaken, .none) }
    let old = request
    request = new
    epoch = epoch.next
    return (isCancelled ? .cancelled : .replaced, ControllerActions(release: old))
  }

  /// Shows a list that was made for a request. What is shown never goes back, whichever fold a request reads.
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
    assert(isBuilt, "what is published is of the request in force")
    return (.published, actions)
  }
}

// MARK: Following

extension ControllerState {
  /// Somebody waits: has the log followed, unless that is done already or there is nothing to follow.
  mutating func follow(with task: @autoclosure () -> CancellableTask) -> Actions {
    switch phase {
    case .idle, .failed:
      let task = task()
      phase = .following(task)
      return Actions(startFollowing: task)
    case .following, .ended, .cancelled: return .none
    }
  }

  /// Has the log followed also while nobody waits, or only for those who do.
  mutating func keepFollowing(_ keeps: Bool, with task: @autoclosure () -> CancellableTask) -> Actions {
    keepsFollowing = keeps
    return keeps ? follow(with: task()) : .none
  }

  /// The task follows no more, since nobody waits.
  mutating func followerStopped(_ task: CancellableTask) {
    if isFollowed(by: task) { phase = .idle }
  }

  /// The task cannot go on. All positions that there are now hear of it; one that begins later tries again.
  mutating func followerFailed(_ task: CancellableTask, with error: ListError) -> Actions {
    guard isFollowed(by: task) else { return .none }
    phase = .failed
    failure = (error, lastFailure.next)
    assert(healed < lastFailure, "a failure is healed by a fetch behind it")
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

  /// Somebody fetched the list: those go on who were told of a failure, also where nothing new was found.
  mutating func heal() -> Actions {
    if isCancelled { return .none }
    healed = lastFailure
    if case .failed = phase { phase = .idle }
    return .wake
  }
}

// MARK: Telling

extension ControllerState {
  /// How a consumer ends that has heard of some failures already.
  func ending(after heard: FailureID) -> Ending {
    switch phase {
    case .cancelled: return .cancelled
    case .ended: return .ended
    case .idle, .following, .failed:
      guard let failure, failure.id > heard else { return .none }
      return .failed(failure.error, failure.id)
    }
  }

  /// Puts another delivery in the place of the one that there was.
  mutating func replaceDelivery(by new: CancellableTask?) -> Actions {
    if isCancelled { return Actions(cancel: [new].compactMap { $0 }) }
    defer { delivery = new }
    return Actions(cancel: [delivery].compactMap { $0 })
  }

  /// Ends everything. What was published is shown no more.
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
