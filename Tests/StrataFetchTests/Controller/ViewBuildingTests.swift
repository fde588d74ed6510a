// Lists of large tables: they are built beside the folding, with progress, and given up when nobody waits.

internal import Foundation
internal import StrataBase
internal import StrataEvents
@testable internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataTesting
internal import Synchronization
internal import Testing

@Suite struct ViewBuildingTests {
  /// Holds the function of a request until it is opened.
  private final class Barrier: Sendable {
    private let gate = Gate((isOpen: false, hasArrived: false))

    func pass() {
      gate.withLock { $0.hasArrived = true }
      gate.signalAll()
      gate.wait(until: { $0.isOpen })
    }

    func open() {
      gate.withLock { $0.isOpen = true }
      gate.signalAll()
    }

    /// Suspends until the function is called.
    func arrival() async {
      while !gate.withLock({ $0.hasArrived }) { await Task.yield() }
    }
  }

  private static let all = ListRequest(Chore.self).sorted(by: \.title)
  /// Held requests keep no thread from other tests.
  private static let machine = StoreMachine(threads: .system)

  private func fixture(_ count: Int, buildingMin: Int = 1) async throws -> (
    EventStore, DocumentCollection<Chore>
  ) {
    var options = StoreOptions()
    options.viewBuildingMin = buildingMin
    options.machine = Self.machine
    let store = EventStore.inMemory(options: options)
    let chores = store.collection("task", of: Chore.self)
    try await chores.put((0..<count).map { Chore(id: $0, title: "t\($0)") })
    return (store, chores)
  }

  private func held(_ barrier: Barrier) -> ListRequest<Chore, Unsectioned> {
    Self.all.filtered(id: "held") { _ in
      barrier.pass()
      return true
    }
  }

  @Test
  func `A list that is being built does not hold up another one, and has what came meanwhile`() async throws {
    let (store, chores) = try await fixture(20)
    let shown = FetchController(Self.all, from: chores)
    try await shown.performFetch()
    let barrier = Barrier()
    let list = FetchController(held(barrier), from: chores)
    let fetch = Task { try await list.performFetch() }
    await barrier.arrival()
    for id in 20..<30 {
      let receipt = try await chores.put(Chore(id: id, title: "t\(id)"))
      #expect(try await shown.fetch(through: receipt).contains(id))
    }
    try await chores.delete(3)
    #expect(try await shown.performFetch().numberOfItems == 29)
    #expect(list.snapshot == nil)
    barrier.open()
    let built = try await fetch.value
    #expect(try await Set(shown.performFetch().itemIdentifiers) == Set(list.performFetch().itemIdentifiers))
    #expect(built.contains(29) && !built.contains(3))
    #expect(list.progress == nil)
    try await store.close()
  }

  @Test
  func `A cancelled fetch ends at once, and the list that only it waited for is given up`() async throws {
    let (store, chores) = try await fixture(20)
    let barrier = Barrier()
    let list = FetchController(held(barrier), from: chores)
    let fetch = Task { try await list.performFetch() }
    await barrier.arrival()
    let projector = store.projector(.documents(only: nil))
    #expect(projector.state.withLock { $0.followers.count } == 1)
    fetch.cancel()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    #expect(list.progress == nil)
    // The call that is held has a thread; nothing more is done after it.
    #expect(projector.state.withLock { $0.followers.values.allSatisfy { $0.follower.slice.isOver } })
    barrier.open()
    #expect(try await list.performFetch().numberOfItems == 20)
    try await store.close()
  }

  @Test
  func `A request whose fetch is cancelled is made for an iteration that waits, without an append`()
    async throws
  {
    let (store, chores) = try await fixture(20)
    let list = FetchController(Self.all, from: chores)
    let iteration = Task {
      for try await update in list.updates where update.reason == .reconfigured {
        return update.after.numberOfItems
      }
      return 0
    }
    await waiting { list.announcement.hasFollowingWaiters && list.phase == .following }
    try await cancelApply(of: 7, on: list)
    #expect(try await iteration.value == 7)
    try await store.close()
  }

  @Test
  func `A request whose fetch is cancelled is made for an iteration that was busy meanwhile`() async throws {
    let (store, chores) = try await fixture(20)
    let list = FetchController(Self.all, from: chores)
    var updates = list.updates.makeAsyncIterator()
    _ = try await updates.next()
    // Followed, though nobody waits.
    list.keepFollowing(true)
    list.keepFollowing(false)
    try await cancelApply(of: 7, on: list)
    let update = try #require(try await updates.next())
    #expect(update.reason == .reconfigured && update.after.numberOfItems == 7)
    try await store.close()
  }

  @Test
  func `A request whose fetch is cancelled is not made where nobody follows, and the next fetch makes it`()
    async throws
  {
    let (store, chores) = try await fixture(20)
    let list = FetchController(Self.all, from: chores)
    try await list.performFetch()
    try await cancelApply(of: 7, on: list)
    #expect(list.phase == .idle && list.snapshot?.numberOfItems == 20)
    #expect(try await list.performFetch().numberOfItems == 7)
    try await store.close()
  }

  /// Applies a request with a limit, and cancels this while its list is being built.
  private func cancelApply(of limit: Int, on list: FetchController<Chore, Unsectioned>) async throws {
    let barrier = Barrier()
    let request = held(barrier).limited(to: limit)
    let apply = Task { try await list.apply(changing: { $0 = request }) }
    await barrier.arrival()
    apply.cancel()
    await #expect(throws: CancellationError.self) { try await apply.value }
    barrier.open()
  }

  @Test
  func `Two fetches wait for one building, and it goes on if one of them is cancelled`() async throws {
    let (store, chores) = try await fixture(20)
    let barrier = Barrier()
    let calls = Atomic(0)
    let request = Self.all.filtered(id: "counted") { _ in
      barrier.pass()
      calls.add(1, ordering: .relaxed)
      return true
    }
    let (first, second) = (
      FetchController(request, from: chores), FetchController(request, from: chores)
    )
    let fetches = [first, second].map { list in Task { try await list.performFetch() } }
    await barrier.arrival()
    let projector = store.projector(.documents(only: nil))
    while projector.state.withLock({ $0.waiters.wishes.underestimatedCount < 2 }) { await Task.yield() }
    fetches[0].cancel()
    await #expect(throws: CancellationError.self) { try await fetches[0].value }
    barrier.open()
    #expect(try await fetches[1].value.numberOfItems == 20)
    #expect(calls.load(ordering: .relaxed) == 20)
    try await store.close()
  }

  @Test
  func `What is erased while a list is being built is not in it`() async throws {
    let (store, chores) = try await fixture(20)
    let barrier = Barrier()
    let list = FetchController(held(barrier), from: chores)
    let fetch = Task { try await list.performFetch() }
    await barrier.arrival()
    let before = store.projector(.documents(only: nil)).state.withLock { Array($0.followers.values) }
    try await store.erase(Erasure(streams: ["task/7"], because: "asked to"))
    let all = FetchController(Self.all, from: chores)
    #expect(try await !all.performFetch().contains(7))
    barrier.open()
    _ = try await fetch.value
    let snapshot = try await list.performFetch()
    #expect(!snapshot.contains(7))
    #expect(snapshot.numberOfItems == 19)
    let view = try #require(
      store.projector(.documents(only: nil)).published["task"].views.first { view in
        before.contains { $0.follower.definition === view.definition }
      })
    #expect(view.checkInvariants() == nil)
    #expect(view.drifts.isEmpty)
    try await store.close()
  }

  @Test
  func `Progress is at most the number of rows, and is not reported after the fetch`() async throws {
    let (store, chores) = try await fixture(20_000)
    let barrier = Barrier()
    let reports = Lock<[FetchProgress]>([])
    // The other thread goes on, and so does this one after that.
    let list = FetchController(
      Self.all.filtered(id: "held") { chore in
        if chore.id == 0 { barrier.pass() }
        return true
      }, from: chores)
    #expect(list.progress == nil)
    let snapshot = try await list.performFetch { progress in
      reports.withLock { $0.append(progress) }
      if progress.work == .buildingList { barrier.open() }
    }
    let seen = reports.withLock { $0 }
    #expect(snapshot.numberOfItems == 20_000)
    #expect(list.progress == nil)
    for report in seen {
      #expect((0...report.totalCount).contains(report.completedCount))
      #expect((0...1).contains(report.fraction))
    }
    let rows = seen.filter { $0.work == .buildingList }
    #expect(!rows.isEmpty)
    #expect(rows.allSatisfy { $0.totalCount == 20_000 })
    #expect(rows.map(\.completedCount) == rows.map(\.completedCount).sorted())
    try await Task.sleep(for: .milliseconds(120))
    #expect(reports.withLock { $0.count } == seen.count)
    try await store.close()
  }

  @Test @MainActor
  func `A live list says how far it is while it is loading, and not after that`() async throws {
    let (store, chores) = try await fixture(20)
    let barrier = Barrier()
    let list = LiveList(held(barrier), from: chores)
    while list.progress?.work != .buildingList { try await Task.sleep(for: .milliseconds(5)) }
    #expect(list.progress?.totalCount == 20)
    #expect(list.progress?.fraction == 0)
    barrier.open()
    while list.snapshot == nil { try await Task.sleep(for: .milliseconds(5)) }
    #expect(list.progress == nil)
    try await Task.sleep(for: .milliseconds(250))
    #expect(list.progress == nil)
    list.cancel()
    try await store.close()
  }

  @Test
  func `Lists that are built while rows change are those that are built at once`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<500 {
      let count = Int.random(in: 1...60, using: &random)
      let (store, chores) = try await fixture(count)
      var changes: [(id: Int, title: String?)] = []
      for _ in 0..<Int.random(in: 1...20, using: &random) {
        let title = Bool.random(using: &random) ? "t\(Int.random(in: 0..<9, using: &random))" : nil
        changes.append((Int.random(in: 0..<count + 5, using: &random), title))
      }
      let requests = [
        Self.all, Self.all.filtered(id: "even") { $0.id % 2 == 0 },
        Self.all.filtered(id: "some") { $0.title != "t3" },
      ]
      let lists = requests.map { FetchController($0, from: chores) }
      let fetches = lists.map { list in Task { try await list.performFetch() } }
      let cancelled = Int.random(in: 0..<6, using: &random)
      for (number, change) in changes.enumerated() {
        if number == 1, fetches.indices.contains(cancelled) { fetches[cancelled].cancel() }
        if let title = change.title {
          try await chores.put(Chore(id: change.id, title: title))
        } else {
          try await chores.delete(change.id)
        }
      }
      for (list, request) in zip(lists, requests) {
        let snapshot = try await list.performFetch()
        let states = try await store.states(
          at: [.sequence(snapshot.sequence)], .documents(only: nil))
        let definition = try request.compiled(decode: chores.table.decode).definition
        let built = View(definition, of: states[0]["task"])
        let ids = (0..<built.count).map { built.withItem(at: $0) { Array($0.id) } }
        #expect(snapshot.itemIdentifiers.map { Array($0.documentID.utf8) } == ids)
      }
      for fetch in fetches { _ = try? await fetch.value }
      let projector = store.projector(.documents(only: nil))
      #expect(
        projector.state.withLock { $0.waiters.isEmpty && $0.followers.values.allSatisfy { !$0.isRunning } })
      try await store.close()
    }
  }
}
