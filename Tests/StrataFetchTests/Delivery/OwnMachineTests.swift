// A store that runs entirely on threads of the test.

internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct OwnMachineTests {
  private struct Page: Codable, Identifiable, Sendable {
    var id: String
    var title: String
  }

  /// Records the name of every thread that is started, and starts it.
  private static func machine(_ names: Lock<Set<String>>) -> StoreMachine {
    StoreMachine(
      threads: ThreadStarter { (name, body) throws(FileSystemError) in
        names.withLock { _ = $0.insert(name) }
        return try DedicatedThread(name: name, body)
      })
  }

  @Test func `a store has no thread that its machine did not start`() async throws {
    let names = Lock<Set<String>>([])
    var options = StoreOptions()
    options.segmentSizeTarget = 1
    options.machine = Self.machine(names)
    let disk = MemoryFileSystem()
    let store = try await EventStore.open(disk, at: "/store", .readWrite, options: options)
    let pages = store.collection("page", of: Page.self)
    let request = ListRequest(Page.self).sorted(by: \.title)
    let list = FetchController(request, from: pages)
    var updates = list.updates(.everyCommit).makeAsyncIterator()
    _ = try await updates.next()
    for number in 0..<4 { try await pages.put(Page(id: "\(number)", title: "\(number)")) }
    while let update = try await updates.next(), update.after.numberOfItems < 4 {}
    #expect(try await list.snapshot(at: .sequence(2)).numberOfItems == 2)
    #expect(try await store.append(holding: 1) != nil)
    _ = try await list.scrubber().move(to: .sequence(1))
    _ = try await store.seal()
    _ = try await store.erase(Erasure(streams: ["page/0"], because: "asked for"))
    try await store.close()
    let reader = try await EventStore.open(disk, at: "/store", .readOnly, options: options)
    #expect(try await reader.collection("page", of: Page.self)["1"]?.title == "1")
    try await reader.close()
    #expect(!names.withLock { $0.contains("strata-parallel") }, "so few rows are placed by one thread")
    let many = try await EventStore.open(MemoryFileSystem(), at: "/store", .readWrite, options: options)
    let manyPages = many.collection("page", of: Page.self)
    try await manyPages.put((0..<5_000).map { Page(id: "\($0)", title: "\($0 * 7919 % 5_000)") })
    #expect(try await FetchController(request, from: manyPages).performFetch().numberOfItems == 5_000)
    try await many.close()
    var expected: Set<String> = [
      "strata-open", "strata-commit", "strata-io", "strata-fold", "strata-follow", "strata-past",
      "strata-scrub",
      "strata-seal", "strata-erase", "strata-close", "strata-index", "strata-view",
    ]
    if DedicatedThread.processorCount > 1 { expected.insert("strata-parallel") }
    // Only a long step is watched, only a fold of lists is saved on a thread of its own, and only long payloads are
    // compressed in parts.
    #expect(names.withLock { $0.subtracting(["strata-save", "strata-watch", "strata-pack"]) } == expected)
  }
}
