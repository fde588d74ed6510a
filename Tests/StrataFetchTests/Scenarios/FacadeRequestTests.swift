// How a diffable fetch controller's request is changed, and how it is fetched on a thread that blocks.

internal import Dispatch
internal import StrataBase
internal import StrataEvents
@testable internal import StrataFetch
@testable internal import StrataLists
@testable internal import StrataPast
@testable internal import StrataViews
internal import StrataTables
internal import Testing

@Suite struct FacadeRequestTests {
  private typealias Controller = FacadeTests.Controller
  private typealias Spy = FacadeTests.Spy

  @Test
  func
    `R22 A closure that configures runs at every fetch, and changes the list only where it changes the request`()
    async throws
  {
    let chores = try await FacadeTests.chores()
    let (spy, controller) = (Spy(), Controller(FacadeTests.request, from: chores))
    let (hidden, runs) = (Lock(0), Lock(0))
    controller.setDelegate(spy)
    controller.configureFetch = { request in
      runs.withLock { $0 += 1 }
      request.filter = "id != \(hidden.withLock { $0 })"
    }
    #expect(try await controller.performFetch().itemIdentifiers.sorted() == [1, 2])
    #expect(controller.fetchRequest.filter == "id != \(0)")
    let replaced = controller.list.statistics.requestsReplaced
    try await controller.performFetch()
    #expect(controller.list.statistics.requestsReplaced == replaced)
    hidden.withLock { $0 = 1 }
    #expect(try await controller.performFetch().itemIdentifiers.sorted() == [0, 2])
    let change = try #require(await spy.next())
    #expect(change.update.reason == .reconfigured && change.inserts == [0] && change.deletes == [1])
    #expect(spy.callCount == 1 && runs.withLock { $0 } == 3)
    controller.configureFetch = nil
    hidden.withLock { $0 = 2 }
    #expect(try await controller.performFetch().itemIdentifiers.sorted() == [0, 2])
  }

  /// The state of a screen that its request depends on.
  @MainActor private final class Search {
    var text = "a"
  }

  @Test @MainActor
  func `R22 A closure that configures may read the state of the main actor`() async throws {
    let chores = try await FacadeTests.chores()
    let controller = Controller(FacadeTests.request, from: chores)
    let search = Search()
    controller.configureFetch = { @MainActor [weak search] request in
      request.filter = search.map { "title == \($0.text)" }
    }
    #expect(try await controller.performFetch().itemIdentifiers == [0])
    search.text = "c"
    #expect(try await Task.detached { try await controller.performFetch() }.value.itemIdentifiers == [2])
  }

  @Test
  func `R22 A refinement is added, kept by later changes, and removed`() async throws {
    let chores = try await FacadeTests.chores(6)
    let controller = Controller(FacadeTests.request, from: chores)
    for (isRefined, count) in [(true, 3), (false, 6), (true, 3)] {
      let snapshot = try await controller.apply {
        if isRefined { $0.refine { $0.filtered { $0.owner == nil } } } else { $0.removeRefinement() }
      }
      #expect(snapshot.numberOfItems == count)
    }
    #expect(try await controller.apply { $0.filter = "id > 0" }.itemIdentifiers == [2, 4])
    // What a closure leaves as it was, refined or not, is the same request.
    let replaced = controller.list.statistics.requestsReplaced
    controller.configureFetch = { $0.filter = "id > 0" }
    try await controller.performFetch()
    #expect(controller.list.statistics.requestsReplaced == replaced)
    controller.configureFetch = { $0.refine { $0.filtered { $0.owner == nil } } }
    try await controller.performFetch()
    #expect(controller.list.statistics.requestsReplaced == replaced + 1)
  }

  @Test
  func `R22 A request that is rejected leaves the one before in force, whatever it is rejected for`()
    async throws
  {
    let chores = try await FacadeTests.chores()
    let controller = Controller(FacadeTests.request, from: chores)
    try await controller.performFetch()
    let request = controller.fetchRequest
    await #expect(throws: DiffableFetchError.self) {
      try await controller.apply { $0.refine { $0.filtered { !$0.isDone }.kept(as: "x") } }
    }
    #expect(controller.fetchRequest.isSame(as: request))
    await #expect(throws: DiffableFetchError.self) {
      try await controller.apply { $0.filter = FilterTemplate(parsing: "title ==") }
    }
    #expect(controller.fetchRequest.isSame(as: request))
    #expect(try await controller.apply { $0.fetchLimit = 1 }.numberOfItems == 1)
  }

  @Test
  func `R63 A fetch that blocks returns what the other returns, on a thread of the program`() async throws {
    let chores = try await FacadeTests.chores()
    let controller = Controller(FacadeTests.request, from: chores)
    for count in 3..<6 {
      let snapshot = try await blocking { try controller.performFetchBlocking() }
      #expect(snapshot.numberOfItems == count)
      #expect(controller.currentSnapshot != nil)
      try await chores.put(FacadeTests.chore(count))
    }
    controller.cancel()
    await #expect(throws: CancellationError.self) {
      try await blocking { try controller.performFetchBlocking() }
    }
  }

  @Test
  func `R63 Fetches that block on many threads at once all return`() async throws {
    let chores = try await FacadeTests.chores()
    let controller = Controller(FacadeTests.request, from: chores)
    controller.configureFetch = { @MainActor in $0.filter = "id != 0" }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<16 {
        group.addTask { try await blocking { try controller.performFetchBlocking() }.numberOfItems }
      }
      for try await count in group { #expect(count == 2) }
    }
  }

  @Test
  func `R63 A fetch that blocks stops the program in a task, before it can block the threads of tasks`() async
  {
    await #expect(processExitsWith: .failure) {
      let chores = EventStore.inMemory().collection("task", of: Chore.self)
      let controller = DiffableFetchController<Chore, Unsectioned>(chores, sortKeys: [.init(\.id)])
      _ = try controller.performFetchBlocking()
    }
  }

  @Test
  func `R63 A fetch that blocks stops the program on the main queue, also outside of a task`() async {
    await #expect(processExitsWith: .failure) {
      let chores = EventStore.inMemory().collection("task", of: Chore.self)
      let controller = DiffableFetchController<Chore, Unsectioned>(chores, sortKeys: [.init(\.id)])
      await withCheckedContinuation { done in
        DispatchQueue.main.async {
          _ = try? controller.performFetchBlocking()
          done.resume()
        }
      }
    }
  }

  @Test
  func
    `R36 A change is a whole diffable snapshot in which what changed is marked, with structure or without`()
    async throws
  {
    let chores = try await FacadeTests.chores(4)
    let (controller, spy, queue) = FacadeTests.held(chores)
    try await controller.performFetch()
    queue.runAll()
    // A row alone.
    try await controller.process(try await chores.update(1) { $0.isDone = true })
    queue.runAll()
    var change = try #require(await spy.next())
    var snapshot = try change.diffableSnapshot()
    #expect(change.snapshot == nil && snapshot.itemIdentifiers == change.update.after.itemIdentifiers)
    #expect(snapshot.reconfiguredItemIdentifiers == [1])
    // Moved with its row, beside an insertion and a deletion.
    try await chores.update(3) { $0.owner = nil }
    try await chores.put(FacadeTests.chore(9))
    try await controller.process(try await chores.delete(0))
    queue.runAll()
    change = try #require(await spy.next())
    snapshot = try change.diffableSnapshot()
    #expect(snapshot.sectionIdentifiers == change.snapshot?.sectionIdentifiers)
    #expect(snapshot.itemIdentifiers == change.snapshot?.itemIdentifiers)
    #expect(snapshot.reconfiguredItemIdentifiers == [3])
  }

  @Test
  func `R56 The list behind the controller is the one that it shows`() async throws {
    let chores = try await FacadeTests.chores()
    let controller = Controller(FacadeTests.request, from: chores)
    let snapshot = try await controller.performFetch()
    #expect(controller.list.snapshot?.itemIdentifiers == snapshot.itemIdentifiers)
    #expect(try await controller.list.snapshot(at: .sequence(1)).itemIdentifiers == [0])
  }
}

/// Runs a body on a thread that may block.
private func blocking<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { done in
    DispatchQueue.global().async { done.resume(with: Swift.Result { try body() }) }
  }
}
