// The delivery of updates to delegates: on which executor, in which order, and until when.

internal import Dispatch
internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

/// A delegate that records its updates, and reacts to them.
private final class Recorder: FetchControllerDelegate, Sendable {
  private let told = Lock<[ChoreUpdate]>([])
  private let errors = Lock<[ListError]>([])
  private let react: @Sendable (ChoreUpdate) -> Void

  init(_ react: @escaping @Sendable (ChoreUpdate) -> Void = { _ in }) { self.react = react }

  var updates: [ChoreUpdate] { told.withLock { $0 } }
  var errorCount: Int { errors.withLock { $0.count } }

  func receive(_ list: ChoreList, _ update: ChoreUpdate) {
    told.withLock { $0.append(update) }
    react(update)
  }

  func didFail(_ list: ChoreList, with error: ListError) { errors.withLock { $0.append(error) } }
}

/// A delegate of the main actor.
@MainActor private final class Screen: FetchControllerDelegate {
  var updates: [ChoreUpdate] = []

  func receive(_ list: ChoreList, _ update: ChoreUpdate) {
    MainActor.assertIsolated()
    updates.append(update)
  }
}

/// A delegate that ends its calls in one of those of an update.
@MainActor private final class Quitter: ListChangesDelegate {
  var loadCount = 0
  var changeCount = 0
  private let last: Int
  private let quit: @MainActor (ChoreList) -> Void

  init(at last: Int, _ quit: @escaping @MainActor (ChoreList) -> Void) {
    (self.last, self.quit) = (last, quit)
  }

  func didLoad(_ list: ChoreList, _ update: ChoreUpdate) { loadCount += 1 }
  func willChange(_ list: ChoreList, _ update: ChoreUpdate) { count(list) }
  func didChangeSection(_ list: ChoreList, _ section: String?, _ change: ListSectionChange) { count(list) }
  func didChangeItem(_ list: ChoreList, _ id: Int, _ change: ListItemChange) { count(list) }
  func didChange(_ list: ChoreList, _ update: ChoreUpdate) { count(list) }

  private func count(_ list: ChoreList) {
    changeCount += 1
    if changeCount == last { quit(list) }
  }
}

/// An actor whose isolation can be checked from outside.
private actor Desk {
  private(set) var count = 0
  func take() { count += 1 }
  nonisolated func note() { assumeIsolated { $0.count += 1 } }
}

/// An executor that runs jobs on its own queue, and counts them.
private final class CountingExecutor: SerialExecutor {
  let queue = DispatchQueue(label: "counting")
  let jobs = Lock(0)

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0 += 1 }
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

@Suite struct DelegateDeliveryTests {
  private static let queue = DispatchQueue(label: "delegates", attributes: .concurrent)

  @Test
  func `R53 A delegate is told every step in order, each from where the one before it ended`() async throws {
    let home = try await Household()
    let recorder = Recorder()
    home.list.setDelegate(recorder, on: .queue(Self.queue))
    for number in 0..<40 { try await home.chores.update(0) { $0.title = "a\(number)" } }
    await waiting { recorder.updates.last?.sequence == home.store.head.sequence }
    let updates = recorder.updates
    #expect(updates.first?.reason == .initial)
    for (old, new) in zip(updates, updates.dropFirst()) {
      #expect(new.reason == .changed && new.before?.sequence == old.sequence)
    }
    // Every append, from a token.
    let every = Recorder()
    let token = try await home.list.snapshot(at: .sequence(3)).token
    home.list.setDelegate(every, on: .queue(Self.queue), .everyCommit, since: token)
    await waiting { every.updates.last?.sequence == home.store.head.sequence }
    #expect(every.updates.count == 41 && every.updates.first?.reason == .resumed)
    // The previous delegate is no longer notified.
    let count = recorder.updates.count
    try await home.chores.delete(0)
    await waiting { every.updates.last?.sequence == home.store.head.sequence }
    #expect(recorder.updates.count == count)
  }

  @Test
  func `R56 What is told stands in no writer's way, and may write itself`() async throws {
    let home = try await Household()
    let isWritten = Lock(false)
    let recorder = Recorder { [chores = home.chores] update in
      guard update.reason == .initial else { return }
      // Others write while this update is delivered.
      while !isWritten.withLock({ $0 }) {}
      // The delegate writes, too, with a blocking call.
      let event = NewEvent(DocumentEvent.delete, in: "task/1", payload: EventPayload(.null))
      _ = try? chores.store.appendBlocking([event])
    }
    home.list.setDelegate(recorder, on: .queue(Self.queue))
    await waiting { recorder.updates.count == 1 }
    for number in 0..<10 { try await home.chores.update(0) { $0.title = "a\(number)" } }
    isWritten.withLock { $0 = true }
    await waiting { recorder.updates.last?.sequence == 14 }
    #expect(home.store.head.sequence == 14)
    #expect(recorder.updates.last?.after.contains(1) == false)
  }

  @Test @MainActor
  func `R58 A delegate is held weakly, and is released while it is told nothing`() async throws {
    let home = try await Household()
    weak var released: Screen?
    do {
      let screen = Screen()
      released = screen
      home.list.setDelegate(screen)
      while screen.updates.isEmpty { await Task.yield() }
    }
    #expect(released == nil)
    // Its delivery ends with the next update, and the list continues without it.
    try await home.chores.delete(0)
    #expect(try await home.list.performFetch().numberOfItems == 2)
  }

  @Test @MainActor
  func `R58 After cancel() has returned on the executor that is told, nothing is told`() async throws {
    for round in 0..<30 {
      let home = try await Household("a")
      let screen = Screen()
      home.list.setDelegate(screen, on: .main)
      while screen.updates.isEmpty || !home.list.announcement.hasWaiters { await Task.yield() }
      try await home.chores.put(Chore(id: 9, title: "x"))
      // Keeps the actor busy while the update is on its way to it.
      while home.list.snapshot?.sequence != 2 {}
      switch round % 3 {
      case 0: home.list.cancel()
      case 1: home.list.removeDelegate()
      default:
        for _ in 0..<round * 50 { _ = home.list.snapshot }
        home.list.removeDelegate()
      }
      let count = screen.updates.count
      for _ in 0..<50 { await Task.yield() }
      #expect(screen.updates.count == count)
    }
  }

  enum Quitting: CaseIterable, Sendable { case cancels, removes, replaces }

  @Test(arguments: Quitting.allCases, 1...4) @MainActor
  func `R58 A delegate that ends its calls in one of them receives none of the rest of the update`(
    _ quitting: Quitting, _ last: Int
  ) async throws {
    let home = try await Household()
    let other = Screen()
    let quitter = Quitter(at: last) { list in
      switch quitting {
      case .cancels: list.cancel()
      case .removes: list.removeDelegate()
      case .replaces: list.setDelegate(other)
      }
    }
    home.list.setDelegate(quitter)
    while quitter.loadCount == 0 { await Task.yield() }
    // At least five calls: one for a section, two for items, and those around them.
    try await home.store.write { batch throws(StoreError) in
      try batch.delete(0, in: home.chores)
      try batch.delete(1, in: home.chores)
    }
    while quitter.changeCount == 0 { await Task.yield() }
    if quitting == .replaces { while other.updates.isEmpty { await Task.yield() } }
    for _ in 0..<50 { await Task.yield() }
    #expect(quitter.changeCount == last && quitter.loadCount == 1)
  }

  @Test
  func `R58 An observation ends when it is cancelled or released, also from inside`() async throws {
    let home = try await Household()
    let counts = Lock([0, 0, 0])
    let desk = Desk()
    var released: ListObservation? = home.list.observe(on: .actor(desk)) { _ in
      desk.note()
      counts.withLock { $0[0] += 1 }
    }
    let kept = home.list.observe(on: .queue(Self.queue)) { _ in counts.withLock { $0[1] += 1 } }
    let inside = Lock<ListObservation?>(nil)
    let executor = CountingExecutor()
    let observation = home.list.observe(on: .executor(executor)) { _ in
      dispatchPrecondition(condition: .onQueue(executor.queue))
      // Looked for before the test sees the call, and lets the next one end the observation.
      let own = inside.withLock { $0 }
      counts.withLock { $0[2] += 1 }
      own?.cancel()
    }
    await waiting { counts.withLock { $0 } == [1, 1, 1] }
    inside.withLock { $0 = observation }
    #expect(executor.jobs.withLock { $0 } > 0)
    _ = released
    released = nil
    try await home.chores.delete(0)
    await waiting { counts.withLock { $0[1] == 2 && $0[2] == 2 } }
    try await home.chores.delete(1)
    await waiting { counts.withLock { $0[1] == 3 } }
    kept.cancel()
    try await home.chores.delete(2)
    try await home.list.performFetch()
    #expect(counts.withLock { $0 } == [1, 3, 2])
    #expect(await desk.count == 1)
  }

  @Test
  func `R58 A controller that is dropped is not kept alive by its delegate's telling`() async throws {
    let recorder = Recorder()
    let store = EventStore.inMemory()
    weak var dropped: ChoreList?
    do {
      let home = try await Household("ab", store: store)
      dropped = home.list
      home.list.setDelegate(recorder, on: .queue(Self.queue))
      await waiting { recorder.updates.count == 1 && home.list.announcement.hasWaiters }
    }
    while dropped != nil { await Task.yield() }
    try await store.collection("task", of: Chore.self).delete(0)
    #expect(recorder.updates.count == 1)
  }

  @Test @MainActor
  func `R61 A delegate is told of a request that is refused, and goes on with the next`() async throws {
    let home = try await Household("ab", Household.all.filtered(by: "title =="))
    let recorder = Recorder()
    home.list.setDelegate(recorder)
    while recorder.errorCount == 0 { await Task.yield() }
    #expect(recorder.updates.isEmpty)
    try await home.list.apply(Household.all)
    while recorder.updates.isEmpty { await Task.yield() }
    #expect(recorder.updates.first?.after.numberOfItems == 2 && recorder.errorCount == 1)
  }
  @Test @MainActor
  func `R71 A token that is refused is told once, and the list whole once somebody fetches it`() async throws
  {
    let other = try await Household("x")
    let token = try #require(try await other.list.performFetch().token)
    let home = try await Household("ab")
    let recorder = Recorder()
    home.list.setDelegate(recorder, since: token)
    while recorder.errorCount == 0 { await Task.yield() }
    #expect(recorder.updates.isEmpty)
    try await home.list.performFetch()
    while recorder.updates.isEmpty, recorder.errorCount == 1 { await Task.yield() }
    #expect(recorder.updates.first?.reason == .initial && recorder.errorCount == 1)
    try await home.chores.delete(0)
    while recorder.updates.count < 2 { await Task.yield() }
    #expect(recorder.updates.last?.changes.deletions.map(\.id) == [0])
  }

  @Test
  @MainActor
  func
    `R61 Who was told of a failure goes on after any fetch that succeeds, also one that finds nothing new`()
    async throws
  {
    let other = try await Household("x")
    let token = try #require(try await other.list.performFetch().token)
    let home = try await Household("ab")
    try await home.list.performFetch()
    let recorder = Recorder()
    home.list.setDelegate(recorder, since: token)
    while recorder.errorCount == 0 { await Task.yield() }
    try await home.list.performFetch()
    while recorder.updates.isEmpty { await Task.yield() }
    #expect(recorder.updates.first?.reason == .initial && recorder.errorCount == 1)
    try await home.chores.delete(0)
    while recorder.updates.count < 2 { await Task.yield() }
    #expect(recorder.updates.last?.changes.deletions.map(\.id) == [0])
  }

  @Test(arguments: [UpdatePolicy.latest, .everyCommit])
  func `R61 A failure that is over before it can be told stops nothing`(_ policy: UpdatePolicy) async throws {
    let home = try await Household("ab")
    let (isBusy, mayGoOn) = (Lock(false), Lock(false))
    let recorder = Recorder { update in
      guard update.reason != .initial, !isBusy.withLock({ $0 }) else { return }
      isBusy.withLock { $0 = true }
      while !mayGoOn.withLock({ $0 }) {}
    }
    // On a separate thread, because it blocks.
    let executor = CountingExecutor()
    home.list.setDelegate(recorder, on: .executor(executor), policy)
    await waiting { recorder.updates.count == 1 && home.list.announcement.hasWaiters }
    try await home.chores.delete(0)
    await waiting { isBusy.withLock { $0 } }
    home.list.failFollowing(with: .store(.poisoned("a sync failed")))
    try await home.list.performFetch()
    mayGoOn.withLock { $0 = true }
    await waiting { recorder.errorCount == 1 }
    try await home.chores.delete(1)
    await waiting { recorder.updates.count == 3 }
    #expect(recorder.updates.last?.after.numberOfItems == 0 && recorder.errorCount == 1)
  }

  @Test
  func `R22 What a replaced request held is released where it may use the list`() async throws {
    final class Probe: Sendable {
      let ended: @Sendable () -> Void
      init(_ ended: @escaping @Sendable () -> Void) { self.ended = ended }
      func accepts(_ chore: Chore) -> Bool { !chore.title.isEmpty }
      deinit { ended() }
    }
    let home = try await Household("ab")
    let list = Lock<ChoreList?>(nil)
    let seen = Lock<ListRequest<Chore, String?>?>(nil)
    do {
      let probe = Probe {
        let request = list.withLock { $0 }?.request
        seen.withLock { $0 = request }
      }
      let controller = FetchController(Household.all.filtered { probe.accepts($0) }, from: home.chores)
      list.withLock { $0 = controller }
    }
    try await #require(list.withLock { $0 }).apply(Household.all)
    #expect(seen.withLock { $0 } == Household.all)
  }
}
