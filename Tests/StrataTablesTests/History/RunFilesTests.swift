// The files of runs that are open: few of many, and what was closed is read all the same.

import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct RunFilesTests {
  /// Runs that were held at some time, and what they said.
  private struct Held {
    let runs: RunSet
    let expected: [StateAnswers]

    init(_ runs: RunSet, _ store: EventStore, _ folding: Folding) throws {
      self.runs = runs
      expected = try HistoryStore.replayed(store, folding).map { try StateAnswers($0, of: store) }
    }

    /// The first event at which they say something else now; nil if there is none.
    func difference(_ store: EventStore, _ folding: Folding) throws -> UInt64? {
      try (runs.begin + 1...runs.end).first { sequence in
        let set = try runs.tables(at: sequence, recordsTouches: folding.recordsTouches)
        return try StateAnswers(set, of: store).difference(from: expected[Int(sequence)]) != nil
      }
    }

    /// The runs of which no file has the name.
    var nameless: Int { runs.runs.filter { !$0.isStillAtItsPath }.count }
  }

  @Test func `what is held is read to its end, however few files may be open and whatever replaces it`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (nameless, many) = (0, 0)
    while runs.next() {
      var options = HistoryStore.options(&random, keepsAll: false)
      options.runLimits.openFileCountMax = Int.random(in: 0...3, using: &random)
      options.runLimits.laggingCount = 1
      (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
      let store = try StateStore.open(SimulatedDisk(), options: options)
      let folding = StateStore.foldings.randomElement(using: &random)!
      let historian = try #require(Historian(store.log, folding))
      var events = StateEvents(seed: random.next())
      events.rowCount = 5
      var held: [Held] = []
      for _ in 0..<4 {
        for _ in 0..<7 { try events.append(to: store) }
        try historian.recordBlocking()
        guard let set = historian.runs() else { continue }
        if set.runs.count > 3 { many += 1 }
        held.append(try Held(set, store, folding))
        #expect(historian.cache.files.count <= max(1, options.runLimits.openFileCountMax))
      }
      for held in held {
        nameless += held.nameless
        #expect(try held.difference(store, folding) == nil, "run \(runs.count)")
      }
      #expect(historian.failure == nil)
      try store.closeBlocking()
    }
    print("held runs: \(nameless) without a name, \(many) times more than three")
    #expect(nameless > runs.count / 2 && many > 0, "\(nameless), \(many)")
  }

  @Test
  func `fault 95: of a hundred runs as many files are open as the bound says, and those that are held`()
    throws
  {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    /// The files of runs that this process has open.
    func open() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { number in
        let path =
          (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) ?? ""
        return path.contains(folder) && path.contains(StoreLayout.runSuffix)
      }
    }
    var options = StoreOptions()
    options.durability = .buffered
    options.history = .all
    options.runLimits.changeCountMax = 10
    options.runLimits.laggingCount = 1
    options.runLimits.mergedCount = 1_000
    options.runLimits.baseChangeCountMin = .max
    options.runLimits.openFileCountMax = 6
    (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
    let store = try EventStore.openBlocking(at: folder, options: options)
    for number in 0..<1_005 { try store.put("\(number % 7)", ["n": .int(Int64(number))]) }
    let historian = try #require(store.projector(StateStore.documents).historian)
    try historian.recordBlocking()
    #expect(historian.runs()?.runs.count == 100)
    #expect(try open() == 6)
    #expect(try store.documentHistoryBlocking("3", of: "a").count == 144)
    let points = stride(from: 5, to: 1_000, by: 50).map { LogPoint.sequence(UInt64($0)) }
    let states = try store.statesBlocking(at: points, StateStore.documents)
    #expect(states.map(\.rowCount) == [5] + [Int](repeating: 7, count: 19))
    #expect(try open() == 6)
    // The names of runs that are held are taken.
    let held = try #require(historian.runs())
    historian.files.remove(held.runs[10..<30])
    var count = try open()
    #expect((20...26).contains(count))
    #expect(try held.tables(at: 250, recordsTouches: false).rowCount == 7)
    count = try open()
    #expect((20...26).contains(count))
    try store.closeBlocking()
  }

  @Test func `fault 89: a reader that closed the file of a run whose name its writer took replays the log`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    let definition = StateKeptViewTests.definition("kept", calls: .keys)
    let folding = StateStore.documents
    var (lost, shared, read, erased) = (0, 0, 0, 0)
    while runs.next() {
      let disk = SimulatedDisk()
      var options = HistoryStore.keyOptions(&random, keepsAll: false)
      options.runLimits.laggingCount = 1
      (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
      options.runLimits.openFileCountMax = 1
      options.runLimits.wholeKeyCountMax = 0
      options.savesStates = false
      let writer = try StateStore.open(disk, options: options)
      let historian = try #require(writer.projector(folding).historian)
      historian.keep(definition, of: "b")
      var events = StateEvents(seed: random.next())
      events.rowCount = 5
      for _ in 0..<12 { try events.append(to: writer) }
      try historian.recordBlocking()
      let reader = try StateStore.open(disk, .readOnly, options: options)
      let history = try #require(reader.kept(folding).reading)
      let past = PastStates(reader, folding, view: ("b", definition))
      for step in 0..<3 {
        guard let set = history.runs() else { continue }
        let sequence = UInt64.random(in: set.begin + 1...set.end, using: &random)
        let look = RunPast(reader, folding, view: ("b", definition))
        guard case .done(var unread, _) = look.tablesUnread(at: sequence) else {
          Issue.record("run \(runs.count), step \(step)")
          continue
        }
        unread.withTable("b") { $0.addView(definition) }
        // What is being built, on the other hand, does not keep the files open.
        let late = RunPast(reader, folding)
        let other = UInt64.random(in: set.begin + 1...set.end, using: &random)
        let before = try HistoryStore.replayed(reader, folding)
        let isErased = Int.random(in: 0..<3, using: &random) == 0
        if isErased {
          _ = try writer.eraseBlocking(
            Erasure(sequences: [max(sequence, 6) - 5...sequence], because: "asked to"))
          erased += 1
        }
        for _ in 0..<6 { try events.append(to: writer) }
        try historian.recordBlocking()
        let what = "run \(runs.count), step \(step), at \(sequence) and \(other)"
        let now = try #require(history.runs(), "\(what)")
        let expected = try HistoryStore.replayed(reader, folding)
        switch late.tables(at: other, nil) {
        case .done(let state, _): try Self.check(state, before[Int(other)], reader, what)
        default:
          lost += 1
          if now.shares(with: set) { shared += 1 }
        }
        // That says nothing of the runs that there are now.
        #expect(history.runs()?.runs.elementsEqual(now.runs, by: ===) == true, "\(what)")
        #expect(try HistoryStore.difference(now, reader, folding) == nil, "\(what)")
        // What was made before is read from the runs that it holds.
        try Self.check(unread, before[Int(sequence)], reader, what)
        try Self.check(try past.state(at: sequence), expected[Int(sequence)], reader, what)
        let states = try reader.statesBlocking(at: [.sequence(other)], folding)
        try Self.check(states[0], expected[Int(other)], reader, what)
        let view = try #require(unread["b"].view(definition.identity))
        #expect(
          StateKeptViewTests.content(view)
            == StateKeptViewTests.content(View(definition, of: before[Int(sequence)]["b"])), "\(what)")
        read += 1
      }
      try reader.closeBlocking()
      try writer.closeBlocking()
    }
    #expect(lost > runs.count / 8 && read > runs.count && erased > 0, "\(lost), \(read), \(erased)")
    // Few histories may have none of these.
    if runs.count >= 100 { #expect(shared > 0) }
  }

  private static func check(
    _ state: TableSet, _ expected: TableSet, _ store: EventStore, _ what: String
  ) throws {
    let difference = try StateAnswers(state, of: store).difference(from: StateAnswers(expected, of: store))
    #expect(difference == nil, "\(what)")
  }

  @Test func `fault 96: a run whose file goes missing while it is not open is noticed, and made again`()
    throws
  {
    let disk = SimulatedDisk()
    var options = Self.manyRunsOptions()
    options.runLimits.openFileCountMax = 1
    let store = try StateStore.open(disk, options: options)
    let folding = StateStore.documents
    for number in 0..<40 { try store.put("\(number % 5)", in: "b", ["n": .int(Int64(number))]) }
    let historian = try #require(store.projector(folding).historian)
    try historian.recordBlocking()
    let set = try #require(historian.runs())
    try #require(set.runs.count == 10)
    // The last run may be open.
    disk.delete("\(historian.files.folder)/\(StoreLayout.runFileName(set.runs[2].number))")
    guard case .damaged = RunPast(store, folding).tables(at: 35, nil) else {
      Issue.record("the state was read without the run")
      return
    }
    #expect(historian.state.withLock { $0.isDamaged })
    #expect(try store.statesBlocking(at: [.sequence(35)], folding)[0].rowCount == 5)
    try historian.recordBlocking()
    let made = try #require(historian.runs())
    #expect(made.begin == 0 && made.end == 40)
    #expect(try HistoryStore.difference(made, store, folding) == nil)
    try store.closeBlocking()
  }

  @Test func `fault 95: a process that can open no more files replays the log, and no history is damaged`()
    throws
  {
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.history = .all
    options.savesStates = false
    options.runLimits.changeCountMax = 6
    options.runLimits.laggingCount = 1
    (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
    options.runLimits.openFileCountMax = 1
    let folding = StateStore.documents
    let writer = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: 3)
    for _ in 0..<40 { try events.append(to: writer) }
    try writer.projector(folding).historian!.recordBlocking()
    let reader = try StateStore.open(disk, .readOnly, options: options)
    let expected = try HistoryStore.replayed(writer, folding)
    for store in [writer, reader] {
      let history = try #require(store.kept(folding).history)
      let before = try #require(history.runs())
      #expect(before.runs.count > 2)
      for isRefused in [false, true, false] {
        disk.onOperation { call in
          guard isRefused, call.operation == .open, call.path.hasSuffix(StoreLayout.runSuffix) else {
            return .proceed
          }
          return .fail(SystemErrorCode.tooManyOpenFiles)
        }
        let sequence = before.end / 2
        let counter = PastCounter()
        let replay = PastPoints(store, folding, to: [.sequence(sequence)], view: nil, counting: counter)
        let state = try #require(try replay.resume(nil)?[0])
        #expect(
          try StateAnswers(state, of: store).difference(
            from: StateAnswers(expected[Int(sequence)], of: store)) == nil)
        #expect(counter.counts.fromHistory == (isRefused ? 0 : 1))
        #expect(history.runs()?.runs.elementsEqual(before.runs, by: ===) == true)
      }
      disk.onOperation(nil)
    }
    #expect(writer.projector(folding).historian!.failure == nil)
    try reader.closeBlocking()
    try writer.closeBlocking()
  }

  /// A store with a history of many runs, of which each but the first needs those before it.
  private static func manyRuns(_ disk: SimulatedDisk, _ options: StoreOptions) throws -> EventStore {
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: 3)
    for _ in 0..<40 { try events.append(to: store) }
    try store.projector(StateStore.documents).historian!.recordBlocking()
    return store
  }

  private static func manyRunsOptions() -> StoreOptions {
    var options = StateStore.options()
    options.history = .all
    options.savesStates = false
    options.runLimits.changeCountMax = 4
    options.runLimits.laggingCount = 1
    options.runLimits.mergedCount = 100
    options.runLimits.baseChangeCountMin = .max
    (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
    options.runLimits.openFileCountMax = 4
    return options
  }

  @Test func `fault 95: a process that can open few files closes others of the runs, and reads them all`()
    throws
  {
    let disk = SimulatedDisk()
    let folding = StateStore.documents
    let store = try Self.manyRuns(disk, Self.manyRunsOptions())
    let historian = try #require(store.projector(folding).historian)
    let set = try #require(historian.runs())
    #expect(set.runs.count > 6)
    let expected = try HistoryStore.replayed(store, folding)
    let refused = Lock(0)
    disk.onOperation { call in
      guard call.operation == .open, call.path.hasSuffix(StoreLayout.runSuffix),
        historian.cache.files.count > 3
      else { return .proceed }
      refused.withLock { $0 += 1 }
      return .fail(SystemErrorCode.tooManyOpenFiles)
    }
    for sequence in stride(from: set.begin + 1, through: set.end, by: 9) {
      let counter = PastCounter()
      let replay = PastPoints(store, folding, to: [.sequence(sequence)], view: nil, counting: counter)
      let state = try #require(try replay.resume(nil)?[0])
      try Self.check(state, expected[Int(sequence)], store, "at \(sequence)")
      #expect(counter.counts.fromHistory == 1, "at \(sequence)")
    }
    disk.onOperation(nil)
    #expect(refused.withLock { $0 } > 6)
    #expect(historian.runs()?.runs.elementsEqual(set.runs, by: ===) == true)
    try store.closeBlocking()
  }

  @Test func `fault 95: a reader that can open no file of a history replays, and uses it once it can`() throws
  {
    let disk = SimulatedDisk()
    let folding = StateStore.documents
    let writer = try Self.manyRuns(disk, Self.manyRunsOptions())
    let set = try #require(writer.projector(folding).historian?.runs())
    let expected = try HistoryStore.replayed(writer, folding)
    let reader = try StateStore.open(disk, .readOnly, options: Self.manyRunsOptions())
    let history = try #require(reader.kept(folding).history)
    disk.onOperation { call in
      guard call.operation == .open, call.path.hasSuffix(StoreLayout.runSuffix) else { return .proceed }
      return .fail(SystemErrorCode.tooManyOpenFiles)
    }
    #expect(history.runs() == nil)
    let states = try reader.statesBlocking(at: [.sequence(set.end / 2)], folding)
    try Self.check(states[0], expected[Int(set.end / 2)], reader, "refused")
    disk.onOperation(nil)
    #expect(history.runs()?.runs.map(\.number) == set.runs.map(\.number))
    try reader.closeBlocking()
    try writer.closeBlocking()
  }

  @Test func `fault 95: a writer that can open no file of its history keeps it, and goes on once it can`()
    throws
  {
    let disk = SimulatedDisk()
    let folding = StateStore.documents
    var options = Self.manyRunsOptions()
    let store = try Self.manyRuns(disk, options)
    let numbers = try #require(store.projector(folding).historian?.runs()).runs.map(\.number)
    try store.closeBlocking()
    // What there is has one file open, and is merged into one.
    (options.runLimits.openFileCountMax, options.runLimits.mergedCount) = (1, 2)
    let next = try StateStore.open(disk, options: options)
    let historian = try #require(next.projector(folding).historian)
    for number in 0..<9 { try next.put("\(number % 3)", ["n": .int(Int64(number))]) }
    let expected = try HistoryStore.replayed(next, folding)
    func refuse(_ isRefused: @escaping @Sendable (_ path: String) -> Bool) {
      disk.onOperation { call in
        guard call.operation == .open, call.path.hasPrefix(StateStore.layout.histories), isRefused(call.path)
        else { return .proceed }
        return .fail(SystemErrorCode.tooManyOpenFiles)
      }
    }
    // When it looks at the folder: no file at all, or none of a run.
    for isOfManifest in [true, false] {
      refuse { isOfManifest || $0.hasSuffix(StoreLayout.runSuffix) }
      #expect(historian.runs() == nil)
      #expect(throws: StoreError.self) { try historian.recordBlocking() }
      let states = try next.statesBlocking(at: [.sequence(9)], folding)
      try Self.check(states[0], expected[9], next, "refused")
    }
    disk.onOperation(nil)
    // The close wrote the last events.
    #expect(historian.runs()?.runs.prefix(numbers.count).map(\.number) == numbers)
    // While it reads the runs, to go on from their end and to merge them.
    let openCount = Lock(0)
    refuse { path in
      guard path.hasSuffix(StoreLayout.runSuffix) else { return false }
      return openCount.withLock {
        $0 -= 1
        return $0 < 0
      }
    }
    var failed = 0
    for count in stride(from: 1, to: 2_000, by: 5) {
      openCount.withLock { $0 = count }
      if (try? historian.recordBlocking()) != nil { break }
      failed += 1
      #expect(historian.failure?.isPassing == true, "after \(count) files")
      #expect(historian.state.withLock { $0.files } == .sound, "after \(count) files")
    }
    #expect(failed > 3)
    disk.onOperation(nil)
    try historian.recordBlocking()
    let set = try #require(historian.runs())
    #expect(set.runs.count < numbers.count && set.end + 4 > next.head.sequence)
    for sequence in set.begin + 1...set.end {
      let tables = try set.tables(at: sequence, recordsTouches: folding.recordsTouches)
      try Self.check(tables, expected[Int(sequence)], next, "at \(sequence)")
    }
    try next.closeBlocking()
  }

  @Test func `the pages of some rows are asked for before the first of each height is waited for`() throws {
    var options = StateStore.options()
    options.history = .all
    options.runLimits.pageLength = 300
    let store = try StateStore.open(SimulatedDisk(), options: options)
    for number in 100..<900 { try store.put("\(number)", ["n": .int(Int64(number))]) }
    let historian = try #require(store.projector(StateStore.documents).historian)
    try historian.recordBlocking(writesRest: true)
    let entry = try #require(try historian.files.manifest()?.runs.last)
    let noted = FileCalls()
    let reader = try RunReader(
      inMemory: NotingFile(try historian.files.openRun(entry.number), run: 0, noted), historian.files,
      entry.number, root: entry.address, RunCache(PageCache(limit: 1 << 20)))
    let set = try RunSet([reader], try store.log.erasures(), head: store.head.sequence)
    let height = Int(try #require(reader.root.rows).height)
    #expect(height > 1 && reader.root.rowCount == 800)
    let keys = try stride(from: 100, to: 900, by: 40).map { try #require(set.key(of: "\($0)", in: "a")) }
    let rows = RunRows(set, at: entry.end, areThere: true)
    noted.calls.withLock { $0.removeAll() }
    try rows.willRead(keys)
    for key in keys { #expect(try rows.version(of: key)?.version.kind == .document) }
    var (asked, areAsks): (Set<Int64>, [Bool]) = ([], [])
    for call in noted.calls.withLock({ $0 }) {
      let isAsk: Bool
      switch call {
      case .willRead(_, let offset): (isAsk, asked) = (true, asked.union([offset]))
      case .read(_, let offset):
        isAsk = false
        #expect(asked.contains(offset))
      }
      if areAsks.last != isAsk { areAsks.append(isAsk) }
    }
    #expect(areAsks == (0...height).flatMap { _ in [true, false] } && asked.count > keys.count)
    // What is in memory is not asked for.
    noted.calls.withLock { $0.removeAll() }
    try rows.willRead(keys)
    #expect(noted.calls.withLock { $0 }.isEmpty)
    try store.closeBlocking()
  }
}
