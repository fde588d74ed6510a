// Random walks through the controller's state machine, checked against the invariants of every state.

internal import Foundation
@testable internal import StrataFetch
@testable internal import StrataLists
internal import StrataTesting
internal import Testing

@Suite struct ControllerStateWalkTests {
  @Test(arguments: 0..<8)
  func `Whatever happens in whatever order, what holds of a state holds`(_ part: Int) {
    var random = SeededGenerator(seed: SeededGenerator.testSeed("ControllerStateWalkTests \(part)"))
    var phases: Set<PhaseName> = []
    for _ in 0..<100 {
      var walk = StateWalk(random: random.split())
      for step in 0..<60 {
        walk.step()
        phases.insert(walk.state.phase.name)
        if !walk.faults.isEmpty {
          Issue.record(
            "after \(step): \(walk.faults.joined(separator: "; ")): \(walk.story.joined(separator: ", "))")
          return
        }
      }
    }
    #expect(phases == Set(PhaseName.allCases), "the walks did not reach every phase")
  }
}

/// A state, and a model of its past.
private struct StateWalk {
  /// A fetch in progress.
  private struct Fetch {
    var epoch: RequestEpoch
    var list: NamedList
  }

  /// A consumer, and the failures that it was notified of since it began.
  private struct Consumer {
    var heard: FailureID
    var failuresBefore: Int
    var told: [Int] = []
  }

  private(set) var state = PlainState(request: "r0")
  private(set) var story: [String] = []
  private(set) var faults: [String] = []
  private var random: SeededGenerator

  private var requestCount = 0
  private var epochs: [RequestEpoch] = [.none]
  private var head: UInt64 = 1
  private var fetches: [Fetch] = []
  private var shown: PlainState.Published?
  private var follower: CancellableTask?
  private var formerFollowers: [CancellableTask] = []
  private var delivery: CancellableTask?
  /// Whether the last follower failed, and neither a fetch nor another follower came after it.
  private var hasFailed = false
  private var isEnded = false
  private var isCancelled = false
  private var failureCount = 0
  private var consumers: [Consumer] = []

  init(random: SeededGenerator) { self.random = random }

  mutating func step() {
    switch Int.random(in: 0..<42, using: &random) {
    case 0..<4: replace()
    case 4..<10:
      fetches.append(Fetch(epoch: state.epoch, list: NamedList(name: "l\(head)", sequence: newHead())))
    case 10..<18: publish()
    case 18..<23: follow(keeps: nil)
    case 23: follow(keeps: Bool.random(using: &random))
    case 24..<30: endFollower()
    case 30..<32: heal()
    case 32..<34: consumers.append(Consumer(heard: state.lastFailure, failuresBefore: failureCount))
    case 34..<38: look()
    case 38: deliver()
    case 39..<41: abandon()
    default: if Int.random(in: 0..<4, using: &random) == 0 { cancel() }
    }
    check()
  }

  private mutating func fail(_ what: String, unless isRight: Bool) { if !isRight { faults.append(what) } }

  private mutating func newHead() -> UInt64 {
    head += UInt64.random(in: 0...2, using: &random)
    // Sometimes the fold lags.
    return Int.random(in: 0..<5, using: &random) == 0 ? head / 2 : head
  }

  // MARK: Steps

  private mutating func replace() {
    requestCount += 1
    let expected = epochs.randomElement(using: &random)
    let isExpected = Bool.random(using: &random) || expected == state.epoch
    let (before, old) = (state.epoch, state.request)
    let (outcome, actions) = state.replaceRequest(
      by: "r\(requestCount)", of: isExpected ? state.epoch : expected)
    story.append("replace")
    fail("a request was kept though it was replaced", unless: (state.epoch != before) == isExpected)
    fail("an epoch did not grow", unless: state.epoch == (isExpected ? before.next : before))
    fail("the old request was not released", unless: actions.release == (isExpected ? old : nil))
    if case .replaced = outcome { fail("replaced and overtaken", unless: isExpected && !isCancelled) }
    if state.epoch != before { epochs.append(state.epoch) }
  }

  private mutating func publish() {
    guard let index = fetches.indices.randomElement(using: &random) else { return }
    let fetch = fetches.remove(at: index)
    let before = state.published
    let (outcome, actions) = state.publish(fetch.list, of: fetch.epoch)
    story.append("publish \(fetch.list.sequence)")
    let isInForce = fetch.epoch == state.epoch && !isCancelled
    fail(
      "a superseded or cancelled request was published",
      unless: isInForce || outcome == .superseded || isCancelled)
    fail("a cancelled state published", unless: (outcome == .cancelled) == isCancelled)
    if state.published?.number != before?.number {
      fail("the shown list was not published", unless: outcome == .published)
      fail("the shown list is not the fetched one", unless: state.published?.list == fetch.list)
      fail("the old list was not released", unless: actions.release == before?.list)
      fail("waiting tasks were not woken", unless: actions.wake)
    } else {
      fail("the shown list was released", unless: actions.release == nil)
      let isNewer = before.map { fetch.list.sequence > $0.list.sequence } ?? true
      fail("a newer list was not shown", unless: !isInForce || !isNewer)
      let isOfSame = isInForce && before?.epoch == fetch.epoch
      fail("an equally new list is not reported", unless: (outcome == .alreadyShown) == isOfSame)
    }
    fail("publishing follows or cancels", unless: actions.startFollowing == nil && actions.cancel.isEmpty)
  }

  private mutating func follow(keeps: Bool?) {
    let task = CancellableTask()
    let actions = keeps.map { state.keepFollowing($0, with: task) } ?? state.follow(with: task)
    story.append("follow")
    let begins = keeps != false && follower == nil && !isEnded && !isCancelled
    fail("following was started twice, or not at all", unless: (actions.startFollowing != nil) == begins)
    if let started = actions.startFollowing {
      fail("another task was started", unless: started === task)
      follower = started
      hasFailed = false
    }
  }

  private mutating func endFollower() {
    // Sometimes a task that no longer follows, or never did.
    let isCurrent = Int.random(in: 0..<4, using: &random) != 0
    let task = (isCurrent ? follower : formerFollowers.randomElement(using: &random)) ?? CancellableTask()
    let isFollower = task === follower
    switch Int.random(in: 0..<8, using: &random) {
    case 0..<3:
      story.append("stopped")
      state.followerStopped(task)
    case 3..<7:
      story.append("failed")
      let actions = state.followerFailed(task, with: .row("\(failureCount)"))
      if isFollower {
        failureCount += 1
        hasFailed = true
      }
      fail("a failure did not wake, or a stale one did", unless: actions.wake == isFollower)
    default:
      story.append("ended")
      let actions = state.followerEnded(task)
      if isFollower { isEnded = true }
      fail("an end did not wake, or a stale one did", unless: actions.wake == isFollower)
    }
    if isFollower { follower = nil }
    formerFollowers.append(task)
  }

  private mutating func abandon() {
    let expected = state.isBuilt ? nil : follower
    let ended = state.abandonFollowing().cancel
    story.append("abandon")
    fail("another task was ended, or none", unless: ended.first === expected && ended.count < 2)
    guard let expected else { return }
    formerFollowers.append(expected)
    follower = nil
  }

  private mutating func heal() {
    story.append("heal")
    fail("a fetch did not wake", unless: state.heal().wake != isCancelled)
    fail("a failure was not healed", unless: isCancelled || state.healed == state.lastFailure)
    hasFailed = false
  }

  private mutating func deliver() {
    let next = Bool.random(using: &random) ? CancellableTask() : nil
    let cancelled = state.replaceDelivery(by: next).cancel
    story.append("deliver")
    let expected = isCancelled ? next : delivery
    fail("the old delivery was not cancelled", unless: cancelled.first === expected && cancelled.count < 2)
    if !isCancelled { delivery = next }
  }

  /// A consumer checks how it ends.
  private mutating func look() {
    guard let index = consumers.indices.randomElement(using: &random) else { return }
    switch state.ending(after: consumers[index].heard) {
    case .cancelled: fail("it ended although it is not cancelled", unless: isCancelled)
    case .ended: fail("it ended although the store is open", unless: isEnded && !isCancelled)
    case .none:
      fail("it did not end", unless: !isCancelled && !isEnded)
      let consumer = consumers[index]
      let last = consumer.told.last.map { $0 + 1 } ?? consumer.failuresBefore
      fail("a failure was not reported", unless: last == failureCount)
    case .failed(.row(let what), let id):
      let number = Int(what) ?? -1
      let consumer = consumers[index]
      fail("the failure is not the last one", unless: number == failureCount - 1)
      fail("the failure is older than the consumer", unless: number >= consumer.failuresBefore)
      fail("a failure was reported twice", unless: !consumer.told.contains(number))
      consumers[index].told.append(number)
      consumers[index].heard = id
    case .failed(let error, _): faults.append("another failure: \(error)")
    }
  }

  private mutating func cancel() {
    story.append("cancel")
    let actions = state.cancel()
    let expected = isCancelled ? [] : [follower, delivery].compactMap { $0 }
    fail(
      "not every task was cancelled",
      unless: actions.cancel.map(ObjectIdentifier.init) == expected.map(ObjectIdentifier.init))
    fail("the shown list was not released", unless: actions.release == shown?.list)
    isCancelled = true
    (follower, delivery) = (nil, nil)
  }

  // MARK: Invariants

  private mutating func check() {
    let old = shown
    shown = state.published
    if isCancelled {
      fail("a cancelled state shows a list", unless: shown == nil)
      fail("a cancelled state is no longer cancelled", unless: state.phase.name == .cancelled)
      return
    }
    fail("a phase without its reason", unless: (state.phase.name == .following) == (follower != nil))
    fail("a failure without its reason", unless: (state.phase.name == .failed) == hasFailed)
    fail("an end without its reason", unless: (state.phase.name == .ended) == isEnded)
    fail("a cancelled phase without its reason", unless: state.phase.name != .cancelled)
    fail("more failures were healed than occurred", unless: state.healed <= state.lastFailure)
    guard let new = shown else { return fail("the shown list disappeared", unless: old == nil) }
    fail("the list is of an unknown request", unless: new.epoch <= state.epoch)
    guard let old else { return }
    fail("the shown list went back", unless: new.list.sequence >= old.list.sequence && new.epoch >= old.epoch)
    fail("a number went back", unless: new.number >= old.number)
    fail("another list has the same number", unless: new.number > old.number || new.list == old.list)
  }
}
