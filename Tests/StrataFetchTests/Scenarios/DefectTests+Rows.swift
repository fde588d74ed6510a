// Defects of the predecessor in rows and headers, none of which may return.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
@testable internal import StrataPast
@testable internal import StrataViews
internal import StrataTables
internal import Testing

/// A row that counts how often it is decoded.
private struct Counted: Codable, Identifiable, Sendable {
  static let decodes = Lock(0)
  var id: Int

  init(id: Int) { self.id = id }

  init(from decoder: any Decoder) throws {
    id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
    Self.decodes.withLock { $0 += 1 }
  }
}

extension DefectTests {
  @Test
  func `D7 A row that the list shows no more is not found by its id, however often it was asked for`()
    async throws
  {
    let (chores, controller, spy) = try await following(many(20, owners: ["ann"])) {
      $0.filter = "isDone == false"
    }
    controller.nearbyItemsSize = 40
    for id in 0..<20 { #expect(controller.viewObject(with: id) != nil) }
    try await chores.update(3) { $0.isDone = true }
    #expect(await spy.next()?.deletes == [3])
    try await chores.delete(4)
    #expect(await spy.next()?.deletes == [4])
    for id in [3, 4, 77] {
      #expect(controller.object(with: id) == nil && controller.viewObject(with: id) == nil)
    }
    try await controller.apply { $0.filter = "title == 't1007'" }
    #expect(await spy.next()?.deletes.count == 17)
    for id in 0..<20 {
      #expect((controller.object(with: id) != nil) == (id == 7))
      #expect((controller.viewObject(with: id) != nil) == (id == 7))
    }
    #expect(controller.state.withLock { $0.cache.count } <= 1)
  }

  @Test
  func `D10 To find the neighbours of an item looks at them alone, however long the list is`() async throws {
    let counted = EventStore.inMemory().collection("counted", of: Counted.self)
    try await counted.put((0..<5_000).map { Counted(id: $0) })
    let controller = DiffableFetchController<Counted, Unsectioned>(counted, sortKeys: [.init(\.id)])
    try await controller.performFetch()
    controller.nearbyItemsSize = 10
    let before = Counted.decodes.withLock { $0 }
    #expect(controller.nearbyItemIdentifiers(for: 2_500) == Array(2_495..<2_505))
    // The item itself is read for its key.
    #expect(Counted.decodes.withLock { $0 } - before <= 2)
    #expect(controller.viewObject(with: 2_500)?.id == 2_500)
    #expect(Counted.decodes.withLock { $0 } - before <= 30)
  }

  @Test func `D12 Every section has what its header shows: a title, a letter for the index, and its counts`()
    async throws
  {
    let all =
      many(6, owners: ["ann", "bob"]) + [
        Chore(id: 90, title: "x"), Chore(id: 91, title: "\u{e9}", owner: "\u{e9}va"),
      ]
    let (chores, controller, spy) = try await following(all) { $0.fetchLimit = 6 }
    func headers() -> [String] {
      controller.sections.map { "\($0.title)|\($0.indexTitle ?? "-")|\($0.count)|\($0.totalCount)" }
    }
    #expect(headers() == ["|-|1|1", "ann|A|3|3", "bob|B|2|3"])
    // A changed count alone is a change of the section, but not of an item.
    try await chores.put(Chore(id: 80, title: "zz", owner: "bob"))
    let change = try #require(await spy.next())
    #expect(change.snapshot == nil && change.updates.isEmpty && change.inserts.isEmpty)
    #expect(change.changes.sectionUpdates.map(\.section) == ["bob"])
    #expect(change.changes.sectionUpdates.map(\.count) == [4])
    #expect(headers() == ["|-|1|1", "ann|A|3|3", "bob|B|2|4"])
    try await controller.apply { $0.fetchLimit = nil }
    while controller.sections.count < 4 { _ = await spy.next() }
    #expect(headers().last == "\u{e9}va|\u{c9}|1|1")
    #expect(controller.sections[1].map { $0.item?.title ?? "" } == ["t1000", "t1002", "t1004"])
  }

  @Test
  func `D14 The only neighbour that is asked for is the item itself, wherever it stands`() async throws {
    let (_, controller, _) = try await following(many(7, owners: ["ann", "bob"]))
    controller.nearbyItemsSize = 1
    for id in 0..<7 {
      #expect(controller.nearbyItemIdentifiers(for: id) == [id])
      #expect(controller.viewObject(with: id)?.id == id)
    }
    #expect(controller.statistics.rowReadCount == 7)
  }
}
