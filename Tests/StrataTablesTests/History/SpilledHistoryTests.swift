// Tables of a historian that are too large for memory: their leaves go to a file without a name.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct SpilledHistoryTests {
  // MARK: Trees

  /// What a spilled tree is made from again where its file cannot be read.
  private final class Healer: Sendable {
    let tree = Lock(Tree())
    let faults = Lock(StateFaults())

    var healing: TreeHealing {
      TreeHealing(name: "a tree", faults: faults) { [tree] () throws(StoreError) in tree.withLock { $0 } }
    }
  }

  private static func file(_ disk: SimulatedDisk, _ cache: PageCache) -> SpillFile {
    SpillFile(
      cache,
      makeFile: { () throws(StoreError) in
        let file = try disk.open("/leaves", .createNew)
        try disk.remove("/leaves")
        return file
      },
      write: { (file, bytes, offset) throws(StoreError) in try file.write(bytes, at: offset) })
  }

  @Test func `fault 98: a tree whose leaves are in a file is its model, and so is each earlier version`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (spilled, damaged, joined) = (0, 0, 0)
    while runs.next() {
      let disk = SimulatedDisk()
      let cache = PageCache(limit: [0, 3_000, 1 << 20].randomElement(using: &random)!)
      let file = Self.file(disk, cache)
      let pageSize = [256, 512, 4_096].randomElement(using: &random)!
      var keys = TreeRandomness(
        seed: random.next(), keyCount: Int.random(in: 5...400, using: &random),
        longKeys: Int.random(in: 0..<9, using: &random) == 0)
      var tree = Tree(pageSize: pageSize)
      var model = TreeModel()
      var versions: [(tree: Tree, model: TreeModel)] = []
      var healers: [Healer] = []
      var fails = false
      for _ in 0..<Int.random(in: 10...120, using: &random) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<7:
          for _ in 0..<Int.random(in: 1...20, using: &random) {
            let (key, value) = (keys.key(), keys.value(large: false))
            #expect(tree.set(key, value) == model.set(key, value))
          }
        case 7..<9:
          let key = keys.key()
          #expect(tree.remove(key) == model.remove(key))
        case 9: versions.append((tree, model))
        default:
          if Bool.random(using: &random) { versions = [] }
          let before = file.length
          let others = versions.map { file.byteCount(of: $0.tree) }
          let healer = Healer()
          healers.append(healer)
          healer.tree.withLock { $0 = Tree(building: model, pageSize: pageSize) }
          try file.spill(&tree, healer.healing, .problems)
          spilled += file.length > before ? 1 : 0
          // What is left is what earlier versions have, too, and a root.
          // Leaves that the cache has dropped may not be freed yet.
          if versions.isEmpty, cache.limit > 3_000 { #expect(tree.ownLeafBytes() == 0) }
          #expect(file.byteCount(of: tree) <= file.length)
          // Another thread may read or write those.
          #expect(versions.map { file.byteCount(of: $0.tree) } == others)
          if Int.random(in: 0..<6, using: &random) == 0 {
            disk.inject(SimulatedFailure(of: [.read]))
            fails = true
          }
        }
        #expect(tree.checkInvariants() == nil)
      }
      #expect(tree.model == model)
      for (tree, model) in versions { #expect(tree.model == model) }
      let isDamaged = healers.contains { healer in healer.faults.withLock { $0.count > 0 } }
      damaged += isDamaged ? 1 : 0
      #expect(fails || !isDamaged)
      disk.clearFailures()
      // The leaves of parts of a tree, of which some are in the file.
      let cut = model.keys.isEmpty ? 0 : Int.random(in: 0...model.keys.count, using: &random)
      var parts = [model, model]
      (parts[0].keys, parts[0].values) = (Array(model.keys[..<cut]), Array(model.values[..<cut]))
      (parts[1].keys, parts[1].values) = (Array(model.keys[cut...]), Array(model.values[cut...]))
      var trees = parts.map { Tree(building: $0, pageSize: pageSize) }
      for index in trees.indices where Bool.random(using: &random) {
        let healer = Healer()
        healer.tree.withLock { $0 = Tree(building: model, pageSize: pageSize) }
        try file.spill(&trees[index], healer.healing, .problems)
        joined += 1
      }
      var whole = Tree(joining: trees, pageSize: pageSize)
      #expect(whole.checkInvariants() == nil)
      #expect(whole.model == model)
      let key = keys.key()
      #expect(whole.set(key, [1]) == model.set(key, [1]))
      #expect(whole.model == model)
    }
    print("spilled \(spilled), damaged \(damaged), joined \(joined)")
    #expect(spilled > 2 * runs.count && damaged > runs.count / 20 && joined > runs.count / 2)
  }

  // MARK: Histories

  private static func options(_ random: inout SeededGenerator) -> StoreOptions {
    var options = HistoryStore.options(&random)
    options.history = .all
    return options
  }

  /// The bytes of each run and of the manifest.
  private static func files(_ disk: SimulatedDisk) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for path in disk.historyPaths { files[path] = disk.contents(path) }
    return files
  }

  /// Appends the same events in each of some processes, which keep the history.
  private static func keep(
    _ disk: SimulatedDisk, _ folding: Folding, _ options: StoreOptions, _ events: StateEvents, counts: [Int]
  ) throws -> HistoryBegins {
    var (options, events) = (options, events)
    // Each append a second after the last one.
    options.clock = .fixed
    var all = HistoryBegins()
    for count in counts {
      let store = try StateStore.open(disk, options: options)
      for _ in 0..<count { try events.append(to: store) }
      let historian = try #require(store.projector(folding).historian)
      try historian.recordBlocking(writesRest: true)
      #expect(historian.end == store.head.sequence)
      all.spilledBytes += historian.begins.spilledBytes
      all.spillFiles += historian.begins.spillFiles
      all.fromRuns += historian.begins.fromRuns
      try store.closeBlocking()
    }
    return all
  }

  @Test func `a history that is kept with little memory has the same bytes as one that is kept with much`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var met = HistoryBegins()
    while runs.next() {
      let disk = SimulatedDisk()
      let folding = StateStore.foldings.randomElement(using: &random)!
      var options = Self.options(&random)
      // Without saved states, a process begins with all rows of the runs.
      options.savedFoldingMin = [.zero, .seconds(1_000)].randomElement(using: &random)!
      (options.unsavedSize, options.pageCacheSize) = (1 << 30, 1 << 30)
      var events = StateEvents(seed: random.next())
      events.rowCount = [12, 60, 300].randomElement(using: &random)!
      try StateStore.open(disk, options: options).closeBlocking()
      let other = disk.clone()
      let counts = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        Int.random(in: 3...25, using: &random)
      }
      _ = try Self.keep(disk, folding, options, events, counts: counts)
      options.unsavedSize = [0, 0, 2_000, 9_000].randomElement(using: &random)!
      options.pageCacheSize = [0, 5_000].randomElement(using: &random)!
      let begins = try Self.keep(other, folding, options, events, counts: counts)
      met.spilledBytes += begins.spilledBytes
      met.spillFiles += begins.spillFiles
      met.fromRuns += begins.fromRuns
      let (one, two) = (Self.files(disk), Self.files(other))
      let differing = Set(one.keys).union(two.keys).filter { one[$0] != two[$0] }.sorted()
      #expect(differing.isEmpty, "run \(runs.count), begun \(begins)")
    }
    print("histories: \(met)")
    #expect(met.spillFiles > runs.count / 3 && met.fromRuns > runs.count / 3)
  }

  @Test func `a history has the same bytes wherever the steps of its work end`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var merged = 0
    while runs.next() {
      let disk = SimulatedDisk()
      let folding = StateStore.foldings.randomElement(using: &random)!
      var options = Self.options(&random)
      // A base is due by the number of rows, which each event may change.
      options.runLimits.baseChangeCountMin = 1
      options.runLimits.stepTime = .seconds(3_600)
      var events = StateEvents(seed: random.next())
      events.rowCount = [3, 12].randomElement(using: &random)!
      try StateStore.open(disk, options: options).closeBlocking()
      let other = disk.clone()
      let counts = [Int.random(in: 20...50, using: &random)]
      _ = try Self.keep(disk, folding, options, events, counts: counts)
      // Each step ends after one event.
      options.runLimits.stepTime = .zero
      _ = try Self.keep(other, folding, options, events, counts: counts)
      let (one, two) = (Self.files(disk), Self.files(other))
      merged += one.count < counts[0] ? 1 : 0
      let differing = Set(one.keys).union(two.keys).filter { one[$0] != two[$0] }.sorted()
      #expect(differing.isEmpty, "run \(runs.count)")
    }
    #expect(merged > runs.count / 2)
  }

  private static func put(_ ids: [Int], _ text: Character, in store: EventStore) throws {
    try store.appendAny(
      ids.map { id in
        NewEvent(
          DocumentEvent.put, in: StreamName(category: "a", id: "row \(id)"),
          payload: EventPayload(["t": .string("\(id)" + String(repeating: text, count: 180))]))
      })
  }

  /// The bytes of files on a disk that have no name.
  private static func namelessSize(_ disk: SimulatedDisk) -> Int {
    disk.usedSize - disk.namedSize
  }

  @Test
  func
    `fault 98: the file without a name stays in proportion to the tables, and is closed when the log needs room`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.history = .all
    options.savedFoldingMin = .seconds(1_000)
    (options.unsavedSize, options.pageCacheSize) = (4_096, 4_096)
    options.runLimits.changeCountMax = 100
    let store = try StateStore.open(disk, options: options)
    let historian = try #require(store.projector(StateStore.documents).historian)
    // A hundred pages, of which each event changes one.
    try Self.put(Array(0..<1_000), "a", in: store)
    try historian.recordBlocking()
    var most = 0
    for round in 0..<100 {
      let ids = (0..<50).map { _ in Int.random(in: 0..<1_000, using: &random) }
      try Self.put(ids, round % 2 == 0 ? "b" : "c", in: store)
      try historian.recordBlocking()
      most = max(most, Self.namelessSize(disk))
    }
    let begins = historian.begins
    // The tables take some 60 KB, as they compress well.
    #expect(begins.spilledBytes > 1 << 20, "\(begins)")
    #expect(most < 500_000, "\(most)")
    #expect(begins.spillFiles > 2 && begins.fromRuns == begins.spillFiles - 1, "\(begins)")
    // The last run may have ended with the fold to begin again, of which nothing is read before there is more to do.
    if Self.namelessSize(disk) == 0 {
      try Self.put(Array(0..<50), "e", in: store)
      try historian.recordBlocking()
    }
    #expect(Self.namelessSize(disk) > 0)
    historian.evict(isErasing: false)
    #expect(Self.namelessSize(disk) == 0)
    try Self.put([1, 2, 3], "d", in: store)
    try historian.recordBlocking(writesRest: true)
    let set = try #require(historian.runs())
    #expect(set.end == store.head.sequence)
    let fold = Fold(store.log, StateStore.documents)
    try fold.run(through: set.end)
    #expect(try set.tables(at: set.end, recordsTouches: false).hasSameContent(as: fold.state))
    try store.closeBlocking()
  }

  @Test
  func `the rows that a fold begins with go to the file while they are read, and not when all are there`()
    throws
  {
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.history = .all
    options.savedFoldingMin = .seconds(1_000)
    options.runLimits.changeCountMax = 500
    options.runLimits.partRowCountMin = 100
    let store = try StateStore.open(disk, options: options)
    let folding = StateStore.documents
    let historian = try #require(store.projector(folding).historian)
    try Self.put(Array(0..<4_000), "a", in: store)
    try historian.recordBlocking(writesRest: true)
    let runs = try #require(historian.runs())
    let last = try #require(try historian.files.manifest()?.runs.last)
    let file = Self.file(disk, PageCache(limit: 0))
    let begin = HistoryBegin(store.log, folding, runs, last, nil)
    var lengths: [UInt64] = []
    var made: HistoryBegin.Made?
    while made == nil {
      made = try begin.resume(TimeSlice(until: .now()))
      if made == nil { try begin.spill(to: file, over: 100_000) }
      lengths.append(file.length)
    }
    var tables = try #require(made?.tables)
    made = nil
    // Eight parts, of which the last one is still in memory.
    #expect(Set(lengths).count > 3, "\(lengths)")
    #expect(tables.ownLeafBytes() < 400_000)
    let fold = Fold(store.log, folding)
    try fold.run(through: runs.end)
    #expect(tables.hasSameContent(as: fold.state))
    try store.closeBlocking()
  }

  /// A historian whose fold has little memory, and its store.
  private static func little(_ disk: SimulatedDisk) throws -> (EventStore, Historian) {
    var options = StateStore.options()
    options.history = .all
    options.savedFoldingMin = .seconds(1_000)
    (options.unsavedSize, options.pageCacheSize) = (100_000, 100_000)
    options.runLimits.changeCountMax = 1_000
    let store = try StateStore.open(disk, options: options)
    return (store, try #require(store.projector(StateStore.documents).historian))
  }

  @Test func `fault 98: a fold that can open no file for its pages keeps them in memory, and goes on`() throws
  {
    let disk = SimulatedDisk()
    let (store, historian) = try Self.little(disk)
    try Self.put(Array(0..<100), "a", in: store)
    try historian.recordBlocking()
    #expect(historian.begins.spillFiles == 0)
    let refused = Lock(0)
    disk.onOperation { call in
      guard call.operation == .open, call.path.hasPrefix(StateStore.layout.histories) else { return .proceed }
      refused.withLock { $0 += 1 }
      return .fail(SystemErrorCode.tooManyOpenFiles)
    }
    // Too few changes for a run, which would need a file too.
    try Self.put(Array(100..<900), "b", in: store)
    for _ in 0..<2 { try historian.recordBlocking() }
    #expect(refused.withLock { $0 } > 0 && historian.failure == nil)
    disk.onOperation(nil)
    try Self.put(Array(0..<900), "c", in: store)
    try historian.recordBlocking(writesRest: true)
    #expect(historian.begins.spillFiles > 0 && historian.begins.fromRuns == 0, "\(historian.begins)")
    let set = try #require(historian.runs())
    let fold = Fold(store.log, StateStore.documents)
    try fold.run(through: set.end)
    #expect(set.end == store.head.sequence)
    #expect(try set.tables(at: set.end, recordsTouches: false).hasSameContent(as: fold.state))
    try store.closeBlocking()
  }

  @Test func `a few large rows go to the file as many small ones do`() throws {
    let disk = SimulatedDisk()
    let (store, historian) = try Self.little(disk)
    for id in 0..<30 {
      let text = String(repeating: "\(id) ", count: 10_000)
      try store.appendAny([
        NewEvent(
          DocumentEvent.put, in: StreamName(category: "a", id: "row \(id)"),
          payload: EventPayload(["t": .string(text)]))
      ])
      try historian.recordBlocking()
    }
    // Some 800 KB, of which an eighth may be in memory.
    #expect(Self.namelessSize(disk) > 0 && historian.begins.spillFiles == 1)
    try store.closeBlocking()
  }
}
