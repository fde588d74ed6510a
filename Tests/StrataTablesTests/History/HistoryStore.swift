// Stores that keep a history in tiny runs, and what the log says of the past.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

enum HistoryStore {
  /// Options with which runs, merges and bases occur after a few events.
  ///
  /// - Parameter keepsAll: false where it does not matter that the front of the history may go.
  static func options(
    _ random: inout SeededGenerator, documents largeLength: Int? = nil, keepsAll: Bool = true
  ) -> StoreOptions {
    var options = StateStore.options()
    options.history = keepsAll || Bool.random(using: &random) ? .all : bounded(&random)
    options.runLimits.changeCountMax = Int.random(in: 1...9, using: &random)
    options.runLimits.laggingCount = Int.random(in: 0..<8, using: &random) == 0 ? 5 : 1
    options.runLimits.mergedCount = Int.random(in: 2...4, using: &random)
    options.runLimits.baseChangeCountMin = UInt64.random(in: 6...60, using: &random)
    options.runLimits.mergedVersionCountMax = [0, 100, 1_000].randomElement(using: &random)!
    options.runLimits.pageLength = [1, 60, 300, 4_096].randomElement(using: &random)!
    options.runLimits.largeLength = largeLength ?? [1, 50, 700, 4_096].randomElement(using: &random)!
    options.runLimits.wholeInterval = Int.random(in: 1...17, using: &random)
    options.runLimits.walkLength = [1, 300, 1 << 16].randomElement(using: &random)!
    options.runLimits.partRowCountMin = [1, 3, 4_096].randomElement(using: &random)!
    options.runLimits.openFileCountMax = [0, 2, 5, 64].randomElement(using: &random)!
    options.unsavedSize = [0, 3_000, 1 << 20].randomElement(using: &random)!
    options.pageCacheSize = [0, 5_000, 1 << 20].randomElement(using: &random)!
    return options
  }

  /// A last part of a history that is so small that older runs go after a few events. An append takes a second.
  static func bounded(_ random: inout SeededGenerator) -> StoreHistory {
    let seconds = Int64.random(in: 1...30, using: &random)
    let bytes = [1, 3_000, 20_000, 100_000].randomElement(using: &random)!
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return .last(nanoseconds: seconds * 1_000_000_000, bytes: nil)
    case 1: return .last(bytes: bytes)
    default: return .last(nanoseconds: seconds * 1_000_000_000, bytes: bytes)
    }
  }

  /// The same, with tiny pages and groups of keys.
  static func keyOptions(_ random: inout SeededGenerator, keepsAll: Bool = true) -> StoreOptions {
    var options = options(&random, keepsAll: keepsAll)
    options.runLimits.keyCountMax = [1, 2, 5, 32].randomElement(using: &random)!
    options.runLimits.groupKeyCountMax = [1, 3, 20, 256].randomElement(using: &random)!
    options.runLimits.directoryPageCountMin = [1, 2, 7, 128].randomElement(using: &random)!
    options.runLimits.chunkChangeCountMin = [1, 4, 30, 1_024].randomElement(using: &random)!
    options.runLimits.madeKeysByteCountMax = [1, 400, 5_000, 1 << 20].randomElement(using: &random)!
    options.runLimits.wholeKeyCountMax = [0, 8, 64].randomElement(using: &random)!
    options.runLimits.uncountedKeyCountMax = [0, 3, 32].randomElement(using: &random)!
    options.runLimits.sweptKeyCountMin = [1, 5, 64].randomElement(using: &random)!
    options.runLimits.sweepLength = [1, 300, 8_192].randomElement(using: &random)!
    options.runLimits.rowWaitMin = [.zero, .seconds(1)].randomElement(using: &random)!
    return options
  }

  /// How many appends a random history has. What compares each of its states takes time with the square of it, so that
  /// most are short. Some are long enough for merges, and, where more histories are asked for than in an ordinary run, for
  /// merges of merged runs.
  static func appendCount(_ random: inout SeededGenerator) -> Int {
    let isLong = Int.random(in: 0..<(StateRuns.isLong ? 5 : 9), using: &random) == 0
    let counts = StateRuns.isLong ? (few: 3...24, many: 25...60) : (few: 3...16, many: 25...40)
    return Int.random(in: isLong ? counts.many : counts.few, using: &random)
  }

  /// The state at each sequence, by a replay of the log.
  static func replayed(_ store: EventStore, _ folding: Folding) throws -> [TableSet] {
    var states = [TableSet(recordsTouches: folding.recordsTouches)]
    let fold = Fold(store.log, folding)
    for sequence in 1...max(1, store.head.sequence) where sequence <= store.head.sequence {
      try fold.run(through: sequence)
      states.append(fold.state)
    }
    return states
  }

  /// A row of one state, as a run has it.
  struct Row: Equatable {
    var kind: RunVersion.Kind
    var sequence: UInt64
    var created: UInt64 = 0
    var bytes: [UInt8]
  }

  /// The rows and problems of a state, by table and id.
  static func rows(_ set: TableSet) -> [String: [[UInt8]: Row]] {
    var all: [String: [[UInt8]: Row]] = [:]
    for table in set.tables {
      var rows: [[UInt8]: Row] = [:]
      table.forEachRow { row in
        rows[Array(row.id)] = Row(
          kind: .document, sequence: row.revision, created: row.created, bytes: Array(row.document))
      }
      table.problems.forEach(in: 0..<table.problems.count) { id, what in
        #expect(rows[Array(id)] == nil)
        rows[Array(id)] = Row(kind: .problem, sequence: 0, bytes: Array(what))
      }
      all[table.name] = rows
    }
    return all
  }

  /// The first difference between runs and the log; nil if there is none.
  ///
  /// - Parameters:
  ///   - states: those of a replay, if there are any.
  ///   - sequences: those that are looked at; nil for all that the runs have, in an ordinary run at most twelve of them.
  static func difference(
    _ runs: RunSet, _ store: EventStore, _ folding: Folding, from states: [TableSet]? = nil,
    at sequences: [UInt64]? = nil
  ) throws -> String? {
    let states = try states ?? replayed(store, folding)
    for sequence in sequences ?? looked(runs) {
      let set = try runs.tables(
        at: sequence, recordsTouches: folding.recordsTouches, store.log.options.runLimits)
      let difference = try StateAnswers(set, of: store).difference(
        from: StateAnswers(states[Int(sequence)], of: store))
      if let difference { return "at \(sequence) of \(runs.end): \(difference)" }
      for table in set.tables {
        if let sentence = table.checkInvariants() { return "at \(sequence): \(sentence)" }
      }
    }
    return nil
  }

  /// The sequences that runs have.
  static func all(of runs: RunSet) -> [UInt64] { Array(runs.begin + 1..<runs.end + 1) }

  /// The same; in an ordinary run at most twelve of them, with the first and the last.
  private static func looked(_ runs: RunSet) -> [UInt64] {
    let all = all(of: runs)
    if StateRuns.isLong || all.count <= 12 { return all }
    return stride(from: 0, to: all.count - 1, by: (all.count + 10) / 11).map { all[$0] } + [runs.end]
  }

  /// Some of the sequences that runs have: the first and the last, where up to three runs end, and five others. For a test
  /// that often looks at runs of which most are as they were.
  static func some(of runs: RunSet, _ random: inout SeededGenerator) -> [UInt64] {
    guard runs.begin < runs.end else { return [] }
    let ends = runs.runs.map(\.root.end).filter { $0 > runs.begin }.shuffled(using: &random).prefix(3)
    let others = (0..<5).map { _ in UInt64.random(in: runs.begin + 1...runs.end, using: &random) }
    return [runs.begin + 1, runs.end] + ends + others
  }

  /// Kinds of runs that a test came across.
  struct Met {
    var states = 0
    var bases = 0
    var merged = 0
    var large = 0

    mutating func add(_ runs: RunSet) {
      states += Int(runs.end - runs.begin)
      bases += runs.runs.filter(\.root.isBase).count
      merged += runs.runs.filter { $0.root.counts.appends > 9 }.count
    }
  }
}

extension SimulatedDisk {
  /// The paths of the files of all histories.
  var historyPaths: [String] { paths.filter { $0.hasPrefix(StateStore.layout.histories + "/") } }
}
