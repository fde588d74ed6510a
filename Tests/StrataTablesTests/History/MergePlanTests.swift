// Which runs are merged, and which go: the policy of histories, without a file.

internal import StrataSimulation
@testable internal import StrataPast
@testable internal import StrataTables
internal import Testing

@Suite struct MergePlanTests {
  /// Runs of eight events are merged four by four, and made a base from 64 changes on.
  private static let limits: RunLimits = {
    var limits = RunLimits()
    (limits.mergedCount, limits.baseChangeCountMin, limits.mergedVersionCountMax) = (4, 64, 256)
    return limits
  }()

  private static func delta(level: UInt32 = 0, changes: UInt64 = 8, rows: UInt64 = 8) -> RunFacts {
    RunFacts(level: level, length: changes * 10, changes: changes, versions: changes, rows: rows)
  }

  private static func plan(
    _ runs: [RunFacts], rowCount: UInt64 = 1_000, _ bounds: HistoryBounds = HistoryBounds()
  ) -> MergePlan? {
    MergePlan(runs, rowCount: rowCount, limits, bounds)
  }

  // MARK: Merging

  @Test func `as many neighbours of one level as the limit says are merged into one of the next`() {
    #expect(Self.plan([]) == nil)
    #expect(Self.plan(Array(repeating: Self.delta(), count: 3)) == nil)
    var four = MergePlan(again: 0, 1)
    four.runs = 0..<4
    #expect(Self.plan(Array(repeating: Self.delta(), count: 5)) == four)
    // The oldest of a level first, and levels are not mixed.
    let mixed = [Self.delta(level: 1), Self.delta(), Self.delta(), Self.delta()]
    #expect(Self.plan(mixed) == nil)
    #expect(Self.plan(mixed + [Self.delta()])?.runs == 1..<5)
  }

  @Test func `deltas become a base once they have twice as many changes as there are rows, and enough`() {
    let runs = [Self.delta(level: 2, changes: 40), Self.delta(level: 1, changes: 24)]
    #expect(Self.plan(runs, rowCount: 33) == nil, "64 changes are less than twice 33")
    let base = Self.plan(runs, rowCount: 32)
    #expect(base?.runs == 0..<2 && base?.isNewBase == true)
    #expect(Self.plan([Self.delta(changes: 63)], rowCount: 1) == nil, "too few for a base")
    // Only those after the last base count.
    let after = [RunFacts(isBase: true, level: 1_000, changes: 500), Self.delta(changes: 64)]
    #expect(Self.plan(after, rowCount: 10)?.runs == 1..<2)
  }

  @Test func `bases are merged while they are small, and of a small part of what is kept`() {
    func bases(_ versions: UInt64, step: Int64 = 10) -> [RunFacts] {
      (0..<4).map { number in
        RunFacts(
          isBase: true, level: 1_000, length: 100, changes: versions, versions: versions, rows: 10,
          beginTime: Int64(number) * step, endTime: Int64(number + 1) * step)
      }
    }
    #expect(Self.plan(bases(64))?.level == 1_001)
    #expect(Self.plan(bases(65)) == nil, "more versions than a base may have")
    // They are of 40 together: an eighth of 320.
    #expect(Self.plan(bases(64), HistoryBounds(nanoseconds: 320)) != nil)
    #expect(Self.plan(bases(64), HistoryBounds(nanoseconds: 319)) == nil)
    #expect(Self.plan(bases(64), HistoryBounds(bytes: 3_200)) != nil)
    #expect(Self.plan(bases(64), HistoryBounds(bytes: 3_199)) == nil)
    // Times that run back say nothing.
    #expect(Self.plan(bases(64, step: -10), HistoryBounds(nanoseconds: 320)) == nil)
  }

  @Test(arguments: SeededGenerator.historySeeds(20))
  func `a history of any length has few runs, and each change is written a few times`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var runs: [RunFacts] = []
    var (rows, added, written): (UInt64, UInt64, UInt64) = (0, 0, 0)
    let growth = Double.random(in: 0...1, using: &random)
    for _ in 0..<2_000 {
      let changes = UInt64.random(in: 1...16, using: &random)
      rows += UInt64((Double(changes) * growth).rounded())
      added += changes
      written += changes
      runs.append(Self.delta(changes: changes, rows: min(changes, rows)))
      while let plan = Self.plan(runs, rowCount: rows) {
        let merged = runs[plan.runs]
        #expect(!merged.isEmpty && (plan.isNewBase || Set(merged.map(\.level)).count == 1))
        #expect(plan.isNewBase || merged.first?.isBase == merged.last?.isBase, "a base goes on as a delta")
        let changes = merged.reduce(0) { $0 + $1.changes }
        let isBase = plan.isNewBase || merged.contains { $0.isBase }
        written += changes + (plan.isNewBase ? rows : 0)
        runs.replaceSubrange(
          plan.runs,
          with: [
            RunFacts(
              isBase: isBase, level: plan.level, length: changes * 10, changes: changes,
              versions: changes + (isBase ? rows : 0), rows: isBase ? rows : changes)
          ])
      }
      // What a read of the newest state goes through, and with the level what it costs to write: base 4 logarithms.
      let deltas = runs.count - ((runs.lastIndex(where: \.isBase) ?? -1) + 1)
      #expect(deltas <= 4 * 8)
    }
    #expect(written <= added * 10, "each change was written \(Double(written) / Double(added)) times")
  }

  // MARK: The front

  private static func front(
    _ runs: [RunFacts], _ bounds: HistoryBounds
  ) throws(PageDamage) -> Int? {
    try FrontCut(runs, bounds) { (index) throws(PageDamage) in runs[index].beginTime }?.first
  }

  /// Runs of ten nanoseconds each, of which some are bases.
  private static func runs(_ count: Int, bases: Set<Int> = [], changes: UInt64 = 8) -> [RunFacts] {
    (0..<count).map { number in
      RunFacts(
        isBase: bases.contains(number), length: 100, changes: changes, versions: changes, rows: 8,
        beginTime: Int64(number) * 10, endTime: Int64(number) * 10 + 9)
    }
  }

  @Test func `what is older than what is kept goes, up to a run from which all that is kept can be answered`()
    throws
  {
    let runs = Self.runs(10, bases: [3, 6])
    #expect(try Self.front(runs, HistoryBounds()) == nil)
    #expect(try Self.front([], HistoryBounds(nanoseconds: 1)) == nil)
    // Now is 99. What is kept begins at 69, 60 and 59.
    #expect(try Self.front(runs, HistoryBounds(nanoseconds: 30)) == 6)
    #expect(try Self.front(runs, HistoryBounds(nanoseconds: 39)) == 6)
    #expect(try Self.front(runs, HistoryBounds(nanoseconds: 1_000)) == nil)
    // No run is a base: one is only written for as many changes as there are rows.
    let deltas = Self.runs(10, changes: 1)
    #expect(
      try Self.front(deltas, HistoryBounds(nanoseconds: 30)) == nil,
      "six changes are gone, and eight rows stay")
    #expect(try Self.front(deltas, HistoryBounds(nanoseconds: 10)) == 8)
  }

  @Test func `bytes bound a history, and what a new base takes counts`() throws {
    let runs = Self.runs(10, bases: [3, 6])
    #expect(try Self.front(runs, HistoryBounds(bytes: 1_000)) == nil)
    #expect(try Self.front(runs, HistoryBounds(bytes: 700)) == 3)
    // From the second to the sixth each one would be a base, with eight rows, each as long as a version was.
    #expect(try Self.front(runs, HistoryBounds(bytes: 699)) == 5)
    #expect(try Self.front(runs, HistoryBounds(bytes: 1)) == 9, "the last run stays")
  }

  @Test(arguments: SeededGenerator.historySeeds(50))
  func `what goes pays for the base that is written for it`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var time: Int64 = 0
    let runs = (0..<Int.random(in: 1...30, using: &random)).map { number in
      let changes = UInt64.random(in: 1...20, using: &random)
      let begin = time
      time += Int64.random(in: -5...20, using: &random)
      return RunFacts(
        isBase: number == 0 || Int.random(in: 0..<8, using: &random) == 0, length: changes * 10,
        changes: changes, versions: changes, rows: UInt64.random(in: 1...30, using: &random),
        beginTime: begin, endTime: time)
    }
    let age = Int64.random(in: 0...200, using: &random)
    guard let first = try Self.front(runs, HistoryBounds(nanoseconds: age)) else { return }
    #expect((1..<runs.count).contains(first))
    #expect(runs[first].beginTime! <= time - age, "an event is gone that is to be kept")
    let gone = runs[..<first].reduce(0) { $0 + $1.changes }
    // How many rows there are: at the last base, or more.
    let base = runs[..<first].lastIndex(where: \.isBase) ?? 0
    let rows = runs[base..<first].map(\.rows).max() ?? 0
    #expect(runs[first].isBase || gone >= rows, "a base is written for fewer changes than there are rows")
  }
}
