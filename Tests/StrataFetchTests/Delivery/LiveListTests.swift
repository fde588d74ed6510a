// A list for a screen: its phases, and what it reads.

internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
@testable internal import StrataPast
internal import StrataTables
internal import StrataViews
internal import Testing

@Suite @MainActor struct LiveListTests {
  /// A row that counts how often it is decoded.
  nonisolated struct Seen: Codable, Identifiable, Sendable {
    static let decodeCount = Lock(0)

    var id: Int
    var title: String

    init(id: Int, title: String) { (self.id, self.title) = (id, title) }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      id = try container.decode(Int.self, forKey: .id)
      title = try container.decode(String.self, forKey: .title)
      Self.decodeCount.withLock { $0 += 1 }
    }
  }

  private let rows = EventStore.inMemory().collection("row", of: Chore.self)

  private func wait(until isReady: () -> Bool) async throws {
    for _ in 0..<60_000 where !isReady() { try await Task.sleep(for: .milliseconds(1)) }
    try #require(isReady())
  }

  @Test func `the ids of a live list's rows are read without decoding a row`() async throws {
    let rows = EventStore.inMemory().collection("row", of: Seen.self)
    for id in 0..<50 { try await rows.put(Seen(id: id, title: "\(id % 7)")) }
    let request = ListRequest(Seen.self).sorted(byField: try FieldPath("title")).limited(to: 40)
    let list = LiveList(request, from: rows)
    try await wait { list.phase == .ready }
    let before = Seen.decodeCount.withLock { $0 }
    let ids = list.sections.flatMap { $0.map(\.id) }
    #expect(ids.count == 40 && ids == list.snapshot?.itemIdentifiers)
    #expect(Seen.decodeCount.withLock { $0 } == before)
    #expect(list.sections[0][0].item?.title == "0")
    #expect(Seen.decodeCount.withLock { $0 } == before + 1)
  }

  @Test func `a live list that is cancelled while it loads has ended, and a request starts it again`()
    async throws
  {
    try await rows.put(Chore(id: 1, title: "a"))
    let list = LiveList(ListRequest(Chore.self).sorted(by: \.title), from: rows)
    #expect(list.phase == .loading)
    list.cancel()
    #expect(list.phase == .ended && list.snapshot == nil)
    try await list.apply(list.controller.request)
    try await wait { list.phase == .ready }
    try await rows.put(Chore(id: 2, title: "b"))
    try await wait { list.snapshot?.itemIdentifiers == [1, 2] }

    list.cancel()
    #expect(list.phase == .ended && list.snapshot?.numberOfItems == 2)
    try await rows.put(Chore(id: 3, title: "c"))
    try await list.apply { $0 = $0.sorted(by: \.title, .reverse) }
    try await wait { list.snapshot?.itemIdentifiers.count == 3 && list.phase == .ready }
  }

  @Test func `a live list that failed is loading while it is tried again`() async throws {
    try await rows.put(Chore(id: 1, title: "a"))
    let list = LiveList(ListRequest(Chore.self).filtered(by: "title =="), from: rows)
    try await wait { if case .failed(.filter) = list.phase { true } else { false } }
    try await list.apply(ListRequest(Chore.self))
    #expect(list.phase == .loading || list.phase == .ready)
    try await wait { list.phase == .ready }
  }

  @Test func `a section of a list without sections has no title`() async throws {
    try await rows.put(Chore(id: 1, title: "a"))
    let section = try await FetchController(ListRequest(Chore.self), from: rows).performFetch().sections[0]
    #expect(section.title == "" && section.indexTitle == nil)
  }
}
