// Requests that are replaced before their list is made, and receipts that a list would wait for forever.

internal import StrataBase
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct ReplacedRequestTests {
  @Test
  func `R22 Of many requests that are applied while a list is made only the newest one is ever looked at`()
    async throws
  {
    let chores = EventStore.inMemory().collection("task", of: Chore.self)
    for id in 0..<20 { try await chores.put(Chore(id: id, title: "t\(id)")) }
    let (hasBegun, mayGoOn, asked) = (Lock(false), Lock(false), Lock(Set<Int>()))
    let first = ListRequest(Chore.self).filtered { _ in
      hasBegun.withLock { $0 = true }
      while !mayGoOn.withLock({ $0 }) {}
      return true
    }
    let list = FetchController(ListRequest(Chore.self), from: chores)
    try await list.performFetch()
    let held = Task { try await list.apply(first) }
    await waiting { hasBegun.withLock { $0 } }
    let counts = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<60 {
        group.addTask {
          try await list.apply(
            ListRequest(Chore.self).filtered { chore in
              asked.withLock { _ = $0.insert(number) }
              return chore.id < 7
            }
          ).numberOfItems
        }
      }
      await waiting { list.statistics.requestsReplaced == 61 }
      mayGoOn.withLock { $0 = true }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(counts == [Int](repeating: 7, count: 60), "each call must return the list of the newest request")
    #expect(try await held.value.numberOfItems == 7)
    #expect(asked.withLock { $0.count } == 1, "lists were made for \(asked.withLock { $0.count }) requests")
    // The current request still works.
    try await chores.put(Chore(id: 3, title: "changed"))
    #expect(try await list.performFetch().row(for: 3)?.title == "changed")
  }

  @Test
  func `A list refuses the receipt of another store, and does not wait for it`() async throws {
    let (home, other) = (EventStore.inMemory(), EventStore.inMemory())
    let list = FetchController(ListRequest(Chore.self), from: home.collection("task", of: Chore.self))
    let receipt = try await other.collection("task", of: Chore.self).put(Chore(id: 1, title: "elsewhere"))
    await #expect {
      try await list.fetch(through: receipt)
    } throws: { error in
      guard case .otherStore(let store, let expected)? = error as? ListError else { return false }
      return store == other.id && expected == home.id
    }
    let own = try await home.collection("task", of: Chore.self).put(Chore(id: 2, title: "here"))
    #expect(try await list.fetch(through: own).contains(2))
  }
}
