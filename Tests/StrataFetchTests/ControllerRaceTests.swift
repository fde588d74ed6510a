// What the controller promises under concurrency: endings, cancellation, readers, lifetimes.

internal import Foundation
@testable internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct ControllerRaceTests {
  private typealias List = FetchController<Chore, Unsectioned>
  private static let all = ListRequest(Chore.self).sorted(by: \.title)

  private func fixture(_ count: Int = 1) async throws -> (EventStore, DocumentCollection<Chore>) {
    let store = EventStore.inMemory()
    let chores = store.collection("task", of: Chore.self)
    for id in 0..<count { try await chores.put(Chore(id: id, title: "t\(id)")) }
    return (store, chores)
  }

  @Test
  func `What was appended before the store was closed is delivered before the iteration ends`() async throws {
    for _ in 0..<100 {
      let (store, chores) = try await fixture()
      let list = List(Self.all, from: chores)
      let seen = Task {
        var last = 0
        for try await update in list.updates { last = update.after.numberOfItems }
        return last
      }
      while !list.announcement.hasWaiters { await Task.yield() }
      try await chores.put(Chore(id: 9, title: "last"))
      try await store.close()
      #expect(try await seen.value == 2)
    }
  }

  @Test
  func `R58 An iteration never misses that its controller was cancelled`() async throws {
    let (_, chores) = try await fixture()
    for round in 0..<2_000 {
      let list = List(Self.all, from: chores)
      let iteration = Task {
        var updates = list.updates.makeAsyncIterator()
        while try await updates.next() != nil {}
      }
      while list.snapshot == nil { await Task.yield() }
      // At different delays from the moment at which it begins to wait.
      for _ in 0..<round % 200 { _ = list.announcement.number }
      list.cancel()
      try await iteration.value
    }
  }

  @Test @MainActor
  func `R58 After cancel() has returned, nothing is delivered on the same actor`() async throws {
    let (_, chores) = try await fixture()
    for round in 0..<20 {
      let list = List(Self.all, from: chores)
      let count = Count()
      let following = Task { @MainActor in for try await _ in list.updates { count.value += 1 } }
      while !list.announcement.hasWaiters { await Task.yield() }
      try await chores.put(Chore(id: 100 + round, title: "x"))
      // Keeps the actor busy until the update is on its way to it.
      list.blockUntilUpdateIsOnItsWay(reaching: chores.store.head.sequence)
      list.cancel()
      let before = count.value
      try await following.value
      #expect(count.value == before)
    }
  }

  @MainActor private final class Count { var value = 0 }

  @Test @MainActor
  func `A live list that was cancelled keeps what it showed`() async throws {
    let (_, chores) = try await fixture()
    for round in 0..<20 {
      let list = LiveList(Self.all, from: chores)
      while !list.controller.announcement.hasWaiters { await Task.yield() }
      let shown = list.snapshot?.sequence
      try await chores.put(Chore(id: 100 + round, title: "x"))
      list.controller.blockUntilUpdateIsOnItsWay(reaching: chores.store.head.sequence)
      let before = list.snapshot?.sequence
      list.cancel()
      for _ in 0..<50 { await Task.yield() }
      #expect(list.snapshot?.sequence == before && shown != nil)
    }
  }

  @Test @MainActor
  func `A live list whose request was refused follows the one that replaces it`() async throws {
    let (_, chores) = try await fixture()
    let list = LiveList(Self.all.filtered(by: "title =="), from: chores)
    while true {
      if case .failed = list.phase { break }
      await Task.yield()
    }
    try await list.apply(Self.all)
    for _ in 0..<10_000 where list.snapshot == nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(list.snapshot?.numberOfItems == 1)
    guard case .ready = list.phase else { return #expect(Bool(false), "\(list.phase)") }
    try await chores.put(Chore(id: 5, title: "x"))
    for _ in 0..<10_000 where list.snapshot?.numberOfItems == 1 {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(list.snapshot?.numberOfItems == 2)
  }

  @Test
  func `A list over a store that is open for reading waits for an append of the writer`() async throws {
    let files = MemoryFileSystem()
    let options = StoreOptions()
    let writer = try EventStore.open(files, path: "/store", .readWrite, options: options)
    let chores = writer.collection("task", of: Chore.self)
    try await chores.put(Chore(id: 0, title: "a"))
    let reader = try EventStore.open(files, path: "/store", .readOnly, options: options)
    let seen = reader.collection("task", of: Chore.self)
    let list = List(Self.all, from: seen)
    #expect(try await list.performFetch().numberOfItems == 1)
    for id in 1...5 {
      let receipt = try await chores.put(Chore(id: id, title: "b"))
      let snapshot = try await list.fetch(through: receipt)
      #expect(snapshot.sequence >= receipt.sequences.upperBound)
      #expect(snapshot.contains(id))
    }
    // Its updates also follow the writer.
    var updates = list.updates.makeAsyncIterator()
    _ = try await updates.next()
    try await chores.put(Chore(id: 9, title: "c"))
    #expect(try await updates.next()?.changes.insertions.map(\.id) == [9])
    await #expect(throws: StoreError.readOnly) { try await seen.put(Chore(id: 7, title: "no")) }
    try await reader.close()
    #expect(try await updates.next() == nil)
    #expect(try await list.performFetch().numberOfItems == 7)
    try await writer.close()
  }

  @Test
  func `Reading a store that is open for reading is enough for it to follow its writer`() async throws {
    let files = MemoryFileSystem()
    let writer = try EventStore.open(files, path: "/store", .readWrite, options: StoreOptions())
    let reader = try EventStore.open(files, path: "/store", .readOnly, options: StoreOptions())
    let seen = reader.collection("task", of: Chore.self)
    #expect(try await seen[1] == nil)
    try await writer.collection("task", of: Chore.self).put(Chore(id: 1, title: "a"))
    for _ in 0..<10_000 where try await seen[1] == nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try await seen[1]?.title == "a")
  }

  @Test
  func `A wait for an append that a reader does not see ends when its task is cancelled or the store closed`()
    async throws
  {
    let files = MemoryFileSystem()
    let writer = try EventStore.open(files, path: "/store", .readWrite, options: StoreOptions())
    let chores = writer.collection("task", of: Chore.self)
    var receipt = try await chores.put(Chore(id: 1, title: "a"))
    // A receipt that this store will give later.
    receipt.sequences = 5...5
    let list = List(Self.all, from: chores)
    let waiting = Task { [receipt] in try await list.fetch(through: receipt) }
    while !writer.log.tail.hasWaiters { await Task.yield() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let closing = Task { [receipt] in try await list.fetch(through: receipt) }
    while !writer.log.tail.hasWaiters { await Task.yield() }
    try await writer.close()
    await #expect(throws: ListError.self) { try await closing.value }
  }

  @Test
  func `Nothing keeps a controller or its store alive once both are dropped`() async throws {
    weak var list: List?
    weak var store: EventStore?
    weak var projector: Projector?
    do {
      let (opened, chores) = try await fixture()
      let controller = List(Self.all.filtered(id: "named") { !$0.title.isEmpty }, from: chores)
      list = controller
      store = opened
      projector = chores.table.projector
      let following = Task { [updates = controller.updates] in for try await _ in updates {} }
      while !controller.announcement.hasWaiters { await Task.yield() }
      // An iteration that is abandoned while its follower waits.
      following.cancel()
      try await following.value
    }
    for _ in 0..<10_000 where list != nil || store != nil || projector != nil {
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(list == nil && store == nil && projector == nil)
  }

  @Test
  func `R61 Two iterations of one controller both learn of a failure`() async throws {
    let (_, chores) = try await fixture()
    let list = List(Self.all, from: chores)
    let iterations = (0..<2).map { _ in Task { for try await _ in list.updates {} } }
    while !list.announcement.hasWaiters { await Task.yield() }
    chores.store.log.tail.finish(.poisoned("a sync failed"))
    for iteration in iterations {
      await #expect(throws: ListError.self) { try await iteration.value }
    }
    // A new iteration begins with the current list, and fails when it would have to wait.
    var updates = list.updates.makeAsyncIterator()
    #expect(try await updates.next()?.reason == .initial)
    await #expect(throws: ListError.self) { try await updates.next() }
  }

  @Test
  func `A store that was closed still answers, and its lists end after what is there`() async throws {
    let (store, chores) = try await fixture(3)
    let list = List(Self.all, from: chores)
    try await store.close()
    #expect(try await list.performFetch().numberOfItems == 3)
    #expect(try await chores[1]?.title == "t1")
    #expect(try await chores.all(at: .sequence(2)).count == 2)
    #expect(try await list.snapshot(at: .sequence(1)).numberOfItems == 1)
    var updates = list.updates.makeAsyncIterator()
    #expect(try await updates.next()?.reason == .initial)
    #expect(try await updates.next() == nil)
    await #expect(throws: StoreError.closed) { try await chores.update(1) { $0.title = "x" } }
  }
}

extension FetchController {
  /// Blocks the calling thread until the update of a sequence was published and had time to be computed.
  fileprivate func blockUntilUpdateIsOnItsWay(reaching sequence: UInt64) {
    for _ in 0..<10_000 where snapshot?.sequence != sequence {
      Thread.sleep(forTimeInterval: 0.0002)
    }
    Thread.sleep(forTimeInterval: 0.003)
  }
}
