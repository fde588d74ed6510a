// Lists that are fetched with everything up to a position, which another process may have sent.

@testable internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataFetch
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct FetchThroughTests {
  private static let all = ListRequest(Chore.self).sorted(by: \.id)

  @Test
  func `A position that another process sent as text is reached by a list of a reader`() async throws {
    let files = MemoryFileSystem()
    let writer = try EventStore.open(files, path: "/store", .readWrite, options: StoreOptions())
    let chores = writer.collection("task", of: Chore.self)
    let first = try await chores.put(Chore(id: 0, title: "a")).position
    let reader = try EventStore.open(files, path: "/store", .readOnly, options: StoreOptions())
    let list = FetchController(Self.all, from: reader.collection("task", of: Chore.self))
    for id in 1...5 {
      let text = "\(try await chores.put(Chore(id: id, title: "b")).position)"
      let position = try #require(LogPosition(text))
      let snapshot = try await list.fetch(through: position)
      #expect(snapshot.sequence >= position.sequence && snapshot.contains(id))
    }
    // What the list includes already is checked all the same, and nothing is taken back.
    #expect(try await list.fetch(through: first).itemIdentifiers == [0, 1, 2, 3, 4, 5])
    let other = LogPosition(sequence: 2, chain: first.chain ^ 1)
    await #expect(throws: ListError.store(.position(.diverged(sequence: 2)))) {
      try await list.fetch(through: other)
    }
    try await reader.close()
    try await writer.close()
  }

  @Test
  func `A position of another log is refused, also one past the end of a store that is open for writing`()
    async throws
  {
    let (home, other) = (EventStore.inMemory(), EventStore.inMemory())
    let list = FetchController(Self.all, from: home.collection("task", of: Chore.self))
    let own = try await home.collection("task", of: Chore.self).put(Chore(id: 1, title: "here")).position
    for id in 1...2 {
      let elsewhere = other.collection("task", of: Chore.self)
      let position = try await elsewhere.put(Chore(id: id, title: "elsewhere")).position
      await #expect(throws: ListError.store(.position(.diverged(sequence: UInt64(id))))) {
        try await list.fetch(through: position)
      }
    }
    #expect(try await list.fetch(through: own).itemIdentifiers == [1])
  }

  @Test
  func `A wait for a position that a reader does not see ends when its task or its list is cancelled`()
    async throws
  {
    let files = MemoryFileSystem()
    let writer = try EventStore.open(files, path: "/store", .readWrite, options: StoreOptions())
    var later = try await writer.collection("task", of: Chore.self).put(Chore(id: 1, title: "a")).position
    later.sequence = 5
    let reader = try EventStore.open(files, path: "/store", .readOnly, options: StoreOptions())
    let list = FetchController(Self.all, from: reader.collection("task", of: Chore.self))
    for cancelsList in [false, true] {
      let waiting = Task { [later] in try await list.fetch(through: later) }
      while !reader.log.tail.hasWaiters { await Task.yield() }
      if cancelsList { list.cancel() } else { waiting.cancel() }
      await #expect(throws: CancellationError.self) { try await waiting.value }
    }
    try await reader.close()
    try await writer.close()
  }
}
