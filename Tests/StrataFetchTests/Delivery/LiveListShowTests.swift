// A list for a screen, and tasks that wait until it shows an append.

@testable internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite @MainActor struct LiveListShowTests {
  private let chores = EventStore.inMemory().collection("task", of: Chore.self)
  private let open = ListRequest(Chore.self).sorted(by: \.id).filtered(by: "isDone == false")

  @Test func `a live list shows an append once the wait for it is over, also one that changes nothing`()
    async throws
  {
    let list = LiveList(open, from: chores)
    // While it loads, by an append that it does not show.
    let first = try await chores.put(Chore(id: 99, title: "done", isDone: true))
    try await list.show(through: first)
    #expect(list.phase == .ready && list.snapshot?.numberOfItems == 0)
    for id in 0..<30 {
      let receipt = try await chores.put(Chore(id: id, title: "t"))
      try await list.show(through: receipt)
      #expect(list.snapshot?.itemIdentifiers == Array(0...id))
      let shown = list.snapshot?.sequence
      // The same content again, an event that is no chore, and a chore that the filter leaves out.
      try await list.show(through: try await chores.put(Chore(id: id, title: "t")))
      let noted = NewEvent("noted", in: "log/1", payload: EventPayload(.null))
      try await list.show(through: try await chores.store.append([noted]))
      try await list.show(through: try await chores.put(Chore(id: 100 + id, title: "t", isDone: true)))
      #expect(list.snapshot?.sequence == shown, "nothing was to be shown")
    }
    try await list.show(through: try await chores.delete(7))
    #expect(list.snapshot?.contains(7) == false && list.snapshot?.numberOfItems == 29)
    // One that is shown for long.
    try await list.show(through: first)
    #expect(list.snapshot?.numberOfItems == 29)
  }

  @Test func `a wait for an append also waits for the request in force`() async throws {
    let list = LiveList(open, from: chores)
    let receipt = try #require(try await chores.put((0..<9).map { Chore(id: $0, title: "t") }))
    try await list.show(through: receipt)
    for limit in [3, 9, 1, 5] {
      try await list.apply(open.limited(to: limit))
      try await list.show(through: receipt)
      #expect(list.snapshot?.numberOfItems == limit)
    }
  }

  @Test func `tasks that edit at the same time each see what they wrote`() async throws {
    let list = LiveList(open, from: chores)
    let tasks = (0..<8).map { task in
      Task {
        for round in 0..<10 {
          let id = task * 10 + round
          let receipt = try await chores.put(Chore(id: id, title: "t"))
          try await list.show(through: receipt)
          #expect(list.snapshot?.contains(id) == true)
          try await list.show(through: try await list.delete(id))
          #expect(list.snapshot?.contains(id) == false)
        }
      }
    }
    for task in tasks { try await task.value }
    #expect(list.snapshot?.numberOfItems == 0)
  }

  @Test func `a list that is not followed throws, unless it shows the append already`() async throws {
    let list = LiveList(open, from: chores)
    let shown = try await chores.put(Chore(id: 1, title: "t"))
    try await list.show(through: shown)
    var later = shown
    later.sequences = 50...50
    let waiting = Task { [later] in try await list.show(through: later) }
    for _ in 0..<20 { await Task.yield() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    list.cancel()
    try await list.show(through: shown)
    let missed = try await chores.put(Chore(id: 2, title: "t"))
    await #expect(throws: CancellationError.self) { try await list.show(through: missed) }
    #expect(list.snapshot?.itemIdentifiers == [1])
    // Once it follows again, it shows that too.
    try await list.apply(open)
    try await list.show(through: missed)
    #expect(list.snapshot?.itemIdentifiers == [1, 2])

    let other = EventStore.inMemory().collection("task", of: Chore.self)
    let elsewhere = try await other.put(Chore(id: 1, title: "t"))
    await #expect(throws: ListError.self) { try await list.show(through: elsewhere) }
    let wrong = LiveList(open.filtered(by: "title =="), from: chores)
    await #expect(throws: ListError.self) { try await wrong.show(through: shown) }
    list.controller.cancel()
    await #expect(throws: CancellationError.self) { try await list.show(through: shown) }
  }
}
