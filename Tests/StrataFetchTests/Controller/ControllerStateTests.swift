// The transitions of the controller's state machine, each from every phase.

@testable internal import StrataFetch
@testable internal import StrataLists
internal import Testing

@Suite struct ControllerStateTests {
  @Test(arguments: PhaseName.allCases)
  func `A state is in the phase that it was brought to`(_ phase: PhaseName) {
    #expect(PhasedState(phase).state.phase.name == phase)
  }

  // MARK: Following

  @Test(arguments: PhaseName.allCases)
  func `Following begins where nobody follows and there is something to follow`(_ phase: PhaseName) {
    var state = PhasedState(phase).state
    let task = CancellableTask()
    let actions = state.follow(with: task)
    if [.idle, .failed].contains(phase) {
      #expect(actions.startFollowing === task && state.phase.name == .following)
      var others = actions
      others.startFollowing = nil
      #expect(others.isNone)
    } else {
      #expect(actions.isNone && state.phase.name == phase)
    }
    #expect(state.follow(with: CancellableTask()).isNone, "only one task may follow at a time")
  }

  @Test(arguments: PhaseName.allCases)
  func `Following for good begins as following does, and ends nothing`(_ phase: PhaseName) {
    var state = PhasedState(phase).state
    let task = CancellableTask()
    let starts = state.keepFollowing(true, with: task).startFollowing === task
    #expect(starts == [.idle, .failed].contains(phase) && state.keepsFollowing)
    let name = state.phase.name
    #expect(state.keepFollowing(false, with: task).isNone)
    #expect(!state.keepsFollowing && state.phase.name == name)
  }

  @Test(arguments: PhaseName.allCases)
  func `A follower that stops leaves nobody behind that follows`(_ phase: PhaseName) {
    var phased = PhasedState(phase)
    phased.state.followerStopped(CancellableTask())
    #expect(phased.state.phase.name == phase, "the call of another task must have no effect")
    phased.state.followerStopped(phased.follower)
    #expect(phased.state.phase.name == (phase == .following ? .idle : phase))
  }

  @Test(arguments: PhaseName.allCases)
  func `A follower is ended where the request in force has no list, and nowhere else`(_ phase: PhaseName) {
    var phased = PhasedState(phase)
    #expect(phased.state.abandonFollowing().isNone)
    _ = phased.state.replaceRequest(by: "second")
    var actions = phased.state.abandonFollowing()
    if phase == .following {
      #expect(actions.cancel.count == 1 && actions.cancel.first === phased.follower)
      actions.cancel = []
    }
    #expect(actions.isNone && phased.state.phase.name == (phase == .following ? .idle : phase))
  }

  @Test(arguments: PhaseName.allCases)
  func `A follower that fails leaves its failure behind and wakes all`(_ phase: PhaseName) {
    var phased = PhasedState(phase)
    let before = phased.state.lastFailure
    #expect(phased.state.followerFailed(CancellableTask(), with: PhasedState.failure).isNone)
    #expect(phased.state.phase.name == phase && phased.state.lastFailure == before)
    let actions = phased.state.followerFailed(phased.follower, with: PhasedState.failure)
    if phase == .following {
      #expect(actions.isWakeAlone && phased.state.phase.name == .failed)
      #expect(phased.state.lastFailure == before.next)
    } else {
      #expect(actions.isNone && phased.state.phase.name == phase && phased.state.lastFailure == before)
    }
  }

  @Test(arguments: PhaseName.allCases)
  func `A follower that finds its store closed ends the following for good`(_ phase: PhaseName) {
    var phased = PhasedState(phase)
    #expect(phased.state.followerEnded(CancellableTask()).isNone && phased.state.phase.name == phase)
    let actions = phased.state.followerEnded(phased.follower)
    if phase == .following {
      #expect(actions.isWakeAlone && phased.state.phase.name == .ended)
      #expect(phased.state.published != nil)
    } else {
      #expect(actions.isNone && phased.state.phase.name == phase)
    }
  }

  @Test(arguments: PhaseName.allCases)
  func `A fetch heals what failed, and wakes all who are not cancelled`(_ phase: PhaseName) {
    var state = PhasedState(phase).state
    let actions = state.heal()
    if phase == .cancelled {
      #expect(actions.isNone && state.phase.name == .cancelled)
    } else {
      #expect(actions.isWakeAlone && state.healed == state.lastFailure)
      #expect(state.phase.name == (phase == .failed ? .idle : phase))
    }
    #expect(
      (state.lastFailure > .none) == (phase == .failed), "a failure that was healed is still reported")
  }

  @Test(arguments: PhaseName.allCases)
  func `Cancelling ends all tasks, gives back what was shown, and stays`(_ phase: PhaseName) {
    var phased = PhasedState(phase)
    let actions = phased.state.cancel()
    #expect(phased.state.phase.name == .cancelled && phased.state.published == nil)
    if phase == .cancelled {
      #expect(actions.isNone)
    } else {
      #expect(actions.wake && actions.release?.name == "shown" && actions.startFollowing == nil)
      let cancelled = phase == .following ? [phased.follower, phased.delivery] : [phased.delivery]
      #expect(actions.cancel.map(ObjectIdentifier.init) == cancelled.map(ObjectIdentifier.init))
    }
    #expect(phased.state.cancel().isNone)
  }

  // MARK: Requests and lists

  @Test(arguments: PhaseName.allCases)
  func `A request replaces the one before, which is given back`(_ phase: PhaseName) {
    var state = PhasedState(phase).state
    let epoch = state.epoch
    let (replacement, actions) = state.replaceRequest(by: "second")
    #expect(state.request == "second" && state.epoch == epoch.next && !state.isBuilt)
    #expect(actions.release == "first" && !actions.wake && actions.cancel.isEmpty)
    #expect(state.phase.name == phase)
    switch replacement {
    case .replaced: #expect(phase != .cancelled)
    case .cancelled: #expect(phase == .cancelled)
    case .overtaken: Issue.record("the request was not replaced by another one")
    }
  }

  @Test(arguments: PhaseName.allCases)
  func `A request that was made from another one than that in force replaces nothing`(_ phase: PhaseName) {
    var state = PhasedState(phase).state
    let old = state.epoch
    _ = state.replaceRequest(by: "second", of: old)
    let (replacement, actions) = state.replaceRequest(by: "third", of: old)
    #expect(state.request == "second" && state.epoch == old.next && actions.isNone)
    switch replacement {
    case .replaced: Issue.record("it replaced a request that it was not made from")
    case .cancelled: #expect(phase == .cancelled)
    case .overtaken: #expect(phase != .cancelled)
    }
  }

  @Test(arguments: PhaseName.allCases)
  func `A newer list of the request in force is shown, in every phase but one`(_ phase: PhaseName) {
    var state = PhasedState(phase).state
    let number = state.published?.number
    let list = NamedList(name: "newer", sequence: 11)
    let (publication, actions) = state.publish(list, of: state.epoch)
    #expect(state.phase.name == phase)
    if phase == .cancelled {
      #expect(publication == .cancelled && actions.isNone && state.published == nil)
    } else {
      #expect(publication == .published && state.published?.list == list && state.isBuilt)
      #expect(actions.wake && actions.release?.name == "shown" && actions.startFollowing == nil)
      #expect(state.published?.number == number?.next)
    }
  }

  @Test(arguments: PhaseName.allCases)
  func `A list that was made for a request that was replaced is not shown`(_ phase: PhaseName) {
    var state = PhasedState(phase).state
    let old = state.epoch
    _ = state.replaceRequest(by: "second")
    let (publication, actions) = state.publish(NamedList(name: "late", sequence: 99), of: old)
    #expect(actions.isNone && publication == (phase == .cancelled ? .cancelled : .superseded))
    #expect(state.published?.list.name == (phase == .cancelled ? nil : "shown"))
  }

  @Test
  func `Of two lists of one request the newer one is shown, and of two that are as new the first`() {
    var state = PhasedState(.idle).state
    let shown = state.published?.number
    for sequence in [3, 10] as [UInt64] {
      let (publication, actions) = state.publish(NamedList(name: "old", sequence: sequence), of: state.epoch)
      #expect(publication == .alreadyShown && actions.isWakeAlone)
      #expect(state.published?.number == shown)
    }
  }

  @Test
  func `A list of a new request is shown where it is as new as the one before, and not where it is older`() {
    var state = PhasedState(.idle).state
    _ = state.replaceRequest(by: "second")
    let (older, actions) = state.publish(NamedList(name: "second", sequence: 9), of: state.epoch)
    #expect(older == .superseded && actions.isNone && state.published?.list.name == "shown" && !state.isBuilt)
    let (same, others) = state.publish(NamedList(name: "second", sequence: 10), of: state.epoch)
    #expect(same == .published && others.release?.name == "shown" && state.isBuilt)
  }

  // MARK: Delivery

  @Test(arguments: PhaseName.allCases)
  func `A consumer ends as its list does, and hears of a failure that it did not hear of`(_ phase: PhaseName)
  {
    let state = PhasedState(phase).state
    switch state.ending(after: .none) {
    case .none: #expect([.idle, .following].contains(phase))
    case .cancelled: #expect(phase == .cancelled)
    case .ended: #expect(phase == .ended)
    case .failed(.row(let what), let id):
      #expect(phase == .failed && what == "a failure" && id == state.lastFailure)
    case .failed(let error, _): Issue.record("another failure: \(error)")
    }
    if case .failed = state.ending(after: state.lastFailure) { Issue.record("it was already reported") }
  }

  @Test
  func `A failure is heard of also when somebody follows again, and when a fetch has healed it`() {
    var state = PhasedState(.failed).state
    func isHeard() -> Bool { if case .failed = state.ending(after: .none) { true } else { false } }
    _ = state.follow(with: CancellableTask())
    #expect(state.phase.name == .following && isHeard())
    _ = state.heal()
    #expect(isHeard())
  }

  @Test(arguments: PhaseName.allCases)
  func `Another delivery takes the place of the one before, which is cancelled`(_ phase: PhaseName) {
    var phased = PhasedState(phase)
    let next = CancellableTask()
    let cancelled = phased.state.replaceDelivery(by: next).cancel
    // A cancelled state takes no other delivery.
    #expect(cancelled.count == 1 && cancelled.first === (phase == .cancelled ? next : phased.delivery))
    let last = phased.state.replaceDelivery(by: nil).cancel
    #expect(last.count == (phase == .cancelled ? 0 : 1) && last.allSatisfy { $0 === next })
    #expect(phased.state.replaceDelivery(by: nil).isNone)
  }

  // MARK: Release of replaced lists

  /// A list that reports when it is deinitialised.
  private struct EndingList: SequencedList {
    final class Content: Sendable {}

    let content = Content()
    var sequence: UInt64
  }

  @Test
  func `A list that is replaced or cancelled lives until its action is done`() {
    var state = ControllerState<String, EndingList>(request: "first")
    var list: EndingList? = EndingList(sequence: 1)
    weak let content = list?.content
    if let list { _ = state.publish(list, of: state.epoch) }
    list = nil
    #expect(content != nil)
    var actions = state.publish(EndingList(sequence: 2), of: state.epoch).1
    #expect(content != nil, "the list was released while the state changed")
    actions = .none
    #expect(content == nil, "the list was not released")
    weak let shown = state.published?.list.content
    actions = state.cancel()
    #expect(shown != nil, "the list was released while the state changed")
    actions = .none
    #expect(shown == nil && actions.isNone, "the list was not released")
  }
}
