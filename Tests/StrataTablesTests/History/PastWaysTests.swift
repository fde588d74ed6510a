// Which way to a state of the past is taken, without a store.

import Testing

@testable import StrataPast
@testable import StrataTables

@Suite struct PastWaysTests {
  private static let costs: PastCosts = {
    var costs = PastCosts()
    (costs.change, costs.version, costs.row, costs.unread) = (3, 0.1, 2, 30)
    return costs
  }()

  /// A history of events 101 to 1,000, of which each changes a row.
  private static func runs(
    rows: Double = 50, versions: Double = 100, hasKeys: Bool = false, head: UInt64 = 1_000
  ) -> PastWays.Runs {
    PastWays.Runs(
      begin: 100, end: 1_000, head: head, hasKeys: hasKeys, size: { _ in (versions, rows) },
      changeCount: { Double(max($0, $1) - min($0, $1)) })
  }

  private static func ways(
    to sequence: UInt64, known: [UInt64] = [], _ runs: PastWays.Runs? = nil
  ) -> PastWays {
    PastWays(
      sequence: sequence, beginning: 0, known: known.map { PastWays.Known(sequence: $0, head: 1_000) },
      runs: runs, costs: costs)
  }

  // MARK: Costs

  @Test func `without runs the newest known state that is not later is replayed from, or the log`() {
    #expect(Self.ways(to: 500).cheapest == .beginning)
    #expect(Self.ways(to: 500, known: [501]).cheapest == .beginning)
    #expect(Self.ways(to: 500, known: [100, 400, 501, 300]).cheapest == .known(1))
    // Of two, the first one.
    #expect(Self.ways(to: 500, known: [400, 500, 500]).cheapest == .known(1))
  }

  @Test func `the source with the least sum of costs is taken`() {
    // 50 rows and 100 versions are 110 events.
    #expect(Self.ways(to: 109, Self.runs()).cheapest == .beginning)
    #expect(Self.ways(to: 111, Self.runs()).cheapest == .whole)
    #expect(Self.ways(to: 500, known: [391], Self.runs()).cheapest == .known(0))
    #expect(Self.ways(to: 500, known: [389], Self.runs()).cheapest == .whole)
    // Backwards there is nothing to replay from: 36 rows are less than all.
    #expect(Self.ways(to: 500, known: [536], Self.runs()).cheapest == .change(from: 0))
    #expect(Self.ways(to: 500, known: [537], Self.runs()).cheapest == .whole)
    #expect(Self.ways(to: 500, known: [536, 380, 510], Self.runs()).cheapest == .change(from: 2))
    // A state that the runs do not have cannot be changed by them.
    #expect(Self.ways(to: 101, known: [100], Self.runs()).cheapest == .known(0))
    #expect(Self.ways(to: 1_000, known: [1_001], Self.runs()).cheapest == .whole)
    // What is read when it is looked at costs as much as 30 events.
    #expect(Self.ways(to: 500, known: [471], Self.runs(hasKeys: true)).cheapest == .known(0))
    #expect(Self.ways(to: 500, known: [469], Self.runs(hasKeys: true)).cheapest == .unread)
    #expect(Self.ways(to: 500, known: [501], Self.runs(hasKeys: true)).cheapest == .unread)
  }

  @Test func `the events after the end of the runs are replayed, and count`() {
    let ways = Self.ways(to: 1_200, known: [1_090], Self.runs())
    #expect(ways.cheapest == .known(0) && ways.begin(of: .known(0)) == 1_090)
    // 200 events and 110 for the rows are as many as from 890 on.
    #expect(Self.ways(to: 1_200, known: [890], Self.runs()).cheapest == .known(0))
    let far = Self.ways(to: 1_200, known: [889], Self.runs())
    #expect(far.cheapest == .whole && far.target == 1_000 && far.begin(of: .whole) == 1_000)
    // They count, too, where some rows of a state are changed first.
    #expect(Self.ways(to: 1_010, known: [998], Self.runs()).cheapest == .known(0))
    // A saved state is one that is known.
    #expect(Self.ways(to: 1_200, known: [200, 1_100], Self.runs()).cheapest == .known(1))
    #expect(Self.ways(to: 100, Self.runs()).target == nil)
  }

  @Test func `an event that is replayed although the runs have it may cost more`() {
    var ways = Self.ways(to: 200, known: [50], Self.runs(rows: 126, versions: 0))
    ways.costs.repeated = 2
    // Of 150 events the runs have 100.
    #expect(ways.cheapest == .known(0))
    ways.runs = Self.runs(rows: 124, versions: 0)
    #expect(ways.cheapest == .whole)
  }

  @Test func `a single read takes what runs have, and replays only what they do not have`() {
    var ways = Self.ways(to: 101, Self.runs(rows: 1e6))
    ways.costs = .ofRead
    #expect(ways.cheapest == .whole)
    ways.known = [PastWays.Known(sequence: 100, head: 1_000)]
    #expect(ways.cheapest == .whole)
    ways.runs = Self.runs(rows: 1e6, hasKeys: true)
    #expect(ways.cheapest == .unread)
    ways.known.append(PastWays.Known(sequence: 101, head: 1_000))
    #expect(ways.cheapest == .known(1))
    // From the end of the runs on, a saved state that is as new or newer.
    ways.sequence = 1_200
    ways.known = [PastWays.Known(sequence: 999, head: 1_000)]
    #expect(ways.cheapest == .unread)
    ways.known.append(PastWays.Known(sequence: 1_000, head: 1_000))
    #expect(ways.cheapest == .known(1))
    (ways.known, ways.runs) = ([], nil)
    #expect(ways.cheapest == .beginning)
  }

  // MARK: Erasures and damage

  @Test func `nothing is taken that was folded before an erasure`() {
    var ways = Self.ways(to: 500, known: [400, 490, 510], Self.runs(hasKeys: true))
    #expect(ways.cheapest == .known(1))
    ways.lastErasure = 1_000
    #expect(ways.cheapest == .known(1))
    ways.lastErasure = 1_001
    #expect(ways.cheapest == .beginning && ways.target == nil)
    // One of each that was made since.
    ways.known[2].head = 1_001
    #expect(ways.cheapest == .beginning)
    ways.known[0].head = 1_001
    #expect(ways.cheapest == .known(0))
    ways.runs?.head = 1_001
    #expect(ways.cheapest == .unread)
    ways.runs?.hasKeys = false
    #expect(ways.cheapest == .change(from: 2))
  }

  @Test func `where a source is damaged the next one is taken`() {
    var ways = Self.ways(to: 500, known: [300], Self.runs(hasKeys: true))
    #expect(ways.cheapest == .unread)
    // The runs turned out to lack the keys,
    ways.runs?.hasKeys = false
    #expect(ways.cheapest == .whole)
    // and then a page that the rows are in.
    ways.runs = nil
    #expect(ways.cheapest == .known(0))
    ways.known = []
    #expect(ways.cheapest == .beginning)
  }
}
