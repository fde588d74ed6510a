// Lists whose work gives up its thread after every event, inside of one append: no event is decoded again.

internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataSimulation
internal import StrataTables
internal import Testing

@Suite struct SlicedListTests {
  private struct Page: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var text: String
  }

  private static let count = 300
  private static let pages = (0..<count).map { Page(id: "\($0)", text: "text \($0 % 7)") }

  private static func store(_ crowd: CrowdedThreads) -> EventStore {
    var options = StoreOptions()
    options.machine.folds = crowd.threads
    options.machine.follows = crowd.threads
    options.machine.past = crowd.threads
    return EventStore.inMemory(options: options)
  }

  private static func list(_ store: EventStore) -> FetchController<Page, Unsectioned> {
    FetchController(ListRequest(Page.self).sorted(by: \.text), from: store.collection("page", of: Page.self))
  }

  @Test func `fault 118: the changes between two points inside of an append decode it once`() async throws {
    let crowd = CrowdedThreads()
    let store = Self.store(crowd)
    try await store.collection("page", of: Page.self).put(Self.pages)
    let (decoded, turns) = (store.log.foldedEvents.count, crowd.turnCount)
    let changes = try await Self.list(store).changes(from: .sequence(20), to: .sequence(250))
    #expect(changes.insertions.count == 230)
    #expect(crowd.turnCount - turns >= 249, "it was not stopped after each event")
    #expect(store.log.foldedEvents.count - decoded <= 2 * 250)
  }

  @Test func `fault 118: a scrubber that goes through an append decodes it once`() async throws {
    let store = Self.store(CrowdedThreads())
    try await store.collection("page", of: Page.self).put(Self.pages)
    let scrubber = try Self.list(store).scrubber()
    let decoded = store.log.foldedEvents.count
    for sequence in 1...UInt64(Self.count) {
      let update = try await scrubber.move(to: .sequence(sequence))
      #expect(update.after.numberOfItems == Int(sequence))
    }
    #expect(store.log.foldedEvents.count - decoded <= 2 * UInt64(Self.count))
  }

  @Test func `fault 118: a list at every commit decodes an append once, and the newest one once more`()
    async throws
  {
    let crowd = CrowdedThreads()
    let store = Self.store(crowd)
    let pages = store.collection("page", of: Page.self)
    try await pages.put(Page(id: "first", text: "text"))
    let list = Self.list(store)
    var updates = list.updates(.everyCommit).makeAsyncIterator()
    #expect(try await updates.next()?.after.numberOfItems == 1)
    let (decoded, turns) = (store.log.foldedEvents.count, crowd.turnCount)
    try await pages.put(Self.pages)
    #expect(try await updates.next()?.after.numberOfItems == Self.count + 1)
    #expect(crowd.turnCount - turns >= Self.count - 1, "it was not stopped after each event")
    #expect(store.log.foldedEvents.count - decoded <= 3 * UInt64(Self.count))
  }
}
