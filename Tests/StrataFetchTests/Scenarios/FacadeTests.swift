// How a diffable fetch controller notifies its delegate: in order, once, on the right executor, and never after the
// end.

internal import Foundation
internal import StrataEvents
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataViews
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct FacadeTests {
  typealias Controller = DiffableFetchController<Chore, String?>
  typealias Spy = DelegateSpy<Chore, String?>

  static let request = DiffableFetchRequest(sectionKey: \Chore.owner, sortKeys: [.init(\.title)])

  static func chores(_ count: Int = 3) async throws -> DocumentCollection<Chore> {
    let chores = EventStore.inMemory().collection("task", of: Chore.self)
    for id in 0..<count { try await chores.put(chore(id)) }
    return chores
  }

  static func chore(_ id: Int, _ title: String? = nil) -> Chore {
    Chore(
      id: id, title: title ?? String(decoding: [UInt8(97 + id % 26)], as: UTF8.self),
      owner: id % 2 == 0 ? nil : "ann")
  }

  /// A controller that is fed by hand, and whose delegate is called when the test runs the queue.
  static func held(_ chores: DocumentCollection<Chore>) -> (Controller, Spy, HeldQueue) {
    let (spy, queue) = (Spy(), HeldQueue())
    let controller = Controller(request, from: chores, processingQueue: queue.executor)
    controller.setDelegate(spy)
    controller.isMonitoring = false
    return (controller, spy, queue)
  }

  @Test
  func `R21 A list stands as its rows were created where nothing sorts it, and only the façade refuses that`()
    async throws
  {
    let chores = try await Self.chores(0)
    for id in [5, 1, 3] { try await chores.put(Self.chore(id)) }
    let plain = FetchController(ListRequest(Chore.self), from: chores)
    #expect(try await plain.performFetch().itemIdentifiers == [5, 1, 3])
    let facade = DiffableFetchController<Chore, Unsectioned>(chores, sortKeys: [])
    await #expect(throws: DiffableFetchError.self) { try await facade.performFetch() }
    // More sort keys may come from a refinement.
    let snapshot = try await facade.apply { $0.refine { $0.sorted(by: \.id) } }
    #expect(snapshot.itemIdentifiers == [1, 3, 5])
  }

  @Test
  func `R53 Changes are told in order, each beginning where the one before it ended`() async throws {
    let chores = try await Self.chores(0)
    let spy = Spy()
    let controller = Controller(Self.request, from: chores)
    controller.setDelegate(spy)
    var shown = Set(try await controller.performFetch().itemIdentifiers)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<4 {
        group.addTask {
          for round in 0..<25 {
            let id = writer * 25 + round
            try await chores.put(Self.chore(id))
            if round % 3 == 0 { try await chores.delete(id) }
          }
        }
      }
      try await group.waitForAll()
    }
    let last = try await controller.performFetch()
    var sequence: UInt64 = 0
    while shown != Set(last.itemIdentifiers) || sequence == 0 {
      let change = try #require(await spy.next())
      #expect(change.update.before.map { Set($0.itemIdentifiers) } == shown)
      #expect(change.update.sequence > sequence)
      sequence = change.update.sequence
      #expect(shown.isSuperset(of: change.deletes) && shown.isDisjoint(with: change.inserts))
      shown.subtract(change.deletes)
      shown.formUnion(change.inserts)
      #expect(shown == Set(change.update.after.itemIdentifiers))
    }
  }

  @Test
  func `R57 While the delegate is busy changes become one difference`() async throws {
    let chores = try await Self.chores()
    let (controller, spy, queue) = Self.held(chores)
    try await controller.performFetch()
    queue.runAll()
    for round in 0..<20 {
      try await controller.process(try await chores.update(0) { $0.title = "t\(round)" })
      try await controller.process(try await chores.put(Self.chore(100 + round)))
      if round > 0 { try await controller.process(try await chores.delete(100 + round)) }
    }
    #expect(spy.callCount == 0)
    queue.runAll()
    #expect(spy.callCount == 1)
    let change = try #require(await spy.next())
    #expect(change.inserts == [100] && change.deletes.isEmpty && change.updates == [0])
  }

  @Test
  func `R57 A list that follows the store by itself tells no change twice, however often it is fetched`()
    async throws
  {
    let chores = try await Self.chores()
    let spy = Spy()
    let controller = Controller(Self.request, from: chores)
    controller.setDelegate(spy)
    try await controller.performFetch()
    for id in 10..<40 {
      try await chores.put(Self.chore(id))
      try await controller.performFetch()
      try await controller.process(upTo: chores.store.head.sequence)
    }
    var inserts: [Int] = []
    while inserts.count < 30 { inserts += try #require(await spy.next()).inserts }
    #expect(inserts.sorted() == Array(10..<40))
    #expect(controller.statistics.insertCount == 30)
    #expect(controller.statistics.fetchCount == 61)
  }

  @Test
  func `R56 The delegate may write, configure and fetch; what follows is a change of its own`() async throws {
    let chores = try await Self.chores()
    let controller = Controller(Self.request, from: chores)
    let writer = Writer(chores)
    controller.setDelegate(writer)
    try await controller.performFetch()
    try await chores.put(Self.chore(10))
    var seen: [[Int]] = []
    for await inserts in writer.inserts {
      seen.append(inserts)
      if seen.count == 3 { break }
    }
    #expect(seen == [[10], [11], []])
    #expect(controller.fetchRequest.filter == "id != 0")
    #expect(controller.currentSnapshot?.contains(0) == false)
  }

  /// A delegate that writes at the first change, and configures the list at the next.
  private final class Writer: DiffableFetchControllerDelegate, Sendable {
    let inserts: AsyncStream<[Int]>
    private let insert: AsyncStream<[Int]>.Continuation
    private let chores: DocumentCollection<Chore>

    init(_ chores: DocumentCollection<Chore>) {
      (inserts, insert) = AsyncStream.makeStream()
      self.chores = chores
    }

    func didChangeContent(
      _ controller: DiffableFetchController<Chore, String?>, _ change: DiffableFetchChange<Chore, String?>
    ) async {
      do {
        if change.inserts == [10] { try await chores.put(FacadeTests.chore(11)) }
        if change.inserts == [11] { try await controller.apply { $0.filter = "id != 0" } }
      } catch {
        Issue.record(error)
      }
      insert.yield(change.inserts)
    }
  }

  @Test
  func `R58 Nothing is told after cancel() has returned where the delegate is called, at whatever moment`()
    async throws
  {
    try await endAtEveryStep { $0?.cancel() }
  }

  @Test
  func `R58 Nothing is told after the last reference is gone, at whatever moment`() async throws {
    try await endAtEveryStep { controller in
      weak let left = controller
      controller = nil
      #expect(left == nil)
    }
  }

  /// Ends a controller after each step of a delivery, on the actor that the delegate is called on: after the changes
  /// were found, and after they were delivered.
  private func endAtEveryStep(_ end: (inout Controller?) -> Void) async throws {
    for steps in 0...1 {
      let chores = try await Self.chores()
      let (spy, actor) = (Spy(), HeldActor())
      var controller: Controller? = Controller(Self.request, from: chores, processingQueue: .actor(actor))
      controller?.setDelegate(spy)
      controller?.isMonitoring = false
      try await controller?.performFetch()
      try await controller?.process(try await chores.put(Self.chore(10)))
      for _ in 0..<steps { await actor.queue.runNext() }
      if steps == 0 { await actor.queue.waitForWork() }
      #expect(spy.callCount == steps)
      end(&controller)
      actor.queue.runAll()
      #expect(spy.callCount == steps)
    }
  }

  @Test
  func `R58 A list that was cancelled refuses fetches and keeps what it showed`() async throws {
    let chores = try await Self.chores()
    let controller = Controller(Self.request, from: chores)
    try await controller.performFetch()
    controller.cancel()
    await #expect(throws: CancellationError.self) { try await controller.performFetch() }
    await #expect(throws: CancellationError.self) { try await controller.apply { $0.filter = nil } }
    #expect(controller.currentSnapshot?.numberOfItems == 3)
  }

  @Test
  func `R58 A delegate is not kept alive, and its list goes on without it`() async throws {
    let chores = try await Self.chores()
    let controller = Controller(Self.request, from: chores)
    var spy: Spy? = Spy()
    controller.setDelegate(try #require(spy))
    try await controller.performFetch()
    weak let left = spy
    spy = nil
    #expect(left == nil)
    await MainActor.run { #expect(controller.delegate == nil) }
    try await chores.put(Self.chore(10))
    let next = Spy()
    controller.setDelegate(next)
    try await chores.put(Self.chore(11))
    while await next.next()?.inserts.contains(11) != true {}
    #expect(controller.viewObject(with: 10) != nil)
  }

  @Test
  func `R61 A list that cannot go on says so to its delegate, after everything that it could tell`()
    async throws
  {
    let chores = try await Self.chores()
    let spy = Spy()
    let controller = Controller(Self.request, from: chores)
    controller.setDelegate(spy)
    try await controller.performFetch()
    try await chores.put(Self.chore(10))
    chores.store.log.tail.finish(.poisoned("a sync failed"))
    guard case .store(let error)? = await spy.nextFailure(), error.reason == .poisoned else {
      Issue.record("no failure was told")
      return
    }
    #expect(spy.callCount == 1)
    #expect(controller.statistics.failureCount == 1)
    #expect(controller.currentSnapshot?.contains(10) == true)
    // A fetch tries again, and fails again when it would have to wait.
    #expect(try await controller.performFetch().numberOfItems == 4)
    #expect(await spy.nextFailure() != nil)
  }

  @Test
  func `R61 A filter that is none is thrown, and what was in force stays`() async throws {
    let chores = try await Self.chores()
    let controller = Controller(Self.request, from: chores)
    try await controller.apply { $0.filter = "id != 0" }
    do {
      try await controller.apply { $0.filter = "id !" }
      Issue.record("it was fetched")
    } catch DiffableFetchError.list(.filter) {
    }
    #expect(controller.fetchRequest.filter == "id != 0")
    #expect(try await controller.performFetch().itemIdentifiers == [1, 2])
  }

}

extension DiffableFetchController {
  /// Processes the append of a document's update, or fetches if the update appended nothing.
  @discardableResult
  func process<Document>(
    _ update: DocumentUpdate<Document>
  ) async throws -> ListSnapshot<Item, Section> {
    guard case .changed(_, let receipt) = update else { return try await performFetch() }
    return try await process(receipt)
  }
}
