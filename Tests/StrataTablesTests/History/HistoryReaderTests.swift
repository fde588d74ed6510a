// Readers of a history that another process keeps: whatever the writer does meanwhile, they answer what the log says.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryReaderTests {
  private typealias Pair = HistoryPair

  @Test func `a reader beside a writer that appends, merges and erases answers what a replay does`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 2)
    var (read, held, reused) = (0, 0, 0)
    while runs.next() {
      let pair = try Pair(&random)
      var kept: (runs: RunSet, expected: [StateAnswers])?
      for step in 0..<5 {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: try pair.erase(&random)
        case 1: try pair.restart()
        case 2..<7:
          try pair.append(Int.random(in: 1...6, using: &random))
          try pair.record()
        default: try pair.append(Int.random(in: 1...3, using: &random))
        }
        #expect(try pair.difference() == nil, "run \(runs.count), step \(step)")
        let last = kept?.runs.runs ?? []
        if let runs = pair.history.runs() {
          read += 1
          reused += runs.runs.filter { run in last.contains { $0 === run } }.count
          if kept == nil {
            let states = try HistoryStore.replayed(pair.reader, pair.folding)
            kept = (runs, try states.map { try StateAnswers($0, of: pair.reader) })
          }
        }
        try Self.checkReads(pair, &random, "run \(runs.count), step \(step)")
      }
      // What it holds stays what it was, also when the files have lost their names.
      if let kept {
        for sequence in kept.runs.begin + 1..<kept.runs.end + 1 {
          let set = try kept.runs.tables(at: sequence, recordsTouches: pair.folding.recordsTouches)
          #expect(
            try StateAnswers(set, of: pair.reader).difference(from: kept.expected[Int(sequence)]) == nil,
            "run \(runs.count), at \(sequence)")
        }
        let names = Set(
          pair.disk.historyPaths.compactMap { path in
            path.split(separator: "/").last.flatMap { StoreLayout.runFileNumber(String($0)) }
          })
        held += kept.runs.runs.filter { !names.contains($0.number) }.count
      }
      try pair.close()
    }
    #expect(read > runs.count / 2, "\(read)")
    // A build without optimisation has few of them.
    if runs.count >= 100 { #expect(held > runs.count / 2 && reused > 0, "\(held), \(reused)") }
  }

  /// States, rows and versions that the reader is asked for are those of the log.
  private static func checkReads(_ pair: Pair, _ random: inout SeededGenerator, _ what: String) throws {
    let sequences = (0..<2).map { _ in UInt64.random(in: 0...pair.reader.head.sequence, using: &random) }
    let states = try pair.reader.statesBlocking(at: sequences.map { .sequence($0) }, pair.folding)
    for (sequence, state) in zip(sequences, states) {
      let fold = Fold(pair.reader.log, pair.folding)
      try fold.run(through: sequence)
      let difference = try StateAnswers(state, of: pair.reader)
        .difference(from: StateAnswers(fold.state, of: pair.reader))
      #expect(difference == nil, "\(what), at \(sequence)")
    }
  }

  @Test func `rows and versions of a reader are those of its writer, and nothing is replayed`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let pair = try Pair(&random, StateStore.documents, keepsAll: true)
    for number in 0..<200 { try pair.writer.put("\(number % 5)", ["n": .int(Int64(number))]) }
    try pair.record()
    try pair.reader.log.refresh()
    let (documents, expected) = (pair.reader.documents("a"), pair.writer.documents("a"))
    let end = pair.history.runs()!.end
    #expect(end > pair.reader.head.sequence - 20)
    for sequence in stride(from: 1, to: end, by: 9) {
      #expect(try await documents["3", at: .sequence(sequence)] == expected["3", at: .sequence(sequence)])
    }
    let history = try await documents.history(of: "3")
    #expect(try await history == expected.history(of: "3") && history.count >= 40)
    let counter = PastCounter()
    let replay = PastPoints(
      pair.reader, StateStore.documents, to: [.sequence(end / 2), .sequence(end - 3)], view: nil,
      counting: counter)
    #expect(try replay.resume(nil)?.count == 2)
    #expect(replay.bytesRead == 0)
    #expect(counter.counts == PastCounts(states: 2, fromHistory: 2, foldedEvents: 0))
    #expect(pair.history.end == end)
    try pair.close()
    // It is closed, and has let go of its files.
    #expect(pair.history.runs() == nil && pair.history.end == 0)
  }

  @Test func `the status of a projection of a reader says how far the history is`() async throws {
    let disk = SimulatedDisk()
    var options = StateStore.options()
    options.history = .all
    options.runLimits.changeCountMax = 5
    options.runLimits.laggingCount = 1
    let writer = try StateStore.open(disk, options: options)
    for number in 0..<23 { try writer.put("\(number % 5)", ["n": .int(Int64(number))]) }
    try writer.projector(StateStore.documents).historian!.recordBlocking()
    let reader = try StateStore.open(disk, .readOnly, options: StateStore.options())
    #expect(try await reader.documents("a")["3", at: .sequence(9)]?.fields["n"] == 8)
    #expect(reader.projections.map(\.historySequence) == [20])
    #expect(reader.projector(StateStore.documents).historian == nil)
    try reader.closeBlocking()
    try writer.closeBlocking()
  }

  @Test func `a reader looks at the folder again only when the manifest is another one`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let pair = try Pair(&random, StateStore.documents)
    try pair.append(30)
    try pair.record()
    let first = try #require(pair.history.runs())
    let opened = Lock(0)
    pair.disk.onOperation { call in
      if call.path.hasPrefix(StateStore.layout.histories), call.operation == .open {
        opened.withLock { $0 += 1 }
      }
      return .proceed
    }
    for _ in 0..<5 { #expect(pair.history.runs()?.runs.last === first.runs.last) }
    #expect(opened.withLock { $0 } == 0)
    pair.disk.onOperation(nil)
    try pair.append(20)
    try pair.record()
    #expect(pair.history.runs()!.end > first.end)
    try pair.close()
  }

  // MARK: During each other's calls

  @Test func `fault 81: a reader uses no run from before an erasure that is done`() throws {
    var erased = 0
    for number in 1...200 {
      var random = SeededGenerator(seed: 11)
      let pair = try Pair(&random, StateStore.documents)
      try pair.append(20)
      try pair.record()
      let step = pair.disk.during(call: number) {
        _ = try pair.writer.eraseBlocking(Erasure(sequences: [3...9], because: "asked to"))
        if number % 2 == 0 { try pair.record() }
      }
      _ = pair.history.runs()
      pair.disk.onOperation(nil)
      #expect(step.failure == nil, "call \(number)")
      // The read that went on meanwhile may be of either side; the next one is of the log as it is now.
      #expect(try pair.difference() == nil, "call \(number)")
      try Self.checkReads(pair, &random, "call \(number)")
      try pair.close()
      guard step.isDue else { break }
      erased += 1
    }
    #expect(erased > 10)
  }

  @Test func `fault 81: a reader during any call of an erasure agrees with the log on what is erased`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let pair = try Pair(&random, StateStore.documents)
    try pair.append(20)
    try pair.record()
    #expect(pair.history.runs() != nil)
    let reads = Lock((count: 0, used: 0, isReading: false))
    pair.disk.onOperation { call in
      let isDue = reads.withLock { reads in
        defer { reads.isReading = true }
        return !reads.isReading
      }
      guard isDue else { return .proceed }
      do {
        let runs = pair.history.runs()
        if let runs {
          let difference = try HistoryStore.difference(runs, pair.reader, pair.folding)
          #expect(difference == nil, "\(call.operation) of \(call.path)")
        }
        reads.withLock { reads in
          reads.count += 1
          reads.used += runs == nil ? 0 : 1
        }
      } catch { Issue.record("\(call.operation) of \(call.path): \(error)") }
      reads.withLock { $0.isReading = false }
      return .proceed
    }
    _ = try pair.writer.eraseBlocking(Erasure(sequences: [3...9], because: "asked to"))
    pair.disk.onOperation(nil)
    let (count, used, _) = reads.withLock { $0 }
    #expect(used > 5 && count > used + 5, "\(used) of \(count)")
    #expect(pair.history.runs() == nil)
    try pair.record()
    #expect(try pair.difference() == nil && pair.history.runs() != nil)
    try pair.close()
  }

  // MARK: Damage

  @Test func `fault 96: damaged and missing files make a reader replay, and it finds what is made again`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 3)
    var (missing, damaged) = (0, 0)
    while runs.next() {
      let pair = try Pair(&random, StateStore.documents)
      try pair.append(Int.random(in: 5...15, using: &random))
      try pair.record()
      let isOpen = Bool.random(using: &random)
      if isOpen { _ = pair.history.runs() }
      for path in pair.disk.historyPaths where Bool.random(using: &random) {
        var bytes = pair.disk.contents(path)!
        if Bool.random(using: &random) {
          try pair.disk.remove(path)
          missing += 1
        } else {
          let bit = Int.random(in: 0..<bytes.count * 8, using: &random)
          bytes[bit / 8] ^= 1 << UInt8(bit % 8)
          pair.disk.replace(path, bytes)
          damaged += 1
        }
      }
      for round in 0..<3 {
        try Self.checkReads(pair, &random, "run \(runs.count), \(round), open: \(isOpen)")
      }
      // The writer finds the damage when it opens the store, or when it reads; then the reader uses runs again.
      try pair.restart()
      pair.writer.projector(pair.folding).historian!.noteDamage()
      try pair.append(4)
      try pair.record()
      #expect(try pair.difference() == nil, "run \(runs.count)")
      #expect(pair.history.runs() != nil, "run \(runs.count)")
      try pair.close()
    }
    #expect(missing > 0 && damaged > 0 && missing + damaged > runs.count / 2, "\(missing), \(damaged)")
  }

  @Test func `fault 80: a reader takes no run that was made again for the damaged one of the same number`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let pair = try Pair(&random, StateStore.documents)
    try pair.append(20)
    // So that the close has nothing to write.
    try pair.record(writesRest: true)
    let known = try #require(pair.history.runs())
    for path in pair.disk.historyPaths {
      var bytes = pair.disk.contents(path)!
      // A writer that does not know the last number begins with 1, and makes the same runs.
      let isManifest = path.hasSuffix(StoreLayout.manifestFile)
      for index in (isManifest ? 0 : RunFile.headerLength)..<bytes.count { bytes[index] ^= 1 }
      pair.disk.replace(path, bytes)
    }
    #expect(try #require(pair.history.runs()).runs.elementsEqual(known.runs, by: ===))
    try pair.restart()
    try pair.record(writesRest: true)
    let new = try #require(pair.history.runs())
    #expect(known.runs.map(\.number) == new.runs.map(\.number))
    #expect(try pair.difference() == nil)
    try pair.close()
  }

  @Test func `a history of other code, another store or other events is not read`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let pair = try Pair(&random, StateStore.documents, keepsAll: true)
    try pair.append(20)
    try pair.record()
    let path = pair.disk.historyPaths.first { $0.hasSuffix(StoreLayout.manifestFile) }!
    let good = try #require(HistoryManifest(decoding: pair.disk.contents(path)!))
    var changes: [(inout HistoryManifest) -> Void] = [
      { _ in }, { $0.build += 1 }, { $0.fingerprint += 1 }, { $0.name += 1 },
      { $0.storeID = StoreID(low: 5, high: 6) }, { $0.runs[0].begin = 1 },
      { $0.runs[$0.runs.count - 1].erasures += 1 },
      { for index in $0.runs.indices { $0.runs[index].chain += 1 } },
    ]
    // A history may begin with a base.
    let runs = try #require(pair.history.runs()).runs
    if runs.count == 1 || !runs[1].root.isBase { changes.append { $0.runs.removeFirst() } }
    for (number, change) in changes.enumerated() {
      var manifest = good
      change(&manifest)
      pair.disk.replace(path, manifest.encoded())
      let reader = try StateStore.open(pair.disk, .readOnly, options: StateStore.options())
      let history = try #require(HistoryReader(reader.log, StateStore.documents))
      #expect((history.runs() == nil) == (number > 0), "change \(number)")
      try reader.closeBlocking()
    }
    pair.disk.replace(path, good.encoded())
    try pair.close()
  }

  /// The files of the log, and HEAD.
  private static func logPaths(_ disk: SimulatedDisk) -> [String] {
    disk.paths.filter { $0.hasPrefix(StateStore.layout.log + "/") || $0 == StateStore.layout.head }
  }

  @Test func `a reader uses no runs of events that its folder no longer has`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let head = StateStore.layout.head
    for isOlder in [false, true] {
      let pair = try Pair(&random, StateStore.documents)
      try pair.append(20)
      let older = Self.logPaths(pair.disk).map { ($0, pair.disk.contents($0)!) }
      let olderEnd = pair.writer.head.sequence
      try pair.append(20)
      // All of it: runs of events that the older log has, too, would still be right.
      try pair.record(writesRest: true)
      let runs = try #require(pair.history.runs())
      #expect(runs.end > olderEnd)
      try pair.writer.closeBlocking()
      if isOlder {
        // A backup is copied over the log; the folder of histories stays as it was.
        for path in Self.logPaths(pair.disk) where !older.contains(where: { $0.0 == path }) {
          try pair.disk.remove(path)
        }
        for (path, bytes) in older { pair.disk.replace(path, bytes) }
      } else {
        var slot = try #require(pair.disk.contents(head)!.withUnsafeBytes { HeadSlot.newest(in: $0) })
        slot.storeID = StoreID(low: 5, high: 6)
        let rest = [UInt8](repeating: 0, count: HeadSlot.fileLength - HeadSlot.length)
        pair.disk.replace(head, slot.encoded() + rest)
      }
      #expect(pair.history.runs() == nil, "\(isOlder)")
      #expect(throws: StoreError.self, "\(isOlder)") { try pair.reader.log.refresh() }
      try pair.reader.closeBlocking()
    }
  }

  @Test func `after another writer opened the store a reader looks at the log once`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let pair = try Pair(&random, StateStore.documents)
    try pair.append(20)
    try pair.record()
    #expect(pair.history.runs() != nil)
    try pair.restart()
    let looks = Lock(0)
    pair.disk.onOperation { call in
      if call.path == StateStore.layout.lock, call.operation == .open { looks.withLock { $0 += 1 } }
      return .proceed
    }
    for _ in 0..<5 { #expect(pair.history.runs() != nil) }
    #expect(looks.withLock { $0 } == 1)
    pair.disk.onOperation(nil)
    try pair.close()
  }
}
