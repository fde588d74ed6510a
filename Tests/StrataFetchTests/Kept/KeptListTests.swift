// Lists that are kept on disk: in each process they show what a list shows that is built from the rows.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct KeptListTests {
  /// The number of histories of the property.
  private static let historyCount = 500

  @Test func `a kept list of any request shows in every process what a list shows that is built`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var counts = KeptHistory.Counts()
    for _ in 0..<Self.historyCount {
      var history = KeptHistory(&random)
      try await history.run()
      counts.add(history.counts)
    }
    print(counts)
    #expect(counts.adopted > Self.historyCount / 4 && counts.caughtUp > Self.historyCount / 4)
    #expect(counts.replaced > Self.historyCount / 10 && counts.typed > 0)
  }

  // MARK: What identifies a list

  private struct Task: Codable, Identifiable, Sendable {
    var id: String
    var owner: String
    var size: Int
    var half: Int { size / 2 }
  }

  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    return options
  }

  private static func store(_ disk: SimulatedDisk) throws -> EventStore {
    try EventStore.open(disk, path: "/store", .readWrite, options: options())
  }

  private static func filled(_ disk: SimulatedDisk) async throws -> EventStore {
    let store = try store(disk)
    try await store.collection("task", of: Task.self)
      .put((0..<40).map { Task(id: "t\($0)", owner: "o\($0 % 3)", size: $0 * 7 % 11) })
    return store
  }

  /// The views that the next process finds, as pairs of table and name.
  private static func saved(_ disk: SimulatedDisk) throws -> Set<String> {
    let store = try EventStore.open(disk, path: "/store", .readOnly, options: options())
    defer { try? store.closeBlocking() }
    let views = Fold.resuming(store.log, .documents(only: nil)).state.savedViews
    return Set(views.map { "\($0.table): \($0.kept.name)" })
  }

  @Test func `a list with code that nothing identifies needs a version`() async throws {
    let disk = SimulatedDisk()
    let store = try await Self.filled(disk)
    let tasks = store.collection("task", of: Task.self)
    let named = ListRequest(Task.self).sectioned(by: \.owner).sorted(by: \.size)
    for (request, what) in [
      (named.filtered { $0.size > 3 }, "a closure without an id"),
      (named.sorted(by: \.half), "a computed property"),
    ] {
      let error = await #expect(throws: (any Error).self) {
        try await FetchController(request.kept(as: "mine"), from: tasks).performFetch()
      }
      #expect("\(String(describing: error))".contains(what), "\(String(describing: error))")
      let snapshot = try await FetchController(request.kept(as: what, version: 1), from: tasks).performFetch()
      #expect(snapshot.numberOfItems > 0)
    }
    try await FetchController(
      named.filtered(id: "at least 3") { $0.size > 3 }.kept(as: "with an id"), from: tasks
    ).performFetch()
    try store.closeBlocking()
    #expect(
      try Self.saved(disk) == [
        "task: a closure without an id", "task: a computed property", "task: with an id",
      ])
  }

  @Test func `a list is built again if its version, its definition or its table is another one`() async throws
  {
    let disk = SimulatedDisk()
    let first = ListRequest(Task.self).sectioned(by: \.owner).sorted(by: \.size)
    var store = try await Self.filled(disk)
    try await FetchController(
      first.kept(as: "a", version: 1), from: store.collection("task", of: Task.self)
    ).performFetch()
    try store.closeBlocking()
    #expect(try Self.saved(disk) == ["task: a"])
    for request in [
      first.kept(as: "a", version: 2),
      ListRequest(Task.self).kept(as: "a", version: 1).sectioned(by: \.owner).sorted(by: \.size),
      first.sorted(by: \.id, .reverse).kept(as: "a", version: 1),
      first.filtered(by: "size > 5").kept(as: "a", version: 1), first.kept(as: "a"),
    ] {
      store = try Self.store(disk)
      let tasks = store.collection("task", of: Task.self)
      var plain = request
      plain.kept = nil
      let shown = try await FetchController(request, from: tasks).performFetch()
      let built = try await FetchController(plain, from: tasks).performFetch()
      #expect(ArrayList(shown) == ArrayList(built))
      try store.closeBlocking()
      #expect(try Self.saved(disk) == ["task: a"])
    }
    // The same list of another table is another list.
    store = try Self.store(disk)
    try await store.collection("other", of: Task.self).put([Task(id: "x", owner: "y", size: 1)])
    let other = try await FetchController(
      first.kept(as: "a"), from: store.collection("other", of: Task.self)
    ).performFetch()
    #expect(other.numberOfItems == 1)
    try store.closeBlocking()
    #expect(try Self.saved(disk) == ["task: a", "other: a"])
  }

  @Test func `a kept list that nobody shows any longer is saved as it is at the close`() async throws {
    let disk = SimulatedDisk()
    var store = try await Self.filled(disk)
    let request = ListRequest(Task.self).sectioned(by: \.owner).sorted(by: \.size).kept(as: "a")
    do {
      let list = FetchController(request, from: store.collection("task", of: Task.self))
      try await list.performFetch()
    }
    let tasks = store.collection("task", of: Task.self)
    try await tasks.put([Task(id: "new", owner: "o1", size: 100)])
    _ = try await store.checkpoint()
    try store.closeBlocking()
    store = try Self.store(disk)
    let projector = store.projector(.documents(only: nil))
    let snapshot = try await FetchController(request, from: store.collection("task", of: Task.self))
      .performFetch()
    #expect(snapshot.numberOfItems == 41 && snapshot.index(of: "new") != nil)
    let views = projector.published["task"].views
    #expect(!views.isEmpty && views.allSatisfy { $0.isOnDisk })
    try store.closeBlocking()
  }

  @Test func `a search that changes with each letter leaves one kept list`() async throws {
    let disk = SimulatedDisk()
    let store = try await Self.filled(disk)
    let tasks = store.collection("task", of: Task.self)
    let request = ListRequest(Task.self).sectioned(by: \.owner).sorted(by: \.size)
    let list = FetchController(request.kept(as: "a"), from: tasks)
    try await list.performFetch()
    for size in 0..<8 {
      let shown = try await list.apply(request.filtered(by: "size > \(size)").kept(as: "a"))
      #expect(shown.numberOfItems > 0)
    }
    try await tasks.put([Task(id: "new", owner: "o1", size: 100)])
    #expect(try await list.performFetch().index(of: "new") != nil)
    #expect(store.projector(.documents(only: nil)).published["task"].views.count == 1)
    try store.closeBlocking()
    #expect(try Self.saved(disk) == ["task: a"])
  }

  @Test func `two lists shown under one name go on, and the one asked for last is saved`() async throws {
    let disk = SimulatedDisk()
    var store = try await Self.filled(disk)
    let request = ListRequest(Task.self).sectioned(by: \.owner).sorted(by: \.size)
    let requests = [request, request.sorted(by: \.id, .reverse)]
    do {
      let tasks = store.collection("task", of: Task.self)
      let lists = requests.map { FetchController($0.kept(as: "a"), from: tasks) }
      for list in lists { try await list.performFetch() }
      let third = FetchController(requests[0].kept(as: "a"), from: tasks)
      try await third.performFetch()
      for number in 0..<3 {
        try await tasks.put([Task(id: "new \(number)", owner: "o1", size: 100 - number)])
        for (list, request) in zip(lists, requests) {
          let shown = try await list.performFetch()
          let built = try await FetchController(request, from: tasks).performFetch()
          #expect(ArrayList(shown) == ArrayList(built) && shown.numberOfItems == 41 + number)
        }
      }
      _ = try await store.checkpoint()
      try store.closeBlocking()
    }
    store = try Self.store(disk)
    let tasks = store.collection("task", of: Task.self)
    try await FetchController(requests[0].kept(as: "a"), from: tasks).performFetch()
    let views = store.projector(.documents(only: nil)).published["task"].views
    #expect(views.count == 1 && views.allSatisfy { $0.isOnDisk })
    try store.closeBlocking()
  }
}

extension View {
  /// Whether all that the view holds is as it was read from disk.
  var isOnDisk: Bool {
    ViewTrees.Kind.allCases.allSatisfy { kind in
      trees[kind]?.root.map { root in !PageRef(root).address.pointee.isNone } ?? true
    }
  }
}
