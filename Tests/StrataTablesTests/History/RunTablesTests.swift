// States that are read from runs in parts: what they are, and what of a run is damage to them.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct RunTablesTests {
  private static let threads = Parallel(threads: .system, threadCountMax: 3)

  @Test func `a state that several threads read has the rows of the wanted tables, and those alone`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (largest, wanted) = (0, 0)
    while runs.next() {
      var options = HistoryStore.options(&random)
      options.runLimits.partRowCountMin = [1, 2, 7].randomElement(using: &random)!
      let store = try StateStore.open(SimulatedDisk(), options: options)
      let historian = try #require(Historian(store.log, StateStore.documents))
      var events = StateEvents(seed: random.next())
      events.rowCount = [2, 40, 200].randomElement(using: &random)!
      for _ in 0..<Int.random(in: 30...60, using: &random) { try events.append(to: store) }
      try historian.recordBlocking()
      let set = try #require(historian.runs())
      let fold = Fold(store.log, StateStore.documents)
      let sequence = UInt64.random(in: set.begin + 1...set.end, using: &random)
      try fold.run(through: sequence)
      let all = HistoryStore.rows(fold.state)
      largest = max(largest, all.values.map(\.count).max() ?? 0)
      for _ in 0..<2 {
        let names = ["a", "b", "ünder", "none"].filter { _ in Bool.random(using: &random) }
        let state = try set.tables(
          at: sequence, recordsTouches: false, only: Set(names), options.runLimits, on: Self.threads)
        let rows = HistoryStore.rows(state)
        #expect(
          rows.filter { !$0.value.isEmpty } == all.filter { names.contains($0.key) && !$0.value.isEmpty })
        #expect(Set(rows.keys).isSubset(of: names))
        for table in state.tables { #expect(table.checkInvariants() == nil) }
        wanted += rows.values.reduce(0) { $0 + $1.count }
      }
      try store.closeBlocking()
    }
    // Enough rows for several parts.
    if runs.count >= 20 { #expect(largest > 20 && wanted > 5 * runs.count, "\(largest), \(wanted)") }
  }

  @Test func `of tables that nobody wants no rows are read`() throws {
    var options = StateStore.options()
    options.history = .all
    options.runLimits.changeCountMax = 1_000
    options.runLimits.pageLength = 60
    options.runLimits.walkLength = 1
    (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
    let disk = SimulatedDisk()
    let store = try StateStore.open(disk, options: options)
    let historian = try #require(Historian(store.log, StateStore.documents))
    for table in ["a", "b", "c"] {
      let names = (0..<(table == "b" ? 3 : 1_000)).map { StreamName(category: table, id: "\($0)") }
      try store.appendAny(
        names.map { NewEvent(DocumentEvent.put, in: $0, payload: EventPayload(["n": 1])) })
    }
    try historian.recordBlocking()
    let set = try #require(historian.runs())
    func readCount(only names: Set<String>?) throws -> Int {
      let before = disk.operationCount
      let state = try set.tables(
        at: set.end, recordsTouches: false, only: names, options.runLimits, on: Self.threads)
      #expect(state.rowCount == (names == nil ? 2_003 : 3))
      return disk.operationCount - before
    }
    let (few, all) = (try readCount(only: ["b"]), try readCount(only: nil))
    #expect(few > 0 && all > 5 * few, "\(few) and \(all)")
    try store.closeBlocking()
  }

  @Test func `parts that are left when a slice ends are gone on with, by any thread`() throws {
    var options = StateStore.options()
    options.history = .all
    options.runLimits.changeCountMax = 1_000
    let store = try StateStore.open(SimulatedDisk(), options: options)
    let historian = try #require(Historian(store.log, StateStore.documents))
    for round in 0..<2 {
      try store.appendAny(
        (0..<3_000).map { number in
          let stream = StreamName(category: ["a", "b"][number % 2], id: "\(number)")
          return NewEvent(DocumentEvent.put, in: stream, payload: EventPayload(["n": .int(Int64(round))]))
        })
    }
    try historian.recordBlocking()
    let set = try #require(historian.runs())
    let fold = Fold(store.log, StateStore.documents)
    try fold.run(through: set.end)
    for partRowCountMin in [700, 4_096] {
      var limits = RunLimits()
      limits.partRowCountMin = partRowCountMin
      let building = try RunTables(set, at: set.end, recordsTouches: false, limits, on: Self.threads)
      let slice = TimeSlice(until: .now())
      var state: TableSet?
      var sliceCount = 0
      while state == nil, sliceCount < 1_000 {
        state = try building.resume(slice)
        sliceCount += 1
      }
      #expect(sliceCount > 2)
      #expect(try HistoryStore.rows(#require(state)) == HistoryStore.rows(fold.state))
    }
    try store.closeBlocking()
  }

  @Test func `a tree that is joined has the entries of its parts, and their leaves`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<50 {
      var parts: [Tree] = []
      var next = 0
      for _ in 0..<Int.random(in: 0...9, using: &random) {
        var builder = Tree.Builder(pageSize: 256)
        for _ in 0..<[0, 1, 9, 400].randomElement(using: &random)! {
          next += 1
          let value = [UInt8](repeating: 7, count: next % 50 == 0 ? 300 : next % 5)
          Array("key \(10_000 + next)".utf8).withUnsafeBytes { key in
            value.withUnsafeBytes { builder.append(key, $0) }
          }
        }
        parts.append(builder.finish())
      }
      let joined = Tree(joining: parts, pageSize: 256)
      #expect(joined.checkInvariants() == nil && joined.count == next)
      var whole = Tree(pageSize: 256)
      for part in parts { part.forEach(in: 0..<part.count) { _ = whole.set(Array($0), Array($1)) } }
      var entries: [[UInt8]] = []
      whole.forEach(in: 0..<whole.count) { entries += [Array($0), Array($1)] }
      var found: [[UInt8]] = []
      joined.forEach(in: 0..<joined.count) { found += [Array($0), Array($1)] }
      #expect(found == entries)
      #expect(joined.statistics.leaves == parts.reduce(0) { $0 + $1.statistics.leaves })
      #expect(Tree.statistics(of: parts + [joined]).leaves == joined.statistics.leaves)
    }
  }

  // MARK: Damage

  /// A base of forty rows, each in a page of its own, under right checksums.
  ///
  /// - Parameters:
  ///   - indexed: what the index names as the first key of a page.
  ///   - named: the key of the row in the page.
  private static func run(
    _ store: EventStore, indexed: (Int) -> [UInt8] = key, named: (Int) -> [UInt8] = key
  ) throws -> RunSet {
    let files = HistoryFiles(store.log, folder: "forged-1")
    try files.createFolder()
    let (number, file) = try files.beginRun(from: 1)
    let output = RunOutput(files, number, file) {}
    var limits = RunLimits()
    limits.pageLength = 60
    var index = RunTreeWriter(pageLength: limits.pageLength)
    for row in 0..<40 {
      // A document of one byte, made by event 1 at time 0.
      let version: [UInt8] = [RunVersion.Kind.document.rawValue | VersionFlags.createdBySelf, 1, 0, 1, 0xF6]
      let name = named(row)
      let head = [UInt8(row)] + [UInt8](repeating: 0, count: 8)
      let page = head + [0, UInt8(name.count)] + name + [4, UInt8(version.count)] + version
      let place = try page.lendBytes { page throws(StoreError) in try output.append(page) }
      try index.add(RunPosition(key: indexed(row), sequence: 1, number: UInt64(row)), place, output)
    }
    let rows = try index.finish(output)
    var changes = RunChangesWriter(output, begin: 0, limits)
    try changes.add(
      RunEvent(sequence: 1, time: 0, endsAppend: true, hasFailed: false), 0..<40 as Range<UInt32>)
    let changesRoot = try #require(try changes.finish())
    var buffer = RawBuffer(capacity: 64)
    func append(_ encode: (inout RawBuffer) -> Void) throws -> RecordAddress {
      buffer.removeAll()
      encode(&buffer)
      return try output.append(buffer.bytes)
    }
    let tables = try append { RunRoot.encode([RunTable(number: 0, first: 1, name: "a")], to: &$0) }
    let failures = try append { RunRoot.encode([ProjectionFailures.Failure](), to: &$0) }
    let root = RunRoot(
      isBase: true, begin: 0, end: 1, appends: 0, failures: 0, counts: changes.counts, rowCount: 40,
      versionCount: 40, rows: rows, changes: changesRoot, tables: tables, listedFailures: failures)
    let place = try append { root.encode(to: &$0) }
    try output.finish()
    let reader = try RunReader(files, number, root: place, RunCache(PageCache(limit: 1 << 16)))
    return try RunSet([reader], store.log.erasures(), head: 1)
  }

  /// A delta with rows of these ids, and keys that are sorted in memory or in parts.
  private static func run(_ store: EventStore, ids: [[UInt8]], byteCountMax: Int) throws -> RunReader {
    let files = HistoryFiles(store.log, folder: "long-1")
    try files.createFolder()
    let (number, file) = try files.beginRun(from: 1)
    let output = RunOutput(files, number, file) {}
    var pending = PendingRun(begin: 0, time: nil, appends: 0, failures: 0)
    pending.note(RunTable(number: 0, first: 1, name: "a"))
    for id in ids {
      let version = RunVersion(kind: .document, sequence: 1, created: 1, time: 0)
      id.withUnsafeBytes { id in [0xF6].withUnsafeBytes { pending.add(version, table: 0, id: id, $0) } }
    }
    pending.end(RunEvent(sequence: 1, time: 0, endsAppend: true, hasFailed: false), failure: nil)
    let making = KeyMaking(
      .rows, begin: 0, isBase: false, after: [], parts: output.scratch(), byteCountMax: byteCountMax)
    let written = try pending.write(to: output, RunLimits(), [making]) {
      $1(nil, .init(start: nil, count: 0))
    }
    return try RunReader(files, number, root: written.address, RunCache(PageCache(limit: 1 << 20)))
  }

  @Test(arguments: [1, .max])
  func `rows with the longest ids are found by their keys, and a longer key is damage`(byteCountMax: Int)
    throws
  {
    let store = try StateStore.open(SimulatedDisk())
    let longest = Tree.keyLengthMax
    let ids = [longest - 4, longest - 3, longest - 1, longest].map { [UInt8](repeating: 7, count: $0) }
    let run = try Self.run(store, ids: ids.reversed(), byteCountMax: byteCountMax)
    let keys = try #require(try run.keySet(.rows, of: .rows))
    var (cursor, found): (KeyRecordCursor, [[UInt8]]) = (KeyRecordCursor(keys), [])
    while try cursor.next() { found.append(cursor.record().key) }
    #expect(found == ids.map { id in id.withUnsafeBytes { RunKey.make(0, $0) } })
    #expect(found.last?.count == RunKey.lengthMax)
    var counter = KeyCounter(keys, at: 1, nil)
    for (index, key) in found.enumerated() {
      let counted = try key.withUnsafeBytes { try counter.find($0) }
      #expect(counted.count == Int64(index) && counted.isAlive == true)
    }
    let set = try RunSet([run], store.log.erasures(), head: 1)
    #expect(try set.tables(at: 1, recordsTouches: false)["a"].count == ids.count)
    // What ends one byte later.
    for (length, isRight) in [(RunKey.lengthMax, true), (RunKey.lengthMax + 1, false)] {
      var buffer = RawBuffer(capacity: 64)
      buffer.append([UInt8](repeating: 7, count: length), after: [])
      var (key, cursor): ([UInt8], ByteCursor) = ([], ByteCursor(buffer.base, count: buffer.count))
      let isRead = (try? AscendingKeys.next(&cursor, &key, isFirst: true)) != nil
      #expect(isRead == isRight && (key.count == length) == isRight)
    }
  }

  private static func key(_ row: Int) -> [UInt8] {
    RunKey.make(0, UnsafeRawBufferPointer(start: nil, count: 0)) + Array("row \(10 + row)".utf8)
  }

  /// Limits with which each row may be a part.
  private static var limits: RunLimits {
    var limits = RunLimits()
    limits.partRowCountMin = 1
    return limits
  }

  private static func rowCount(_ set: RunSet, on parallel: Parallel) throws -> Int {
    try set.tables(at: 1, recordsTouches: false, limits, on: parallel).rowCount
  }

  @Test func `fault 91: parts of a run whose index leads past rows are damage, not a state without them`()
    throws
  {
    let store = try StateStore.open(SimulatedDisk())
    for parallel in [.none, Self.threads] { #expect(try Self.rowCount(Self.run(store), on: parallel) == 40) }
    for parallel in [.none, Self.threads] {
      var damaged = 0
      for row in 2..<40 {
        // A search for the row before leads to this one.
        let before = Self.key(row - 2) + [0]
        let indexed = { $0 == row || $0 == row - 1 ? before : Self.key($0) }
        let set = try Self.run(store, indexed: indexed)
        do { #expect(try Self.rowCount(set, on: parallel) == 40) } catch is PageDamage { damaged += 1 }
        // The same, where this one's key is one before.
        let other = try Self.run(store, indexed: indexed, named: { $0 == row ? before : Self.key($0) })
        #expect(throws: PageDamage.self) { try Self.rowCount(other, on: parallel) }
      }
      // As many as there are bounds between parts.
      #expect(damaged >= 8 * parallel.threadCountMax - 1)
      // A search for the first row leads to the next one.
      let set = try Self.run(store, indexed: { $0 == 1 ? [0] : Self.key($0) })
      #expect(throws: PageDamage.self) {
        try set.tables(at: 1, recordsTouches: false, only: ["a"], Self.limits, on: parallel)
      }
    }
    try store.closeBlocking()
  }

  @Test func `fault 91: parts that would begin at keys that do not ascend are damage, and never a crash`()
    throws
  {
    let store = try StateStore.open(SimulatedDisk())
    for row in 2..<40 {
      for other in [0, row - 1] {
        let set = try Self.run(store, named: { Self.key($0 == row ? other : $0) })
        let plan = RunTablesPart.Plan(runs: set.runs, sequence: 1, isKnown: [true], limits: Self.limits)
        #expect(throws: PageDamage.self) { try plan.parts(of: RunTablesPart.Keys(), countMax: 40) }
        for parallel in [.none, Self.threads] {
          #expect(throws: PageDamage.self) { try Self.rowCount(set, on: parallel) }
        }
      }
    }
    try store.closeBlocking()
  }
}
