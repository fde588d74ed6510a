// Where a diffable fetch controller calls its delegate, by the delegate's isolation and by how it was set.

internal import Dispatch
internal import StrataBase
internal import StrataEvents
@testable internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataTables
@testable internal import StrataViews
internal import Testing

@Suite struct FacadeDelegateTests {
  private typealias Controller = FacadeTests.Controller
  private typealias Change = DiffableFetchChange<Chore, String?>

  // The delegates are written as in an application: no method is marked.

  /// A class of the main actor.
  @MainActor private final class Screen: DiffableFetchControllerDelegate {
    private(set) var inserts: [Int] = []

    func didChangeContent(_ controller: Controller, _ change: Change) {
      MainActor.preconditionIsolated()
      inserts += change.inserts
    }
  }

  /// A class of the main actor whose method waits.
  @MainActor private final class SlowScreen: DiffableFetchControllerDelegate {
    private(set) var inserts: [[Int]] = []
    var mayReturn = false

    @MainActor func didChangeContent(_ controller: Controller, _ change: Change) async {
      inserts.append(change.inserts)
      while !mayReturn { await Task.yield() }
    }
  }

  /// A class without isolation, which is not `Sendable`.
  private final class Plain: DiffableFetchControllerDelegate {
    private(set) var inserts: [Int] = []

    func didChangeContent(_ controller: Controller, _ change: Change) {
      MainActor.preconditionIsolated()
      inserts += change.inserts
    }
  }

  /// An actor.
  private actor Desk: DiffableFetchControllerDelegate {
    private(set) var inserts: [Int] = []
    private(set) var errorCount = 0
    private(set) var controller: Controller?

    func didChangeContent(_ controller: Controller, _ change: Change) {
      preconditionIsolated()
      inserts += change.inserts
      self.controller = controller
    }

    func didFail(_ controller: Controller, with error: ListError) { errorCount += 1 }
  }

  @Test @MainActor
  func `R56 Each kind of delegate is called where its isolation says, wherever the queue is`() async throws {
    let chores = try await FacadeTests.chores()
    let controller = Controller(FacadeTests.request, from: chores, processingQueue: .queue(.global()))
    let (screen, plain, desk) = (Screen(), Plain(), Desk())
    try await controller.performFetch()
    controller.delegate = screen
    #expect(controller.delegate === screen)
    try await chores.put(FacadeTests.chore(10))
    while screen.inserts != [10] { await Task.yield() }
    controller.delegate = plain
    try await chores.put(FacadeTests.chore(11))
    while plain.inserts != [11] { await Task.yield() }
    controller.setDelegate(desk)
    #expect(controller.delegate === desk)
    try await chores.put(FacadeTests.chore(12))
    while await desk.inserts != [12] { await Task.yield() }
    #expect(await desk.controller === controller)
    controller.setDelegate(screen)
    try await chores.put(FacadeTests.chore(13))
    while screen.inserts != [10, 13] { await Task.yield() }
    controller.setDelegate(desk)
    chores.store.log.tail.finish(.poisoned("a sync failed"))
    while await desk.errorCount == 0 { await Task.yield() }
    controller.removeDelegate()
    #expect(controller.delegate == nil && plain.inserts == [11])
  }

  @Test
  func
    `R56 A change that is on its way to a delegate that is replaced goes to the new one, where it is called`()
    async throws
  {
    let chores = try await FacadeTests.chores()
    let (spy, actor) = (FacadeTests.Spy(), HeldActor())
    let controller = Controller(FacadeTests.request, from: chores, processingQueue: .actor(actor))
    controller.setDelegate(spy)
    try await controller.performFetch()
    try await chores.put(FacadeTests.chore(10))
    await actor.queue.waitForWork()
    let screen = await MainActor.run { Screen() }
    await MainActor.run { controller.delegate = screen }
    await actor.queue.runNext()
    while await screen.inserts != [10] { await Task.yield() }
    #expect(spy.callCount == 0)
  }

  @Test @MainActor
  func `R57 While a delegate's method waits, changes become one difference`() async throws {
    let chores = try await FacadeTests.chores()
    let controller = Controller(FacadeTests.request, from: chores)
    let screen = SlowScreen()
    controller.delegate = screen
    try await controller.performFetch()
    try await chores.put(FacadeTests.chore(10))
    while screen.inserts != [[10]] { await Task.yield() }
    for id in [11, 12] { try await chores.put(FacadeTests.chore(id)) }
    try await controller.performFetch()
    screen.mayReturn = true
    while screen.inserts.count == 1 { await Task.yield() }
    #expect(screen.inserts.map { $0.sorted() } == [[10], [11, 12]])
  }

  @Test
  func `R58 A delegate on the main actor, and one that is an actor, are not kept alive`() async throws {
    let chores = try await FacadeTests.chores()
    let controller = Controller(FacadeTests.request, from: chores)
    try await controller.performFetch()
    weak var released: (any AnyObject)?
    do {
      let desk = Desk()
      controller.setDelegate(desk)
      try await chores.put(FacadeTests.chore(10))
      while await desk.inserts != [10] { await Task.yield() }
      released = desk
    }
    while released != nil { await Task.yield() }
    await MainActor.run {
      let plain = Plain()
      controller.delegate = plain
      #expect(controller.delegate != nil)
    }
    await MainActor.run { #expect(controller.delegate == nil) }
    try await chores.put(FacadeTests.chore(11))
    #expect(try await controller.performFetch().contains(11))
  }
}
