// Rows by their ids: the window around an item, which rows are read ahead, and which leave the cache.

internal import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataPast
@testable internal import StrataViews
internal import StrataTables
internal import Testing

@Suite struct FacadeRowTests {
  /// The documented formula, with its error at n = 1 corrected.
  private func nearby(_ ids: [Int], _ i: Int, _ n: Int) -> [Int] {
    let c = ids.count
    if i < n { return Array(ids.prefix(n)) }
    if i >= c - n { return Array(ids.suffix(n)) }
    if n == 1 { return [ids[i]] }
    return Array(ids[i + n / 2 - n..<i + n / 2])
  }

  @Test(arguments: [1, 2, 5])
  func `R52 The items around an item are those of the formula, in one section and in many`(sectionCount: Int)
    async throws
  {
    for count in [0, 1, 2, 3, 7, 20] {
      let chores = EventStore.inMemory().collection("task", of: Chore.self)
      if count > 0 {
        try await chores.put(
          (0..<count).map { Chore(id: $0, title: "t", owner: "o\($0 * 7 % sectionCount)") })
      }
      let controller = DiffableFetchController(chores, sectionKey: \.owner, sortKeys: [.init(\.id)])
      #expect(controller.nearbyItemIdentifiers(for: 0) == nil)
      let ids = try await controller.performFetch().itemIdentifiers
      #expect(controller.nearbyItemIdentifiers(for: 0) == nil)
      for size in [-1, 0] {
        controller.nearbyItemsSize = size
        #expect(controller.nearbyItemIdentifiers(for: 0) == nil)
      }
      for size in 1...count + 2 {
        controller.nearbyItemsSize = size
        for (place, id) in ids.enumerated() {
          let around = try #require(controller.nearbyItemIdentifiers(for: id))
          #expect(around == nearby(ids, place, size), "\(id) of \(ids) by \(size)")
          #expect(around.contains(id) && around.count == min(size, count))
        }
        #expect(controller.nearbyItemIdentifiers(for: 99) == nil)
      }
    }
  }

  @Test
  func `R52 A document that was changed and changed back is read again, with its revision`() async throws {
    let store = EventStore.inMemory()
    func put(_ titles: String...) async throws {
      try await store.append(
        titles.map { NewEvent(DocumentEvent.put, in: "task/1", .object(["title": .string($0)])) })
    }
    try await put("first")
    let queue = HeldQueue()
    let controller = DiffableFetchController<DocumentRow, Unsectioned>(
      DiffableFetchRequest(sortKeys: [.init(\.id)]), from: store.documents("task"),
      processingQueue: queue.executor)
    controller.isMonitoring = false
    controller.nearbyItemsSize = 10
    try await controller.performFetch()
    #expect(controller.viewObject(with: "1")?.revision == 1)
    try await put("other", "first")
    try await controller.performFetch()
    queue.runAll()
    #expect(controller.currentSnapshot?.row(for: "1")?.revision == 3)
    #expect(controller.viewObject(with: "1")?.revision == 3)
  }

  @Test
  func `R52 Rows are read with their neighbours, once, and no more than twice that many are kept`()
    async throws
  {
    let chores = EventStore.inMemory().collection("task", of: Chore.self)
    try await chores.put((0..<100).map { Chore(id: $0, title: "t\($0)") })
    let controller = DiffableFetchController<Chore, Unsectioned>(chores, sortKeys: [.init(\.id)])
    try await controller.performFetch()
    controller.nearbyItemsSize = 10
    for id in 0..<100 {
      #expect(controller.viewObject(with: id)?.title == "t\(id)")
      #expect(controller.state.withLock { $0.cache.count } <= 20)
    }
    // Every row was read once; at most one call in five had to read.
    #expect(controller.statistics.rowReadCount == 100)
    #expect(controller.statistics.cacheHitCount > 80)
    for id in (0..<100).reversed() { #expect(controller.viewObject(with: id)?.id == id) }
    #expect(controller.statistics.rowReadCount < 210)
    controller.nearbyItemsSize = nil
    #expect(controller.state.withLock { $0.cache.count } == 0)
    let before = controller.statistics
    for _ in 0..<3 { #expect(controller.viewObject(with: 5)?.title == "t5") }
    #expect(controller.statistics.rowReadCount == before.rowReadCount + 3)
    #expect(controller.statistics.cacheHitCount == before.cacheHitCount)
  }

  @Test
  func `R64 A row that was read ahead is forgotten when it changes, leaves, or is pushed out`() async throws {
    let chores = try await FacadeTests.chores(6)
    let (controller, _, queue) = FacadeTests.held(chores)
    controller.nearbyItemsSize = 40
    try await controller.apply { $0.fetchLimit = 5 }
    queue.runAll()
    // 0, 2 and 4 have no owner; ann's are 1, 3, and 5, which the limit hides.
    for id in 0..<5 { #expect(controller.viewObject(with: id) != nil) }
    #expect(controller.viewObject(with: 5) == nil)
    func follow() async throws {
      try await controller.performFetch()
      queue.runAll()
    }
    try await chores.update(0) { $0.title = "A" }
    try await chores.update(1) { $0.isDone = true }
    try await follow()
    #expect(controller.viewObject(with: 0)?.title == "A" && controller.viewObject(with: 1)?.isDone == true)
    // A move to another section with a changed row; a row pushed out by a new one; a deletion.
    try await chores.update(4) { $0.owner = "ann" }
    try await follow()
    #expect(controller.viewObject(with: 4)?.owner == "ann")
    try await chores.put(Chore(id: 8, title: "0"))
    try await follow()
    #expect(controller.viewObject(with: 8) != nil && controller.viewObject(with: 4) == nil)
    try await chores.delete(2)
    try await follow()
    #expect(controller.viewObject(with: 2) == nil && controller.viewObject(with: 4) != nil)
  }

  /// A row that reports when it is deinitialised.
  private final class Guest: Codable, Identifiable, Sendable {
    static let ended = Lock<(@Sendable () -> Void)?>(nil)
    let id: Int

    deinit { Self.ended.withLock { $0 }?() }
  }

  @Test
  func `R56 A row that ends when it falls out of what is kept may ask the list`() async throws {
    let store = EventStore.inMemory()
    for id in 0..<30 {
      try await store.append([
        NewEvent(
          DocumentEvent.put, in: StreamName(category: "guest", id: "\(id)"),
          payload: EventPayload(["id": .int(Int64(id))]))
      ])
    }
    let controller = DiffableFetchController<Guest, Unsectioned>(
      store.collection("guest", of: Guest.self), sortKeys: [.init(\.id)])
    controller.nearbyItemsSize = 3
    try await controller.performFetch()
    let endedCount = Lock(0)
    Guest.ended.withLock {
      $0 = { [weak controller] in
        _ = (controller?.statistics, controller?.currentSnapshot, controller?.nearbyItemsSize)
        endedCount.withLock { $0 += 1 }
      }
    }
    defer { Guest.ended.withLock { $0 = nil } }
    for id in Array(0..<30) + (0..<30).reversed() { #expect(controller.viewObject(with: id)?.id == id) }
    controller.nearbyItemsSize = nil
    #expect(endedCount.withLock { $0 } >= 30)
  }

  @Test(arguments: [0, -1])
  func `R44 A limit of nothing or less is none, as in Core Data`(_ limit: Int) async throws {
    let (controller, _, _) = FacadeTests.held(try await FacadeTests.chores(6))
    let snapshot = try await controller.apply { $0.fetchLimit = limit }
    #expect(snapshot.numberOfItems == 6)
  }

  @Test
  func `R16 Ids of other bytes are other rows, also where Swift calls them equal`() async throws {
    struct Word: Codable, Identifiable, Sendable { var id: String, text: String }
    let words = EventStore.inMemory().collection("word", of: Word.self)
    try await words.put([Word(id: "\u{e9}", text: "one"), Word(id: "e\u{301}", text: "two")])
    let controller = DiffableFetchController<Word, Unsectioned>(words, sortKeys: [.init(\.text)])
    controller.nearbyItemsSize = 5
    try await controller.performFetch()
    for _ in 0..<2 {
      #expect(controller.viewObject(with: "\u{e9}")?.text == "one")
      #expect(controller.viewObject(with: "e\u{301}")?.text == "two")
    }
  }
}
