// A list over erased rows: they leave it like deleted rows, and the list continues.

internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import Testing

@Suite struct ErasedListTests {
  @Test func `an erased document leaves every list, and the list goes on`() async throws {
    let store = EventStore.inMemory()
    let chores = store.collection("task", of: Chore.self)
    for index in 0..<6 { try await chores.put(Chore(id: index, title: "t\(index)", owner: nil)) }
    let list = FetchController(ControllerTests.open, from: chores)
    #expect(try await list.performFetch().itemIdentifiers == [0, 1, 2, 3, 4, 5])
    try await store.erase(Erasure(streams: ["task/2"], because: "asked to"))
    #expect(try await list.performFetch().itemIdentifiers == [0, 1, 3, 4, 5])
    let done = try await chores.put(Chore(id: 7, title: "a", owner: nil))
    #expect(try await list.fetch(through: done).itemIdentifiers == [7, 0, 1, 3, 4, 5])
    #expect(try await chores[2] == nil)
    try await store.close()
  }
}
