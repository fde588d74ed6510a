// The runs of a history at some moment, and what they answer.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Neighbouring runs from the begin of the log on. A value: it stays what it is when runs are merged or removed, since
/// their files stay open. Everything that reads throws if a run is damaged.
struct RunSet: Sendable {
  /// In order, without gaps.
  let runs: [RunReader]
  /// The tables by their numbers.
  let tables: [RunTable]
  /// What was erased in the log before its events were folded. Nothing of that is in the runs.
  let erasures: SegmentErasures
  /// The head of the log at that time: the notes of erasures up to there do not concern the runs.
  let head: UInt64
  /// Files that stay open for as long as this value is there.
  private(set) var openFiles: [RunFiles.Open] = []

  init(_ runs: [RunReader], _ erasures: SegmentErasures, head: UInt64) throws(PageDamage) {
    self.runs = runs
    self.erasures = erasures
    self.head = head
    tables = try Self.tables(of: runs)
    for (index, table) in tables.enumerated() where Int(table.number) != index {
      throw PageDamage("the runs lack a table")
    }
  }

  /// No runs.
  init(noneOf erasures: SegmentErasures, head: UInt64) {
    (runs, tables, self.erasures, self.head) = ([], [], erasures, head)
  }

  /// The runs answer about every sequence after this one,
  var begin: UInt64 { runs.first?.root.begin ?? 0 }
  /// up to this one.
  var end: UInt64 { runs.last?.root.end ?? 0 }

  func covers(_ sequence: UInt64) -> Bool { sequence > begin && sequence <= end }

  /// The tables of some runs, by number.
  static func tables(of runs: [RunReader]) throws(PageDamage) -> [RunTable] {
    var tables: [UInt32: RunTable] = [:]
    for table in runs.lazy.flatMap(\.tables) {
      guard tables.updateValue(table, forKey: table.number).map({ $0 == table }) ?? true else {
        throw PageDamage("two runs have different tables of one number")
      }
    }
    return tables.values.sorted { $0.number < $1.number }
  }

  /// The listed failures of some runs. A base has those from before it, too.
  static func failures(of runs: [RunReader]) throws(PageDamage) -> [ProjectionFailures.Failure] {
    var failures: [ProjectionFailures.Failure] = []
    for run in runs {
      for failure in try run.failures() where failure.sequence > failures.last?.sequence ?? 0 {
        failures.append(failure)
      }
    }
    return failures
  }

  /// The number of a table; nil if no event up to the end wrote to it.
  func number(ofTable name: String) -> UInt32? {
    tables.first { $0.name.utf8.elementsEqual(name.utf8) }?.number
  }

  /// The index of the run that has an event.
  private func index(of sequence: UInt64) -> Int? {
    runs.firstIndex { sequence > $0.root.begin && sequence <= $0.root.end }
  }

  /// The same runs, of which those stay open that hold the state after an event.
  func held(at sequence: UInt64) throws(PageDamage) -> RunSet {
    var held = self
    for run in runs(holding: sequence) { held.openFiles.append(try run.opened()) }
    return held
  }

  /// The same runs, all of which stay open.
  func heldWhole() throws(PageDamage) -> RunSet {
    var held = self
    for run in runs { held.openFiles.append(try run.opened()) }
    return held
  }

  /// The runs that together hold the state after an event: from the last base on.
  func runs(holding sequence: UInt64) -> ArraySlice<RunReader> {
    guard let last = index(of: sequence) else { return [] }
    assert(covers(sequence), "runs hold the states after their events")
    let base = runs[...last].lastIndex { $0.root.isBase } ?? 0
    return runs[base...last]
  }
}

// MARK: One row

extension RunSet {
  /// The newest version of a row at or before an event, and its bytes; nil if the row was never there. O(log n) for each
  /// run that has the row.
  func version(
    of key: [UInt8], at sequence: UInt64
  ) throws(PageDamage) -> (version: RunVersion, bytes: [UInt8])? {
    let rows = RunRows(self, at: sequence)
    return try rows.version(of: key).map { ($0.version, Array($0.bytes)) }
  }

  /// Every version of a row, in order.
  func versions(
    of key: [UInt8]
  ) throws(PageDamage) -> [(version: RunVersion, bytes: [UInt8])] {
    var versions: [(version: RunVersion, bytes: [UInt8])] = []
    let hash = XXH64.of(key)
    for run in runs where try run.mayContain(hash) {
      let cursor = RunRowCursor(run)
      let exists = try key.lendBytes { key throws(PageDamage) in try cursor.seek(toRow: key) }
      guard exists else { continue }
      while let version = try cursor.nextVersion() {
        // A base repeats what lived at its begin.
        if version.sequence > run.root.begin { versions.append((version, Array(try cursor.bytes()))) }
      }
    }
    return versions
  }
}

// MARK: Moments

extension RunSet {
  /// What is known of the log after an event.
  struct Moment: Equatable {
    var time: Int64
    var appends: UInt64
    var failures: UInt64
  }

  /// O(events of a page).
  func moment(_ sequence: UInt64) throws(PageDamage) -> Moment {
    guard let index = index(of: sequence) else { throw PageDamage("no run has the event") }
    let root = runs[index].root
    let cursor = RunChangesCursor(runs[index])
    try cursor.seek(sequence)
    guard let event = try cursor.next(), event.sequence == sequence else {
      throw PageDamage("a run lacks an event")
    }
    return Moment(
      time: event.time, appends: root.appends &+ cursor.counts.appends,
      failures: root.failures &+ cursor.counts.failures)
  }
}
