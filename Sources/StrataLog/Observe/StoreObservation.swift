// What is known of what a store did, and how it reaches those who observe it.

package import StrataBase
internal import Synchronization

/// The counters of an open store, its last activities, and the queue to its observer.
///
/// Its cycle: a thread of the store that has done something notes it here, which takes this object's lock for a moment and
/// calls nothing. Iterators of the activities pull: each is a number, and the activities up to it were delivered. The
/// observer is called by a thread of its own, which takes all that waits and calls without a lock; it ends when nothing
/// came for a second, and the next note starts another one.
///
/// - `state` is guarded by its gate.
/// - `listenerCount` is atomic: it says only whether a clock is worth reading.
/// - Everything else is immutable.
package final class StoreObservation: Sendable {
  /// How many activities and steps may wait for the observer.
  package static let queueMax = 1_024
  /// From how many on no step is added, so that activities find room.
  package static let queuedStepsMax = queueMax - queueMax / 4
  /// How many activities an iterator may lag behind, and one that begins finds.
  package static let keptMax = 256
  /// How long the observer's thread waits for more before it ends.
  private static let restTime = Duration.seconds(1)

  private enum Item {
    case activity(StoreActivity)
    case step(StoreStep)
  }

  private struct State {
    /// The last activities, and how many there were before them.
    var kept: [StoreActivity] = []
    var forgottenCount: UInt64 = 0
    /// Iterators that wait, each for an activity beyond a number.
    var waiters = WaitList<UInt64, Void>()
    var isEnded = false
    /// What waits for the observer, and how much was dropped since something was added last.
    var queue: [Item] = []
    var missedCount: UInt64 = 0
    var hasThread = false
    var recovery: TailRecovery?

    var count: UInt64 { forgottenCount + UInt64(kept.count) }
  }

  package let counters = StoreCounters()
  private let observer: (any StoreObserver)?
  /// The same, if it wants calls.
  private let caller: (any StoreCallObserver)?
  private let machine: StoreMachine
  /// The least time of a sync that is slow.
  private let slowSyncMin: Duration
  private let state = Gate(State())
  private let listenerCount = Atomic<Int>(0)

  package init(_ options: StoreOptions) {
    observer = options.observer
    caller = observer as? any StoreCallObserver
    machine = options.machine
    slowSyncMin = options.slowSyncMin
  }

  /// Whether steps have a taker: one load and one branch where they have none.
  @inline(__always) package var takesSteps: Bool { observer != nil }

  /// Whether a clock is worth reading.
  private var isTimed: Bool { observer != nil || listenerCount.load(ordering: .relaxed) > 0 }

  /// A call of the program that an observer wants to know of.
  package struct Call: Sendable {
    fileprivate var begin: MonotonicTime
    fileprivate var context: (any Sendable)?
  }

  /// Begins a call, on the thread or in the task that makes it: one load and one branch where nobody observes.
  ///
  /// - Parameter isTraced: whether the call is of no interest without a context.
  @inline(__always)
  package func beginCall(isTraced: Bool = false) -> Call? {
    observer == nil || isTraced && caller == nil ? nil : begunCall(isTraced)
  }

  @inline(never)
  private func begunCall(_ isTraced: Bool) -> Call? {
    let context = caller?.contextOfCall()
    return isTraced && context == nil ? nil : Call(begin: .now(), context: context)
  }

  /// Notes that a call has ended; does nothing without one.
  @inline(__always)
  package func end(_ call: Call?, _ work: @autoclosure () -> StoreStep.Work) {
    if let call { note(work(), since: call.begin, call.context) }
  }

  /// The time now, if somebody observes.
  package var now: MonotonicTime? { isTimed ? .now() : nil }

  /// The torn tail that the last open found.
  package var recovery: TailRecovery? { state.withLock { $0.recovery } }

  // MARK: Noting

  /// Notes an activity. Calls nothing, and may be called with any lock but this object's.
  package func note(_ activity: StoreActivity) {
    let (ready, begins) = state.withLock { state in
      state.kept.append(activity)
      if state.kept.count > Self.keptMax {
        state.kept.removeFirst()
        state.forgottenCount += 1
      }
      let count = state.count
      return (state.waiters.take { $0 < count }, add(.activity(activity), to: &state))
    }
    for continuation in ready { continuation.resume() }
    wake(begins)
  }

  /// Notes a step that began at a time and ends now. Call it only if `takesSteps`.
  package func note(_ work: StoreStep.Work, since begin: MonotonicTime, _ context: (any Sendable)? = nil) {
    let duration = begin.elapsed
    let wall = systemNanoseconds() - duration.wholeNanoseconds
    let step = StoreStep(work, begin: wall, duration: duration, context: context)
    wake(state.withLock { add(.step(step), to: &$0) })
  }

  /// Notes that the open has found a torn tail.
  func noteTail(_ recovery: TailRecovery?) {
    state.withLock { $0.recovery = recovery }
    if let recovery { note(.tailFound(recovery)) }
  }

  /// Notes that the tail was cut off.
  func noteCut(_ recovery: TailRecovery) {
    counters.addCutTail()
    state.withLock { $0.recovery = recovery }
    note(.tailCut(recovery))
  }

  /// Counts a sync, with its time if somebody observes.
  func noteSync(_ time: Duration?) {
    counters.addSync(time: time)
    if let time, time >= slowSyncMin { note(.slowSync(time)) }
  }

  /// Adds an item if there is room. Returns whether a thread has to be started for it.
  private func add(_ item: Item, to state: inout State) -> Bool {
    guard observer != nil else { return false }
    var limit = Self.queueMax
    if case .step = item { limit = Self.queuedStepsMax }
    // What was missed is said first, which takes room too.
    guard state.queue.count + (state.missedCount > 0 ? 1 : 0) < limit else {
      state.missedCount += 1
      counters.addDropped()
      return false
    }
    if state.missedCount > 0 {
      state.queue.append(.activity(.missed(state.missedCount)))
      state.missedCount = 0
    }
    state.queue.append(item)
    defer { state.hasThread = true }
    return !state.hasThread
  }

  // MARK: The observer

  private func wake(_ begins: Bool) {
    guard observer != nil else { return }
    guard begins else { return state.signalAll() }
    let thread = try? machine.start("strata-observe") { [self] in callObserver() }
    // The next note tries again.
    if thread == nil { state.withLock { $0.hasThread = false } }
  }

  private func callObserver() {
    while let items = next() {
      for item in items {
        switch item {
        case .activity(let activity): observer?.store(did: activity)
        case .step(let step): observer?.store(took: step)
        }
      }
    }
  }

  /// All that waits; nil if nothing came for a while, or nothing more will: the thread then ends.
  private func next() -> [Item]? {
    _ = state.wait(timeout: Self.restTime) { !$0.queue.isEmpty || $0.isEnded }
    return state.withLock { state in
      if state.queue.isEmpty, state.missedCount > 0 {
        state.queue.append(.activity(.missed(state.missedCount)))
        state.missedCount = 0
      }
      guard !state.queue.isEmpty else {
        state.hasThread = false
        return nil
      }
      defer { state.queue = [] }
      return state.queue
    }
  }

  // MARK: The activities

  /// Lets iterators end after the last activity.
  package func end() {
    let ready = state.withLock { state in
      state.isEnded = true
      return state.waiters.takeAll()
    }
    for continuation in ready { continuation.resume() }
    state.signalAll()
  }

  func addListener() { listenerCount.add(1, ordering: .relaxed) }
  func removeListener() { listenerCount.subtract(1, ordering: .relaxed) }

  /// The activity after a number of them, which is raised; nil once the store is closed and all were delivered, or the
  /// task is cancelled.
  func next(after position: inout UInt64) async -> StoreActivity? {
    while !Task.isCancelled {
      let (found, isEnded, ticket) = state.withLock { state -> (StoreActivity?, Bool, UInt64) in
        if position < state.forgottenCount {
          defer { position = state.forgottenCount }
          return (.missed(state.forgottenCount - position), false, 0)
        }
        if position < state.count {
          defer { position += 1 }
          return (state.kept[Int(position - state.forgottenCount)], false, 0)
        }
        return (nil, state.isEnded, state.isEnded ? 0 : state.waiters.ticket())
      }
      if let found { return found }
      if isEnded { return nil }
      await wait(ticket, beyond: position)
    }
    return nil
  }

  private func wait(_ ticket: UInt64, beyond position: UInt64) async {
    await withTaskCancellationHandler {
      await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
        let waits = state.withLock { state in
          state.count <= position && !state.isEnded && state.waiters.add(ticket, for: position, continuation)
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.cancel(ticket) }?.resume()
    }
    state.withLock { $0.waiters.forget(ticket) }
  }
}
