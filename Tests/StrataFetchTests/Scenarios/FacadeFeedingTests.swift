// What changes a diffable fetch controller's list besides the store: configurations, and feeding by hand.

internal import Dispatch
internal import Foundation
internal import StrataBase
internal import StrataEvents
@testable internal import StrataFetch
@testable internal import StrataLists
@testable internal import StrataPast
@testable internal import StrataViews
internal import StrataTables
internal import Testing

@Suite struct FacadeFeedingTests {
  private typealias Controller = FacadeTests.Controller
  private typealias Spy = FacadeTests.Spy

  @Test
  func `R22 Configurations from many tasks are carried out one after the other, none forgotten`() async throws
  {
    let chores = try await FacadeTests.chores(8)
    let controller = Controller(FacadeTests.request, from: chores)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in 0..<8 {
        group.addTask {
          try await controller.apply {
            $0.filter = FilterTemplate(parsing: ($0.filter.map { "\($0) && " } ?? "") + "id != \(id)")
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(controller.fetchRequest.filter?.description.components(separatedBy: "&&").count == 8)
    #expect(try await controller.performFetch().numberOfItems == 0)
  }

  @Test
  func `R22 A new sort, section and limit is one difference from the old list to the new one`() async throws {
    let chores = try await FacadeTests.chores(4)
    let spy = Spy()
    let controller = Controller(FacadeTests.request, from: chores)
    controller.setDelegate(spy)
    let first = try await controller.performFetch()
    let last = try await controller.apply {
      $0.sortKeys = [.init(\.title, .reverse)]
      $0.sectionOrder = .keyDescending
      $0.fetchLimit = 3
    }
    // Chores without an owner come first in either direction.
    #expect(last.itemIdentifiers == [2, 0, 3])
    let change = try #require(await spy.next())
    #expect(change.update.reason == .reconfigured)
    #expect(change.update.before?.itemIdentifiers == first.itemIdentifiers)
    #expect(change.snapshot?.itemIdentifiers == last.itemIdentifiers)
    #expect(change.deletes == [1] && change.inserts.isEmpty && change.updates.isEmpty)
    #expect(spy.callCount == 1)
  }

  @Test
  func `R53 A list that is fed by hand changes when it is fed, and at no other time`() async throws {
    let chores = try await FacadeTests.chores()
    let (spy, controller) = (Spy(), Controller(FacadeTests.request, from: chores))
    controller.setDelegate(spy)
    controller.isMonitoring = false
    try await controller.performFetch()
    // By a receipt, by a sequence, by an event of the feed.
    let receipt = try await chores.put(FacadeTests.chore(10))
    #expect(controller.currentSnapshot?.contains(10) == false)
    #expect(try await controller.process(receipt).contains(10))
    #expect(await spy.next()?.inserts == [10])
    let deleted = try await chores.delete(10)
    try await controller.process(upTo: deleted.sequences.upperBound)
    #expect(await spy.next()?.deletes == [10])
    try await chores.put(FacadeTests.chore(11))
    for try await append in chores.store.feed(from: .sequence(deleted.sequences.upperBound), until: .caughtUp)
    {
      try await controller.process(upTo: append.sequences.upperBound)
    }
    #expect(await spy.next()?.inserts == [11])
    // What is already known is not delivered.
    try await controller.process(upTo: 1)
    try await controller.process(receipt)
    // A request for more than there is delivers what there is, however often it is made.
    for _ in 0..<2 { try await controller.process(upTo: 1_000) }
    #expect(spy.callCount == 3)
    // What was missed is delivered as one difference when the list follows the store again.
    try await chores.put(FacadeTests.chore(12))
    try await chores.update(0) { $0.isDone = true }
    controller.isMonitoring = true
    let change = try #require(await spy.next())
    #expect(change.inserts == [12] && change.updates == [0])
    try await chores.delete(12)
    #expect(await spy.next()?.deletes == [12])
  }

  @Test
  func `R53 What was on its way when the list stopped to follow the store is told when it is asked for`()
    async throws
  {
    let chores = try await FacadeTests.chores()
    let (controller, spy, queue) = FacadeTests.held(chores)
    controller.isMonitoring = true
    try await controller.performFetch()
    queue.runAll()
    let receipt = try await chores.put(FacadeTests.chore(10))
    while controller.list.snapshot?.sequence != receipt.sequences.upperBound { await Task.yield() }
    controller.isMonitoring = false
    queue.runAll()
    #expect(spy.callCount == 0 && controller.currentSnapshot?.contains(10) == false)
    try await controller.process(receipt)
    queue.runAll()
    #expect(spy.callCount == 1 && controller.currentSnapshot?.contains(10) == true)
  }

  @Test
  func
    `R53 What was found and not told when the list stopped to follow the store is a part of the next change`()
    async throws
  {
    let chores = try await FacadeTests.chores()
    let (spy, actor) = (Spy(), HeldActor())
    let controller = Controller(FacadeTests.request, from: chores, processingQueue: .actor(actor))
    controller.setDelegate(spy)
    try await controller.performFetch()
    try await chores.put(FacadeTests.chore(10))
    // The change is on its way to the actor.
    await actor.queue.waitForWork()
    controller.isMonitoring = false
    actor.queue.runAll()
    #expect(spy.callCount == 0 && controller.currentSnapshot?.contains(10) == false)
    let receipt = try await chores.put(FacadeTests.chore(11))
    try await controller.process(receipt)
    await actor.queue.runNext()
    #expect(await spy.next()?.inserts == [10, 11])
    #expect(spy.callCount == 1 && controller.currentSnapshot?.contains(10) == true)
  }

  @Test
  func `R56 What is current is what was told, and the newest list is there beside it`() async throws {
    let chores = try await FacadeTests.chores()
    let (controller, spy, queue) = FacadeTests.held(chores)
    try await controller.performFetch()
    queue.runAll()
    try await controller.process(try await chores.update(0) { $0.title = "new" })
    try await controller.process(try await chores.delete(1))
    #expect(controller.viewObject(with: 0)?.title == "a" && controller.object(with: 0)?.title == "new")
    #expect(controller.viewObject(with: 1) != nil && controller.object(with: 1) == nil)
    queue.runAll()
    #expect(spy.callCount == 1)
    #expect(controller.viewObject(with: 0)?.title == "new" && controller.viewObject(with: 1) == nil)
  }

  @Test
  func `R56 The queue on which the delegate is told may ask the controller before it takes any work`()
    async throws
  {
    let chores = try await FacadeTests.chores()
    let asked = Lock<Controller?>(nil)
    let controller = Controller(
      FacadeTests.request, from: chores,
      processingQueue: .scheduled { work in
        _ = asked.withLock { $0 }?.isMonitoring
        DispatchQueue.global().async(execute: work)
      })
    asked.withLock { $0 = controller }
    let spy = Spy()
    controller.setDelegate(spy)
    try await controller.performFetch()
    try await chores.delete(0)
    #expect(await spy.next()?.deletes == [0])
    asked.withLock { $0 = nil }
  }
}
