// What a store says of the memory that its tables and lists take, and that it stays within the bound.

internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct StoreMemoryTests {
  private struct Task: Codable, Identifiable, Sendable, Equatable {
    var id: String
    var owner: String
    var text: String
  }

  private static let limit = 300_000
  private static let count = 20_000
  private static let list = ListRequest(Task.self).sectioned(by: \.owner).sorted(by: \.text).kept(as: "mine")

  /// - Parameter savesByItself: whether a state is saved in the background as soon as folding it took long.
  private static func open(_ disk: SimulatedDisk, savesByItself: Bool = true) throws -> EventStore {
    var options = StoreOptions()
    options.pageCacheSize = limit
    if !savesByItself { options.savedFoldingMin = .seconds(1_000) }
    return try EventStore.open(disk, path: "/store", .readWrite, options: options)
  }

  private static func task(_ index: Int, _ text: String = "as it was") -> Task {
    Task(id: "t\(index)", owner: "o\(index % 20)", text: "\(text), \(index) \(index % 7)")
  }

  private static func filled(_ disk: SimulatedDisk, savesByItself: Bool = true) async throws -> EventStore {
    let store = try open(disk, savesByItself: savesByItself)
    try await store.collection("task", of: Task.self).put((0..<count).map { task($0) })
    return store
  }

  @Test
  func `A walk through a saved list of any length stays within the bound, also in a snapshot that is held`()
    async throws
  {
    let disk = SimulatedDisk()
    try await FetchController(Self.list, from: Self.filled(disk).collection("task", of: Task.self))
      .performFetch()
    let store = try Self.open(disk)
    let tasks = store.collection("task", of: Task.self)
    let controller = FetchController(Self.list, from: tasks)
    let first = try await controller.performFetch()
    try await tasks.put(Self.task(3, "changed"))
    let second = try await controller.performFetch()
    var most = 0
    for snapshot in [first, second] {
      for section in 0..<snapshot.numberOfSections {
        for index in stride(from: 0, to: snapshot.numberOfItems(inSectionAt: section), by: 10) {
          let row = snapshot.row(at: ListIndex(section: section, item: index))
          #expect(row?.owner == snapshot.sectionIdentifier(at: section))
        }
        most = max(most, store.memory().newestByteCount + store.memory().heldByteCount)
      }
    }
    let memory = store.memory()
    #expect(memory.cacheLimit == Self.limit && memory.cacheByteCount <= Self.limit)
    #expect(store.projections.allSatisfy { $0.pageByteCount > 4 * Self.limit })
    // Inner pages and stubs come on top.
    #expect(most < 2 * Self.limit, "\(most) bytes")
    try await store.close()
  }

  @Test func `After a checkpoint the rows of a process that only writes are within the bound`() async throws {
    let store = try await Self.filled(SimulatedDisk(), savesByItself: false)
    let tasks = store.collection("task", of: Task.self)
    #expect(try await tasks["t7"] == Self.task(7))
    let before = store.memory()
    #expect(before.newestByteCount > 4 * Self.limit && before.cacheByteCount == 0)
    try await store.checkpoint()
    let after = store.memory()
    #expect(after.cacheByteCount <= Self.limit && after.newestByteCount < 2 * Self.limit, "\(after)")
    for index in 0..<Self.count where index % 97 == 0 {
      #expect(try await tasks["t\(index)"] == Self.task(index))
    }
    try await store.close()
  }

  @Test func `Versions that snapshots hold are counted with what they alone have, until they go`()
    async throws
  {
    let store = try await Self.filled(SimulatedDisk())
    let tasks = store.collection("task", of: Task.self)
    let controller = FetchController(Self.list, from: tasks)
    var held: [ListSnapshot<Task, String>] = []
    for index in 0..<3 {
      held.append(try await controller.performFetch())
      try await tasks.put(Self.task(index, "changed"))
    }
    held.append(try await controller.performFetch())
    #expect(store.memory().heldVersionCount == 4)
    #expect(store.memory().oldestHeldSequence == UInt64(Self.count))
    #expect((1..<400_000).contains(store.memory().heldByteCount), "\(store.memory())")
    held.removeFirst(3)
    #expect(store.memory().heldVersionCount == 1 && store.memory().heldByteCount == 0)
    #expect(store.memory().oldestHeldSequence == store.head.sequence)
    #expect(held[0].numberOfItems == Self.count)
    try await store.close()
  }
}
