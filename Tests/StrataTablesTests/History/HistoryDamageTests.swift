// Damage to the files of a history, and power cuts while they are written: the answers stay those of the log.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryDamageTests {
  private static let foldings = [StateStore.documents, StateStore.tally]

  private static func options() -> StoreOptions {
    var options = StateStore.options()
    options.savesStates = false
    options.fullDiskPause = .zero
    options.history = .all
    options.runLimits.changeCountMax = 6
    options.runLimits.laggingCount = 1
    options.runLimits.mergedCount = 2
    options.runLimits.baseChangeCountMin = 24
    options.runLimits.mergedVersionCountMax = 0
    options.runLimits.pageLength = 150
    options.runLimits.largeLength = 120
    options.runLimits.wholeInterval = 3
    options.runLimits.keyCountMax = 2
    options.runLimits.groupKeyCountMax = 5
    options.runLimits.directoryPageCountMin = 2
    options.runLimits.chunkChangeCountMin = 3
    return options
  }

  private static let definition = StateKeptViewTests.definition(
    "greatest", StateKeptViewTests.orders[7].1, calls: .keys)

  /// The bits that are changed. Every sequence is read after each, so in an ordinary run they are those of some bytes.
  private static func bits(_ byteCount: Int) -> [Int] {
    let bits = DamagedBits.of(byteCount: byteCount)
    if DamagedBits.step != nil { return bits }
    return bits.enumerated().filter { $0.offset % 13 == 0 }.map(\.element)
  }

  private static func filled(
    _ disk: SimulatedDisk, seed: UInt64, appends: Int = 14, options: StoreOptions = options()
  ) throws -> (EventStore, StateEvents) {
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: seed)
    events.rowCount = 4
    for _ in 0..<appends { try events.append(to: store) }
    store.projector(foldings[0]).historian?.keep(definition, of: "b")
    for folding in foldings { try store.projector(folding).historian?.recordBlocking() }
    return (store, events)
  }

  /// Reads everything of a history that can be read. Counts what is damaged; all else must be right.
  private static func read(
    _ store: EventStore, _ folding: Folding, _ expected: [StateAnswers], _ what: String
  ) throws -> (right: Int, damaged: Int) {
    var count = (right: 0, damaged: 0)
    guard let runs = Historian(store.log, folding)?.runs() else { return (0, 1) }
    // What the tables do not need: the filters.
    for run in runs.runs where (try? run.mayContain(1)) == nil { count.damaged += 1 }
    let keys = readKeys(runs, what)
    count.right += keys.right
    count.damaged += keys.damaged
    for sequence in runs.begin + 1..<runs.end + 1 {
      guard let set = try? runs.tables(at: sequence, recordsTouches: folding.recordsTouches) else {
        count.damaged += 1
        continue
      }
      count.right += 1
      let difference = try StateAnswers(set, of: store).difference(from: expected[Int(sequence)])
      #expect(difference == nil, "\(what), at \(sequence)")
    }
    return count
  }

  /// Reads the keys at some events. What can be read must be what was there before the damage.
  private static func readKeys(_ runs: RunSet, _ what: String) -> (right: Int, damaged: Int) {
    var count = (right: 0, damaged: 0)
    for run in runs.runs {
      for owner in run.keys.map(KeyOwner.init(known:)) {
        for kind in owner.kinds {
          do {
            guard let set = try run.keySet(kind, of: owner) else { continue }
            var (cursor, records): (KeyRecordCursor, [KeyRecord]) = (KeyRecordCursor(set), [])
            while try cursor.next() { records.append(cursor.record()) }
            // Every chunk of the tallies is read.
            for sequence in run.root.begin...run.root.end {
              let total = try set.groupCounts(at: sequence)?.before.last ?? 0
              let ofSections = try set.sectionCounts(at: sequence).counts.reduce(0, +)
              var alive: Int64 = 0
              for record in records {
                if record.isAlive != (record.moments.count { $0 <= sequence } % 2 == 1) { alive += 1 }
                if !run.root.isBase, record.isAlive { alive -= 1 }
              }
              let isRight = alive == total && (alive == ofSections || !kind.hasSections)
              #expect(isRight, "\(what): \(kind) of run \(run.number)")
            }
            count.right += 1
          } catch { count.damaged += 1 }
        }
      }
    }
    return count
  }

  @Test func `fault 77: any byte of a run or of the manifest may be another one`() async throws {
    let origin = SimulatedDisk()
    let (store, _) = try Self.filled(origin, seed: 7)
    let expected = try Self.foldings.map { folding in
      try HistoryStore.replayed(store, folding).map { try StateAnswers($0, of: store) }
    }
    #expect(try HistoryVerifier(store.log).run() == [])
    try store.closeBlocking()
    var counts = (right: 0, damaged: 0, files: 0)
    for path in origin.historyPaths {
      let bytes = origin.contents(path)!
      counts.files += 1
      for bit in Self.bits(bytes.count) {
        let disk = origin.clone()
        var changed = bytes
        changed[bit / 8] ^= UInt8(1 << (bit % 8))
        disk.replace(path, changed)
        let store = try StateStore.open(disk, options: Self.options())
        let findings = try HistoryVerifier(store.log).run()
        let (folding, expected) =
          path.contains("$documents")
          ? (Self.foldings[0], expected[0])
          : (Self.foldings[1], expected[1])
        let what = "bit \(bit) of \(path)"
        let count = try Self.read(store, folding, expected, what)
        counts.right += count.right
        counts.damaged += count.damaged
        #expect(count.damaged > 0, "\(what) is not noticed")
        #expect(
          findings.count == 1 && findings[0].class == .history && path.hasSuffix(findings[0].file),
          "\(what): \(findings)")
        if bit % 9 == 0 {
          let sequences = [store.head.sequence / 2, store.head.sequence]
          let states = try store.statesBlocking(at: sequences.map { .sequence($0) }, folding)
          for (sequence, state) in zip(sequences, states) {
            #expect(try StateAnswers(state, of: store) == expected[Int(sequence)], "\(what)")
          }
          // What is damaged is made again as soon as a read has noticed it.
          let historian = store.projector(folding).historian!
          if let runs = historian.runs(), (try? HistoryStore.difference(runs, store, folding)) == .none {
            historian.noteDamage()
          }
          try historian.recordBlocking()
          #expect(try HistoryStore.difference(historian.runs()!, store, folding) == nil, "\(what)")
        }
        try store.closeBlocking()
      }
    }
    #expect(counts.files >= 4 && counts.right > counts.damaged / 4, "\(counts)")
  }

  @Test func `fault 83: after a power cut at any call of a historian the answers are those of the log`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (kept, lists) = (0, 0)
    // A history that was found has the list from its first event on, and so has one that is made again.
    func listDifference(_ found: RunSet, _ store: EventStore) throws -> String? {
      lists += 1
      let sequences = (0..<2).map { _ in UInt64.random(in: found.begin + 1...found.end, using: &random) }
      return try KeptPastTests.difference(
        of: ("b", Self.definition), at: [found.begin + 1, found.end] + sequences, store, Self.foldings[0],
        &random)
    }
    while runs.isShort {
      let seed = random.next()
      let counted = SimulatedDisk()
      var (store, events) = try Self.filled(counted, seed: seed)
      // Of events that change few rows there may be no run yet.
      let isWritten = Self.foldings.map { store.projector($0).historian?.runs() != nil }
      for _ in 0..<12 { try events.append(to: store) }
      let count = try counted.changeCount {
        for folding in Self.foldings { try store.projector(folding).historian?.recordBlocking() }
      }
      #expect(count > 15)
      for change in 1...count {
        let disk = SimulatedDisk()
        (store, events) = try Self.filled(disk, seed: seed)
        for _ in 0..<12 { try events.append(to: store) }
        disk.cutPower(atChange: change)
        for folding in Self.foldings { try? store.projector(folding).historian?.recordBlocking() }
        #expect(disk.isPoweredOff)
        let model = CrashModel.allCases.randomElement(using: &random)!
        runs.add()
        let what = "seed \(seed), change \(change), \(model)"
        let after = disk.crash(seed: random.next(), model: model)
        let again = try StateStore.open(after, options: Self.options())
        for (folding, isWritten) in zip(Self.foldings, isWritten) {
          let historian = try #require(again.projector(folding).historian)
          let hasList = historian.name == StateName(Self.foldings[0])
          if hasList { historian.keep(Self.definition, of: "b") }
          if let found = historian.runs() {
            kept += 1
            #expect(try HistoryStore.difference(found, again, folding) == nil, "\(what)")
            if hasList { #expect(try listDifference(found, again) == nil, "\(what)") }
          } else {
            #expect(model == .garbage || !isWritten, "\(what): what was written before is lost")
          }
          try historian.recordBlocking()
          guard let made = historian.runs() else { continue }
          #expect(try HistoryStore.difference(made, again, folding) == nil, "\(what)")
          if hasList { #expect(try listDifference(made, again) == nil, "\(what)") }
          // Not every event changes a row, and a run ends after six changes.
          #expect(historian.end + 40 > again.head.sequence)
        }
        try again.closeBlocking()
      }
    }
    #expect(kept > runs.count && lists > runs.count, "\(kept), \(lists)")
  }

  @Test func `fault 97: a call that fails stops the historian alone, and it goes on later`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var failed = 0
    while runs.isShort {
      let seed = random.next()
      for number in 1...40 {
        runs.add()
        let disk = SimulatedDisk()
        var (store, events) = try Self.filled(disk, seed: seed)
        for _ in 0..<12 { try events.append(to: store) }
        let code = number % 2 == 0 ? SystemErrorCode.inputOutput : SystemErrorCode.noSpace
        let calls = Lock(0)
        disk.onOperation { call in
          guard call.path.hasPrefix(StateStore.layout.histories) else { return .proceed }
          return calls.withLock { calls in
            calls += 1
            return calls == number ? .fail(code) : .proceed
          }
        }
        let historian = try #require(store.projector(StateStore.documents).historian)
        if (try? historian.recordBlocking()) == nil { failed += 1 }
        disk.onOperation(nil)
        try events.append(to: store)
        try historian.recordBlocking()
        let difference = try HistoryStore.difference(historian.runs()!, store, StateStore.documents)
        #expect(difference == nil, "seed \(seed), call \(number)")
        #expect(historian.end + 40 > store.head.sequence)
        try store.closeBlocking()
      }
    }
    #expect(failed > runs.count / 4)
  }

  @Test func `fault 97: while calls of a historian fail, no append and no read does, and no run is lost`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    let folding = StateStore.documents
    var options = Self.options()
    (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
    // Runs that cannot be read seem damaged, and are made again.
    let damaging: [SimulatedOperation] = [.open, .read, .size]
    let others: [SimulatedOperation] = [
      .list, .kind, .write, .syncData, .sync, .syncDirectory, .rename, .remove,
    ]
    var (failed, kept) = (0, 0)
    while runs.isShort {
      let seed = random.next()
      let (probe, _) = try Self.filled(SimulatedDisk(), seed: seed, options: options)
      let isBase = probe.projector(folding).historian?.runs()?.runs.last?.root.isBase
      try probe.closeBlocking()
      // The last run will be merged with others.
      guard isBase == false else { continue }
      for (operation, number) in (damaging + others).flatMap({ operation in (1...3).map { (operation, $0) } })
      {
        runs.add()
        let what = "seed \(seed), from \(operation.rawValue) \(number) on"
        let disk = SimulatedDisk()
        var (store, events) = try Self.filled(disk, seed: seed, options: options)
        for _ in 0..<20 { try events.append(to: store) }
        let historian = try #require(store.projector(folding).historian)
        let calls = Lock(0)
        disk.onOperation { call in
          guard call.path.hasPrefix(StateStore.layout.histories), call.operation == operation else {
            return .proceed
          }
          return calls.withLock { calls in
            calls += 1
            return calls < number ? .proceed : .fail(SystemErrorCode.inputOutput)
          }
        }
        try Self.checkReads(store, &random, what)
        if (try? historian.recordBlocking()) == nil { failed += 1 }
        try events.append(to: store)
        try Self.checkReads(store, &random, what)
        // What a process finds that begins after this one was killed, or after a power cut.
        let after = disk.crash(seed: seed, model: number % 2 == 0 ? .dropAll : .lossless)
        let again = try StateStore.open(after, options: options)
        if let found = again.projector(folding).historian?.runs() {
          kept += 1
          #expect(try HistoryStore.difference(found, again, folding) == nil, "\(what)")
        } else {
          #expect(damaging.contains(operation), "\(what): what was written before is lost")
        }
        try again.closeBlocking()
        disk.onOperation(nil)
        // A history that seemed damaged twice is given up until the process ends.
        try? historian.recordBlocking()
        if let made = historian.runs() {
          #expect(try HistoryStore.difference(made, store, folding) == nil, "\(what)")
        }
        #expect(damaging.contains(operation) || historian.end + 40 > store.head.sequence, "\(what)")
        try store.closeBlocking()
      }
    }
    #expect(failed > runs.count / 4 && kept > runs.count / 2, "\(failed), \(kept)")
  }

  /// States of the past, one of them with a list, are those of a replay.
  private static func checkReads(
    _ store: EventStore, _ random: inout SeededGenerator, _ what: String
  ) throws {
    let folding = foldings[0]
    let expected = try HistoryStore.replayed(store, folding)
    let sequences = (0..<2).map { _ in UInt64.random(in: 0...store.head.sequence, using: &random) }
    let points = sequences.map { LogPoint.sequence($0) }
    let states = try store.statesBlocking(at: points, folding)
    try #require(states.count == points.count, "\(what): states are missing")
    for (sequence, state) in zip(sequences, states) {
      let difference = try StateAnswers(state, of: store).difference(
        from: StateAnswers(expected[Int(sequence)], of: store))
      #expect(difference == nil, "\(what), at \(sequence)")
    }
    let listed = try store.statesBlocking(at: [points[0]], folding, view: ("b", definition))
    try #require(listed.count == 1, "\(what): a list is missing")
    let difference = try KeptPastTests.difference(
      listed[0], from: expected[Int(sequences[0])], store, ("b", definition), isWhole: false)
    #expect(difference == nil, "\(what), the list at \(sequences[0])")
  }

  @Test func `fault 85: a history that is damaged again after it was made again is given up, and said to be`()
    throws
  {
    let disk = SimulatedDisk()
    var options = Self.options()
    (options.pageCacheSize, options.unsavedSize) = (0, options.unsavedSize ?? options.pageCacheSize)
    let folding = StateStore.documents
    let store = try StateStore.open(disk, options: options)
    var events = StateEvents(seed: 11)
    for _ in 0..<20 { try events.append(to: store) }
    let historian = try #require(store.projector(folding).historian)
    let expected = try HistoryStore.replayed(store, folding)
    let sequences = [store.head.sequence / 3, store.head.sequence / 2]
    func read() throws {
      for (sequence, state) in zip(
        sequences, try store.statesBlocking(at: sequences.map { .sequence($0) }, folding))
      {
        #expect(try StateAnswers(state, of: store) == StateAnswers(expected[Int(sequence)], of: store))
      }
    }
    func damage() {
      for path in disk.historyPaths where path.hasSuffix(".run") {
        disk.replace(path, disk.contents(path)!.map { $0 ^ 0x55 })
      }
    }
    try historian.recordBlocking()
    let first = try #require(historian.runs())
    damage()
    try read()
    try historian.recordBlocking()
    let second = try #require(historian.runs())
    #expect(try HistoryStore.difference(second, store, folding) == nil && historian.failure == nil)
    // Who still holds the first runs learns of their damage late. That says nothing of the second ones.
    historian.noteDamage(in: first)
    #expect(historian.runs()?.shares(with: second) == true && historian.failure == nil)
    damage()
    try read()
    #expect(throws: StoreError.self) { try historian.recordBlocking() }
    #expect(historian.runs() == nil && historian.end == 0)
    #expect(disk.historyPaths == [])
    let said = try #require(store.projections.first { $0.name == "$documents" }?.historyError)
    #expect("\(said)".contains("damaged again"))
    try read()
    for _ in 0..<9 { try events.append(to: store) }
    #expect(throws: StoreError.self) { try historian.recordBlocking() }
    #expect(disk.historyPaths == [])
    try store.closeBlocking()
    // The next process makes it again.
    let again = try StateStore.open(disk, options: options)
    let next = try #require(again.projector(folding).historian)
    try next.recordBlocking()
    #expect(try HistoryStore.difference(try #require(next.runs()), again, folding) == nil)
    try again.closeBlocking()
  }
}
