// Pages that are read before they are looked into one after another.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct RowsAheadTests {
  /// What a source was asked for, in order.
  private enum Call: Equatable {
    case ask(PageAddress)
    case read(PageAddress)
  }

  private static func readAhead(_ tree: Tree, _ keys: [[UInt8]], on parallel: Parallel) -> Int {
    let bytes = keys.flatMap { $0 }
    return bytes.withUnsafeBytes { bytes in
      var runs: [ByteRun] = []
      var start = 0
      for key in keys {
        runs.append(ByteRun(UnsafeRawBufferPointer(rebasing: bytes[start..<start + key.count])))
        start += key.count
      }
      return tree.readAhead(runs, on: parallel)
    }
  }

  @Test(arguments: [1, 4])
  func `Reading ahead reads the pages on the way to some keys, once, and no others`(threadCount: Int) throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let parallel = Parallel(threads: .system, threadCountMax: threadCount)
    let (disk, saved, model) = try LazyTreeTests.numbers(20_000)
    for count in [1, 10, 300, 20_000] {
      let reader = try disk.reader()
      let tree = try disk.open(saved, from: reader, healing: nil)
      let indices = model.keys.indices.shuffled(using: &random).prefix(count).sorted()
      // A key that the tree lacks would be in the leaf of the one before it.
      let keys = indices.map { model.keys[$0] + (Bool.random(using: &random) ? [0] : []) }
      let readCount = Self.readAhead(tree, keys, on: parallel)
      #expect(readCount == reader.loaded.pages && readCount >= tree.statistics.height)
      for index in indices { #expect(tree.value(of: model.keys[index]) == model.values[index]) }
      #expect(reader.loaded.pages == readCount, "a page was not read ahead")
      #expect(Self.readAhead(tree, keys, on: parallel) == 0)
      let other = try disk.reader()
      let one = try disk.open(saved, from: other, healing: nil)
      for key in keys { _ = one.value(of: key) }
      #expect(other.loaded.pages == readCount, "a page was read that no key needs")
    }
  }

  @Test func `All pages of a level are asked for before one of them is read`() throws {
    let (disk, saved, model) = try LazyTreeTests.numbers(20_000)
    let files = try disk.reader()
    let calls = Lock<[Call]>([])
    let pages = StateTreeReader(files, pageSize: saved.tree.pageSize, healing: nil) { _, _ in true }
    let source = PageSource(
      files.lineage, files.cache, willRead: { place in calls.withLock { $0.append(.ask(place)) } }
    ) { (part, source) throws(PageLoss) in
      calls.withLock { $0.append(.read(part.address)) }
      do throws(PageDamage) { return try pages.read(part, source) } catch {
        throw PageLoss(what: error.what)
      }
    }
    let root = saved.stored.root
    let page = try source.page(
      PagePart(address: root.address, height: Int(root.height), total: root.total, low: nil, high: nil))
    let tree = Tree(pageSize: saved.tree.pageSize, owned: page)
    calls.withLock { $0 = [] }
    let keys = stride(from: 0, to: 20_000, by: 100).map { model.keys[$0] }
    let count = Self.readAhead(tree, keys, on: .none)
    var left = calls.withLock { $0 }
    #expect(left.count == 2 * count && count > 200)
    for _ in 0..<Int(root.height) {
      let asked = left.prefix { if case .ask = $0 { true } else { false } }
      let read = left.dropFirst(asked.count).prefix(asked.count)
      let places = asked.map { if case .ask(let place) = $0 { place } else { PageAddress.none } }
      #expect(!places.isEmpty)
      #expect(Array(read) == places.map { .read($0) })
      left.removeFirst(asked.count + read.count)
    }
    #expect(left.isEmpty)
  }

  @Test func `A page that cannot be read ahead is made again when it is looked into`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (disk, saved, model) = try LazyTreeTests.numbers(5_000)
    var opened: Tree?
    // Without its root there is no tree.
    while true {
      if try !disk.damage(&random).isEmpty {
        opened = try? disk.open(saved, from: disk.reader(), healing: saved.tree)
        if opened != nil { break }
      }
      (disk, saved, model) = try LazyTreeTests.numbers(5_000)
    }
    let tree = try #require(opened)
    _ = Self.readAhead(tree, model.keys, on: Parallel(threads: .system, threadCountMax: 4))
    #expect(tree.model == model && disk.faults.withLock { $0.count } > 0)
  }

  @Test(arguments: [false, true])
  func `A fold from disk reads the rows of the next events on several threads, and a fold in memory does not`(
    isFromDisk: Bool
  ) async throws {
    let disk = MemoryFileSystem()
    try await LazyStateTests.saveLarge(disk)
    let names = Lock<[String]>([])
    var options = LazyStateTests.options()
    options.machine = StoreMachine(
      threads: ThreadStarter { (name, body) throws(FileSystemError) in
        names.withLock { $0.append(name) }
        return try DedicatedThread(name: name, body)
      }, clock: .fixed)
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    for number in 0..<1_500 {
      let document: DocumentValue = ["text": .string("new"), "n": .int(Int64(number % 20))]
      let row = StreamName(category: "row", id: "row \(number * 7 % 3_000)")
      try store.appendBlocking([NewEvent(DocumentEvent.put, in: row, payload: EventPayload(document))])
    }
    let documents = Folding.documents(only: nil)
    let fold: Fold
    if isFromDisk {
      fold = Fold.resuming(store.log, documents)
    } else {
      fold = Fold(store.log, documents)
      try fold.run(through: 3_000)
    }
    names.withLock { $0 = [] }
    try fold.run(through: .max)
    let isParallel = DedicatedThread.processorCount > 1
    #expect(names.withLock { $0.contains("strata-parallel") } == (isFromDisk && isParallel))
    #expect(fold.state.sequence == store.head.sequence)
    try LazyStateTests.compare(fold.state, store)
    try await store.close()
  }
}
