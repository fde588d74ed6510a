// The tables of a state, built from runs.

internal import StrataBase
internal import StrataLog

/// Builds the state after an event, in slices. Belongs to one thread at a time.
///
/// The rows come in the order of their keys, so the trees are built from sorted entries; that takes a fraction of what
/// replaying the events takes.
final class RunTables {
  /// Rows between two looks at the slice.
  private static let stepCount = 512

  private let set: RunSet
  private let sequence: UInt64
  private let moment: RunSet.Moment
  private let recordsTouches: Bool
  private let known: [RunTable]
  private var heads: RunHeads
  private var tables: [Table] = []
  private var rows = Tree.Builder(pageSize: TreePages.table)
  private var problems = Tree.Builder(pageSize: Tree().pageSize)
  private var stored: [UInt8] = []

  /// - Parameter sequence: an event that the runs have.
  init(_ set: RunSet, at sequence: UInt64, recordsTouches: Bool) throws(StatePage.Damage) {
    self.set = set
    self.sequence = sequence
    self.recordsTouches = recordsTouches
    moment = try set.moment(sequence)
    known = set.tables.filter { $0.first <= sequence }
    heads = try RunHeads(Array(set.runs(holding: sequence)))
  }

  /// Goes on for a slice. Returns the state once it is complete, and nil before that.
  func goOn(_ slice: TimeSlice?) throws(StatePage.Damage) -> TableSet? {
    while true {
      for _ in 0..<Self.stepCount {
        guard try heads.next() else { return try finish() }
        try addRow()
      }
      if let slice, slice.isOver { return nil }
    }
  }

  private func addRow() throws(StatePage.Damage) {
    var found: (version: RunVersion, cursor: RunRowCursor)?
    for index in heads.current.reversed() where found == nil {
      let cursor = heads.cursors[index]
      if let version = try cursor.version(through: sequence) { found = (version, cursor) }
    }
    guard let (version, cursor) = found, version.kind != .gone else { return }
    let number = cursor.key.withUnsafeBytes { RunKey.table($0) }
    guard number < known.count else { throw StatePage.Damage("a row is of a table that was not there") }
    while tables.count < number { endTable() }
    let bytes = try cursor.bytes()
    guard cursor.key.count - RunKey.tableLength <= Tree.keyLengthMax,
      bytes.count <= Tree.valueLengthMax - StoredRow.headLength
    else { throw StatePage.Damage("a row of a run is too long") }
    cursor.key.withUnsafeBytes { key in
      let id = RunKey.id(key)
      if version.kind == .problem { return problems.append(id, bytes) }
      StoredRow.write(
        RowView(
          id: id, revision: version.sequence, created: version.created, time: version.time,
          document: bytes),
        to: &stored)
      stored.withUnsafeBytes { rows.append(id, $0) }
    }
  }

  private func endTable() {
    var ended = Tree.Builder(pageSize: TreePages.table)
    var endedProblems = Tree.Builder(pageSize: Tree().pageSize)
    swap(&ended, &rows)
    swap(&endedProblems, &problems)
    tables.append(
      Table(
        name: known[tables.count].name, recordsTouches: recordsTouches, rows: ended.finish(),
        problems: endedProblems.finish(), savedViews: []))
  }

  private func finish() throws(StatePage.Damage) -> TableSet {
    while tables.count < known.count { endTable() }
    let failures = try set.allFailures(at: sequence, count: moment.failures)
    return TableSet(
      sequence: sequence, time: moment.time, chain: nil, appendCount: moment.appends,
      recordsTouches: recordsTouches, tables: tables, failures: failures)
  }
}

extension RunSet {
  /// The listed failures up to an event.
  func failures(at sequence: UInt64) throws(StatePage.Damage) -> [ProjectionFailures.Failure] {
    try Self.failures(of: Array(runs(holding: sequence))).filter { $0.sequence <= sequence }
  }

  /// The state after an event.
  func tables(at sequence: UInt64, recordsTouches: Bool) throws(StatePage.Damage) -> TableSet {
    let building = try RunTables(self, at: sequence, recordsTouches: recordsTouches)
    while true { if let tables = try building.goOn(nil) { return tables } }
  }
}
