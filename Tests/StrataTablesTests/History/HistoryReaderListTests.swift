// Kept lists of the past beside a writer: whatever it does during a read, lists and differences are those of a replay.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct HistoryReaderListTests {
  /// Two points of a pair's log, and what a replay has there.
  private struct Question {
    let pair: HistoryPair
    let sequences: [UInt64]
    let expected: [TableSet]
    let changes: [String: [PastDifferenceTests.Change]]

    /// - Parameter end: the last event that may be asked about; the log has it.
    init(_ pair: HistoryPair, _ replayed: [TableSet], through end: UInt64, _ random: inout SeededGenerator) {
      self.pair = pair
      let (one, other) = (
        UInt64.random(in: 1...end, using: &random), UInt64.random(in: 1...end, using: &random)
      )
      sequences = [one, other == one ? one % end + 1 : other]
      expected = sequences.map { replayed[Int($0)] }
      changes = PastDifferenceTests.changes(expected[0], expected[1])
    }

    /// Asks the reader about the list at the two points, and what changed between them. Returns how many of the two came
    /// from the history, and the first difference.
    ///
    /// - Parameter isWhole: false if runs may have lost something.
    func asked(isWhole: Bool = true) throws -> (fromHistory: Int, difference: String?) {
      let list = pair.list!
      let counter = PastCounter()
      let replay = PastPoints(
        pair.reader, pair.folding, to: sequences.map { .sequence($0) }, view: list, counting: counter)
      let states = try #require(try replay.resume(nil))
      let fromHistory = counter.counts.fromHistory
      guard PastDifferenceTests.changes(states[0], states[1]) == changes else {
        return (fromHistory, "what changed between \(sequences)")
      }
      for (state, expected) in zip(states, expected) {
        if let difference = try KeptPastTests.difference(
          state, from: expected, pair.reader, list, isWhole: isWhole)
        {
          return (fromHistory, "at \(state.sequence): \(difference)")
        }
      }
      return (fromHistory, nil)
    }
  }

  private static func pair(_ random: inout SeededGenerator, keepsAll: Bool) throws -> HistoryPair {
    let pair = try HistoryPair(&random, StateStore.documents, keepsAll: keepsAll, keepsList: true)
    for _ in 0..<3 {
      try pair.append(Int.random(in: 2...6, using: &random))
      try pair.record(writesRest: true)
    }
    try pair.reader.log.refresh()
    return pair
  }

  @Test(arguments: [true, false])
  func `fault 80: a list whose history is merged during any call of its reader is that of a replay`(
    keepsAll: Bool
  )
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 4)
    var (calls, fromHistory, changes, merges) = (0, 0, 0, 0)
    while runs.isShort {
      let seed = random.next()
      // Some calls of each of several histories: of one alone, all may merge or none.
      for number in stride(from: Int.random(in: 1...8, using: &random), through: 600, by: 8) {
        runs.add()
        var own = SeededGenerator(seed: seed)
        let pair = try Self.pair(&own, keepsAll: keepsAll)
        let question = Question(
          pair, try HistoryStore.replayed(pair.reader, pair.folding), through: pair.reader.head.sequence,
          &random)
        let before = pair.runNumbers
        let step = pair.disk.during(call: number) {
          for _ in 0..<number % 3 + 1 {
            try pair.append(6)
            try pair.record()
          }
        }
        let found = try question.asked()
        pair.disk.onOperation(nil)
        let what = "seed \(seed), call \(number), \(question.sequences)"
        #expect(step.failure == nil && found.difference == nil, "\(what)")
        merges += pair.runNumbers.isSuperset(of: before) ? 0 : 1
        fromHistory += found.fromHistory
        changes += question.changes.values.reduce(0) { $0 + $1.count }
        #expect(try question.asked().difference == nil, "\(what), afterwards")
        try pair.close()
        guard step.isDue else { break }
        calls += 1
      }
    }
    print("lists while runs are merged: \(calls) calls, \(fromHistory) from a history, \(merges) merges")
    #expect(calls > runs.count / 2 && changes > runs.count, "\(calls), \(changes)")
    // The front of a history that is bounded may have gone before.
    if keepsAll { #expect(fromHistory > runs.count, "\(fromHistory)") }
    // A build without optimisation has few of them.
    if runs.count >= 100 { #expect(merges > 0, "\(merges)") }
  }

  @Test func `fault 80: a list that is read at any call of a writer that merges is that of a replay`()
    throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    // A writer of small pages makes thousands of calls. At each thirtieth, on average, a list is read.
    let runs = StateRuns(parts: 5)
    var (merges, calls, fromHistory) = (0, 0, 0)
    while runs.next() {
      let pair = try Self.pair(&random, keepsAll: true)
      let end = pair.reader.head.sequence
      let replayed = try HistoryStore.replayed(pair.reader, pair.folding)
      let before = pair.runNumbers
      let seed = random.next()
      let state = Lock((isReading: false, random: SeededGenerator(seed: seed), count: 0, fromHistory: 0))
      pair.disk.onOperation { call in
        let own = state.withLock { state -> SeededGenerator? in
          guard !state.isReading, Int.random(in: 0..<30, using: &state.random) == 0 else { return nil }
          (state.isReading, state.count) = (true, state.count + 1)
          return state.random.split()
        }
        guard var random = own else { return .proceed }
        do {
          let found = try Question(pair, replayed, through: end, &random).asked()
          #expect(found.difference == nil, "seed \(seed), \(call.operation) of \(call.path)")
          state.withLock { $0.fromHistory += found.fromHistory }
        } catch { Issue.record("seed \(seed), \(call.operation) of \(call.path): \(error)") }
        state.withLock { $0.isReading = false }
        return .proceed
      }
      for _ in 0..<3 {
        try pair.append(4)
        try pair.record()
      }
      pair.disk.onOperation(nil)
      merges += pair.runNumbers.isSuperset(of: before) ? 0 : 1
      let (_, _, count, found) = state.withLock { $0 }
      calls += count
      fromHistory += found
      try pair.close()
    }
    print("lists at each call of a writer: \(calls), \(fromHistory) from a history, \(merges) merges")
    #expect(
      merges > runs.count / 16 && calls > 10 * runs.count && fromHistory > calls,
      "\(merges), \(calls), \(fromHistory)")
  }

  @Test func `fault 96: a list whose history lost files, or has damaged ones, is that of a replay`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let runs = StateRuns(parts: 3)
    var (lost, replays, fromHistory) = (0, 0, 0)
    while runs.next() {
      let pair = try Self.pair(&random, keepsAll: true)
      let replayed = try HistoryStore.replayed(pair.reader, pair.folding)
      let end = pair.reader.head.sequence
      if Bool.random(using: &random) {
        #expect(try Question(pair, replayed, through: end, &random).asked().difference == nil)
      }
      for path in pair.disk.historyPaths where Int.random(in: 0..<3, using: &random) == 0 {
        let bytes = pair.disk.contents(path)!
        if Bool.random(using: &random) {
          pair.disk.delete(path)
        } else {
          pair.disk.flipBit(path, Int.random(in: 0..<8 * bytes.count, using: &random))
        }
        lost += 1
      }
      for number in 0..<3 {
        let found = try Question(pair, replayed, through: end, &random).asked(isWhole: false)
        #expect(found.difference == nil, "run \(runs.count), \(number)")
        replays += 2 - found.fromHistory
      }
      try pair.restart()
      let historian = pair.writer.projector(pair.folding).historian!
      historian.keep(pair.list!.definition, of: pair.list!.table)
      historian.noteDamage()
      try pair.append(3)
      try pair.record()
      let found = try Question(pair, replayed, through: end, &random).asked()
      #expect(found.difference == nil, "run \(runs.count), made again")
      fromHistory += found.fromHistory
      try pair.close()
    }
    #expect(lost > runs.count / 2 && replays > runs.count / 8, "\(lost), \(replays)")
    #expect(fromHistory > runs.count, "\(fromHistory)")
  }
}
