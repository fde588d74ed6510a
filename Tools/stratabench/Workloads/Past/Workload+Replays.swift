// Measures reads of the past from a history, beside replays of the same log.

internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension Workload {
  /// Stores of a tenth of the events, and of all of them, over a tenth as many rows of about 150 bytes, with a list of 200
  /// sections.
  static func replays(_ bench: Bench) async throws {
    for eventCount in [bench.corpus.count / 10, bench.corpus.count] {
      print("  \(eventCount) events")
      let past = try await PastBench(bench, eventCount: eventCount)
      try await rows(past)
      try await firstPages(past)
      try await scrub(past)
      try await diffs(past)
      try ways(past)
      try await past.close()
    }
  }

  /// One row at a fresh point.
  private static func rows(_ past: PastBench) async throws {
    func times(_ store: EventStore, _ count: Int) async throws -> [Double] {
      var times: [Double] = []
      for _ in 0..<count {
        let point = LogPoint.sequence(UInt64.random(in: 1...UInt64(past.eventCount)))
        let id = StateRow.id(Int.random(in: 0..<past.filled.rowCount))
        let start = now()
        _ = try await store.documents(StateList.category)[id, at: point]
        times.append(now() - start)
      }
      return times
    }
    let (kept, replayed) = (try await times(past.kept, 1_000), try await times(past.replayed, 1_000))
    PastBench.compare("one row at a fresh point", kept, replayed)
  }

  /// The first page of the list at a fresh point.
  private static func firstPages(_ past: PastBench) async throws {
    func times(_ store: EventStore, _ points: [UInt64]) async throws -> [Double] {
      var times: [Double] = []
      for point in points {
        let list = StateList.controller(store, PastBench.request)
        let start = now()
        readPage(try await list.snapshot(at: .sequence(point)))
        times.append(now() - start)
      }
      return times
    }
    let points = (0..<past.rounds).map { _ in UInt64.random(in: 1...UInt64(past.eventCount)) }
    PastBench.compare(
      "the first page at a fresh point", try await times(past.kept, points),
      try await times(past.replayed, points))
  }

  private static func readPage(_ snapshot: StateList.Snapshot) {
    for section in 0..<snapshot.numberOfSections {
      for item in 0..<snapshot.numberOfItems(inSectionAt: section) {
        precondition(snapshot.row(at: ListIndex(section: section, item: item)) != nil, "an item has its row")
      }
    }
  }

  /// Moves of a scrubber: to the middle, on from there by steps of 1,000 events, back by as many, and far.
  private static func scrub(_ past: PastBench) async throws {
    struct Times {
      var first: [Double] = []
      var forwards: [Double] = []
      var backwards: [Double] = []
      var far: [Double] = []
    }
    let step: UInt64 = 1_000
    let count = min(100, past.eventCount / 4_000)
    func times(_ store: EventStore) async throws -> Times {
      var times = Times()
      let scrubber = try StateList.controller(store, PastBench.request).scrubber()
      func move(_ sequence: UInt64, _ name: WritableKeyPath<Times, [Double]>) async throws {
        let start = now()
        readPage(try await scrubber.move(to: .sequence(sequence)).after)
        times[keyPath: name].append(now() - start)
      }
      let middle = UInt64(past.eventCount / 2)
      try await move(middle, \.first)
      for number in 1...count { try await move(middle + UInt64(number) * step, \.forwards) }
      // Not to where it was.
      for number in 1...2 * count {
        try await move(
          UInt64(past.eventCount / 2 + (count - number) * Int(step) + Int(step) / 2), \.backwards)
      }
      for _ in 0..<past.rounds { try await move(.random(in: 1...UInt64(past.eventCount)), \.far) }
      return times
    }
    let (kept, replayed) = (try await times(past.kept), try await times(past.replayed))
    PastBench.compare("a scrubber's first move", kept.first, replayed.first)
    PastBench.compare("1,000 events forwards", kept.forwards, replayed.forwards)
    PastBench.compare("1,000 events backwards", kept.backwards, replayed.backwards)
    PastBench.compare("anywhere", kept.far, replayed.far)
  }

  /// The changes of the list between two points.
  private static func diffs(_ past: PastBench) async throws {
    for distance in [1, 1_000, 100_000] where distance < past.eventCount {
      func times(_ store: EventStore, _ starts: [UInt64]) async throws -> [Double] {
        var times: [Double] = []
        let list = StateList.controller(store, StateList.built)
        for start in starts {
          let begin = now()
          _ = try await list.changes(from: .sequence(start), to: .sequence(start + UInt64(distance)))
          times.append(now() - begin)
        }
        return times
      }
      let starts = (0..<past.rounds).map { _ in UInt64.random(in: 1...UInt64(past.eventCount - distance)) }
      PastBench.compare(
        "the changes between points \(distance) apart", try await times(past.kept, starts),
        try await times(past.replayed, starts))
    }
  }

  /// What each way to a state takes, of which a scrubber chooses by these figures: see `PastCosts`.
  private static func ways(_ past: PastBench) throws {
    let definition = try PastBench.request.compiled { (row) throws(RowProblem) in try DocumentRow(row) }
      .definition
    var (steps, wholes, replays) = (PastCosts(), PastCosts(), PastCosts())
    (steps.change, steps.version, steps.row) = (0, 0, 1)
    (wholes.change, wholes.version, wholes.row) = (1e9, 0, 0)
    (replays.change, replays.version) = (1e9, 1e9)
    let middle = UInt64(past.eventCount / 2)
    let step = UInt64(min(10_000, past.eventCount / 10))
    func time(_ costs: PastCosts, _ sequences: [UInt64]) throws -> Double {
      let states = PastStates(
        past.kept, .documents(only: [StateList.category]), view: (StateList.category, definition),
        costs: costs)
      var last = 0.0
      for sequence in sequences { last = try seconds { _ = try states.state(at: sequence) } }
      return last
    }
    let changes = try time(steps, [middle, middle - step]) / Double(step)
    let folded = try time(replays, [middle, middle + step]) / Double(step)
    let row = try time(wholes, [middle]) / Double(past.filled.rowCount)
    report(
      "  a row that differs, an event replayed, a row of a whole state",
      "\(microseconds(changes)), \(microseconds(folded)), \(microseconds(row))")
  }
}
