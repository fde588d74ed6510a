// Which consumers make a list follow the log, and which do not.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataViews
internal import Testing

@Suite struct FollowingTests {
  @Test
  func `Who waits without wishing to follow is no reason to follow`() async {
    let announcement = Announcement()
    let waiting = Task { await announcement.wait(beyond: .none) }
    while !announcement.hasWaiters { await Task.yield() }
    #expect(!announcement.hasFollowingWaiters)
    let following = Task { await announcement.wait(beyond: .none, follows: true) }
    while !announcement.hasFollowingWaiters { await Task.yield() }
    announcement.announce()
    await waiting.value
    await following.value
    #expect(!announcement.hasWaiters)
  }

  @Test
  func `Where nobody waits any more the follower ends at the next append, and folds nothing`() async throws {
    let home = try await Household()
    let iteration = Task { for try await _ in home.list.updates {} }
    await waiting { home.list.announcement.hasFollowingWaiters && home.list.phase == .following }
    iteration.cancel()
    try await iteration.value
    let fetches = home.list.statistics.fetches
    try await home.chores.delete(0)
    await waiting { home.list.phase == .idle }
    #expect(home.list.statistics.fetches == fetches)
  }

  @Test
  func `A façade's newest list follows the store while its delegate is busy, and while it is to follow`()
    async throws
  {
    let chores = try await FacadeTests.chores()
    let (controller, _, queue) = FacadeTests.held(chores)
    controller.isMonitoring = true
    try await controller.performFetch()
    // The queue runs nothing, as if the delegate were busy.
    for id in 10..<13 {
      try await chores.put(FacadeTests.chore(id))
      await waiting { controller.object(with: id) != nil }
    }
    #expect(controller.list.phase == .following)
    queue.runAll()
    controller.isMonitoring = false
    queue.runAll()
    try await chores.put(FacadeTests.chore(13))
    await waiting { controller.list.phase == .idle }
    #expect(controller.object(with: 13) == nil)
  }

  @Test
  func `A façade that was told of a failure follows again when it is fetched, and not before`() async throws {
    let chores = try await FacadeTests.chores()
    let (controller, spy, queue) = FacadeTests.held(chores)
    controller.isMonitoring = true
    try await controller.performFetch()
    queue.runAll()
    controller.list.failFollowing(with: .store(.poisoned("a sync failed")))
    queue.runAll()
    #expect(controller.statistics.failureCount == 1 && controller.list.phase == .failed)
    queue.runAll()
    #expect(controller.statistics.failureCount == 1 && spy.callCount == 0)
    try await controller.performFetch()
    #expect(controller.list.phase == .following)
    try await chores.put(FacadeTests.chore(10))
    while spy.callCount == 0 {
      queue.runAll()
      await Task.yield()
    }
    #expect(controller.currentSnapshot?.contains(10) == true)
  }
}

extension FetchController {
  var phase: PhaseName { state.withLock { $0.phase.name } }
}
