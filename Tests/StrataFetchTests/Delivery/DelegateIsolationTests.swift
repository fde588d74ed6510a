// Where the methods of a delegate run: as its own isolation says, and otherwise where it was set to be called.

internal import Dispatch
internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

// The delegates are written as in an application: no method is marked.

/// A class of the main actor.
@MainActor private final class Screen: ListChangesDelegate {
  private(set) var calls: [String] = []
  var onItem: (() -> Void)?

  func didLoad(_ list: ChoreList, _ update: ChoreUpdate) {
    MainActor.preconditionIsolated()
    calls.append("load \(update.after.numberOfItems)")
  }
  func willChange(_ list: ChoreList, _ update: ChoreUpdate) { calls.append("will") }
  func didChangeItem(_ list: ChoreList, _ id: Int, _ change: ListItemChange) {
    MainActor.preconditionIsolated()
    calls.append("\(id)")
    onItem?()
  }
  func didChange(_ list: ChoreList, _ update: ChoreUpdate) { calls.append("did") }
}

/// A class without isolation, which is not `Sendable`.
private final class Plain: ListContentDelegate {
  private(set) var counts: [Int] = []

  func didChange(_ list: ChoreList, _ content: ListSnapshot<Chore, String?>, _ update: ChoreUpdate) {
    MainActor.preconditionIsolated()
    counts.append(content.numberOfItems)
  }
}

/// An actor.
private actor Desk: ListContentDelegate {
  private(set) var counts: [Int] = []
  private(set) var errorCount = 0
  private(set) var list: ChoreList?

  func didChange(_ list: ChoreList, _ content: ListSnapshot<Chore, String?>, _ update: ChoreUpdate) {
    preconditionIsolated()
    counts.append(content.numberOfItems)
    self.list = list
  }

  func didFail(_ list: ChoreList, with error: ListError) { errorCount += 1 }
}

/// A class without isolation that may be called anywhere.
private final class Journal: ListContentDelegate, Sendable {
  let queue = DispatchQueue(label: "journal")
  private let entries = Lock<[Int]>([])

  var counts: [Int] { entries.withLock { $0 } }

  func didChange(_ list: ChoreList, _ content: ListSnapshot<Chore, String?>, _ update: ChoreUpdate) {
    dispatchPrecondition(condition: .onQueue(queue))
    entries.withLock { $0.append(content.numberOfItems) }
  }
}

@Suite struct DelegateIsolationTests {
  @Test @MainActor
  func `R56 Plain methods of a class of the main actor are called on it, whichever executor is given`()
    async throws
  {
    let home = try await Household("ab")
    let screen = Screen()
    home.list.setDelegate(screen)
    while screen.calls != ["load 2"] { await Task.yield() }
    home.list.setDelegate(screen, on: .queue(.global()))
    while screen.calls != ["load 2", "load 2"] { await Task.yield() }
    try await home.chores.delete(0)
    while screen.calls != ["load 2", "load 2", "will", "0", "did"] { await Task.yield() }
  }

  @Test @MainActor
  func `R56 A class without isolation that is not Sendable is called on the main actor`() async throws {
    let home = try await Household("ab")
    let plain = Plain()
    home.list.setDelegate(plain)
    while plain.counts != [2] { await Task.yield() }
    try await home.chores.delete(0)
    while plain.counts != [2, 1] { await Task.yield() }
  }

  @Test
  func `R56 Plain methods of an actor are called on it, with the list that changed`() async throws {
    let home = try await Household("ab", Household.all.filtered(by: "title =="))
    let desk = Desk()
    home.list.setDelegate(desk)
    while await desk.errorCount == 0 { await Task.yield() }
    try await home.list.apply(Household.all)
    while await desk.counts != [2] { await Task.yield() }
    #expect(await desk.list === home.list)
  }

  @Test
  func `R58 An actor that is a delegate is not kept alive by that`() async throws {
    let home = try await Household("ab")
    weak var released: Desk?
    do {
      let desk = Desk()
      released = desk
      home.list.setDelegate(desk)
      while await desk.counts.isEmpty { await Task.yield() }
    }
    while released != nil { await Task.yield() }
    try await home.chores.delete(0)
    #expect(try await home.list.performFetch().numberOfItems == 1)
  }

  @Test
  func `R56 A class without isolation is called on the queue that is given with it`() async throws {
    let home = try await Household("ab")
    let journal = Journal()
    home.list.setDelegate(journal, on: .queue(journal.queue))
    await waiting { journal.counts == [2] }
    try await home.chores.delete(0)
    await waiting { journal.counts == [2, 1] }
    home.list.removeDelegate()
    try await home.chores.delete(1)
    try await home.list.performFetch()
    #expect(journal.counts == [2, 1])
  }

  @Test @MainActor
  func `R25 Between willChange and didChange of a screen nothing else runs on the main actor`() async throws {
    let home = try await Household("abcdefgh")
    let screen = Screen()
    screen.onItem = { [weak screen] in Task { @MainActor in screen?.note() } }
    home.list.setDelegate(screen)
    while screen.calls.isEmpty { await Task.yield() }
    try await home.store.write { batch throws(StoreError) in
      for id in 0..<8 { try batch.delete(id, in: home.chores) }
    }
    while screen.calls.count < 1 + 10 + 8 { await Task.yield() }
    let order = screen.calls
    #expect(order[1] == "will" && order[10] == "did")
    #expect(order[11...].allSatisfy { $0 == "note" })
  }

  @Test
  func
    `R56 All work for a delegate, the differences too, is given to a closure that schedules, one piece at a time`()
    async throws
  {
    let home = try await Household("ab")
    let queue = HeldQueue()
    let seen = Lock<[Int]>([])
    let observation = home.list.observe(on: queue.executor) { update in
      seen.withLock { $0.append(update.after.numberOfItems) }
    }
    // The list is fetched by the first look.
    while seen.withLock({ $0 }).isEmpty {
      queue.runOne()
      await Task.yield()
    }
    for id in 0..<2 {
      try await home.chores.delete(id)
      try await home.list.performFetch()
    }
    for _ in 0..<100 { await Task.yield() }
    #expect(seen.withLock { $0 } == [2] && queue.count == 1)
    queue.runAll()
    #expect(seen.withLock { $0 } == [2, 0])
    observation.cancel()
    queue.runAll()
  }

  @Test
  func `R56 Deliveries that share a closure that schedules never run at the same time`() async throws {
    let home = try await Household("ab")
    let (inside, overlaps, count) = (Lock(0), Lock(0), Lock(0))
    let executor = UpdateExecutor.scheduled { DispatchQueue.global().async(execute: $0) }
    let observations = (0..<8).map { _ in
      home.list.observe(on: executor) { _ in
        let others = inside.withLock { inside in
          defer { inside += 1 }
          return inside
        }
        if others > 0 { overlaps.withLock { $0 += 1 } }
        for _ in 0..<1_000 { count.withLock { $0 += 1 } }
        inside.withLock { $0 -= 1 }
      }
    }
    // On a busy machine a delivery has all updates so far, so that there may be one for each observer and no other.
    var number = 0
    while number < 20 || count.withLock({ $0 }) < 16_000 {
      number += 1
      try await home.chores.update(0) { $0.title = "t\(number)" }
    }
    #expect(overlaps.withLock { $0 } == 0)
    for observation in observations { observation.cancel() }
  }
}

extension Screen {
  fileprivate func note() { calls.append("note") }
}
