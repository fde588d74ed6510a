// The fold of a historian: which rows each event changed.

internal import StrataBase
internal import StrataLog

/// Folds the log event by event, and notes each row that changed with what it is then. Belongs to one thread at a time.
final class HistoryRecording {
  private let fold: Fold
  private(set) var pending: PendingRun
  /// The trees of the tables after the last event that was noted, by the tables' numbers.
  private var seen: [(table: RunTable, rows: Tree, problems: Tree)] = []
  /// The same at the begin of what is pending.
  private var before: [(rows: Tree, problems: Tree)] = []
  private var appends: UInt64
  private var failures: ProjectionFailures
  /// The commit time of the last event.
  private(set) var time: Int64
  private(set) var sequence: UInt64

  /// - Parameter tables: the state at the end of the runs; nil if there are none.
  init(_ log: Log, _ folding: Folding, _ runs: RunSet, from tables: TableSet? = nil) {
    if let tables {
      fold = Fold(log, folding, from: tables, headAtBegin: runs.head, erasures: runs.erasures)
    } else {
      fold = Fold(log, folding, marksErasures: true)
    }
    let state = fold.state
    sequence = state.sequence
    time = state.time ?? 0
    appends = state.appendCount
    failures = state.failures
    pending = PendingRun(
      begin: state.sequence, time: state.time, appends: state.appendCount,
      failures: UInt64(state.failures.count))
    for (table, known) in zip(state.tables, runs.tables) { seen.append((known, table.rows, table.problems)) }
    assert(seen.count == state.tables.count, "the state has other tables than the runs")
    before = seen.map { ($0.rows, $0.problems) }
  }

  /// Lends what a row was at the begin of what is pending.
  func withRowBefore(_ key: [UInt8], _ body: (RunVersion?, UnsafeRawBufferPointer) -> Void) {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    key.withUnsafeBytes { key in
      let number = Int(RunKey.table(key))
      guard number < before.count else { return body(nil, nothing) }
      let id = RunKey.id(key)
      let isRefused = before[number].problems.withValue(of: id) { problem in
        guard let problem else { return false }
        body(RunVersion(kind: .problem, sequence: 0, created: 0, time: 0), problem)
        return true
      }
      guard !isRefused else { return }
      before[number].rows.withValue(of: id) { value in
        guard let value else { return body(nil, nothing) }
        let row = StoredRow.view(id: id, value)
        body(
          RunVersion(kind: .document, sequence: row.revision, created: row.created, time: row.time),
          row.document)
      }
    }
  }

  var rowCount: Int { seen.reduce(0) { $0 + $1.rows.count } }

  /// Whether a run is to be written.
  func isDue(_ limits: RunLimits) -> Bool {
    pending.isAtEndOfAppend && isFull(limits)
  }

  private func isFull(_ limits: RunLimits) -> Bool {
    pending.changeCount >= limits.changeCountMax || pending.byteCount >= limits.byteCountMax
  }

  /// Begins the next run after the last one was written.
  func beginRun() {
    pending = PendingRun(
      begin: sequence, time: time, appends: appends, failures: UInt64(failures.count))
    before = seen.map { ($0.rows, $0.problems) }
  }

  /// Folds on until a run is due, or to a sequence.
  func run(
    through last: UInt64, _ slice: TimeSlice, _ limits: RunLimits
  ) throws(StoreError) -> Fold.EventRun {
    try fold.runByEvent(through: last, slice) { stamp, endsAppend, state in
      note(stamp, endsAppend, state)
      return !(endsAppend && isFull(limits))
    }
  }

  private func note(_ stamp: Stamp, _ endsAppend: Bool, _ state: borrowing TableSet) {
    for index in 0..<state.tables.count {
      let (rows, problems) = (state.tables[index].rows, state.tables[index].problems)
      if index == seen.count {
        let table = RunTable(
          number: UInt32(truncatingIfNeeded: index), first: stamp.sequence, name: state.tables[index].name)
        seen.append((table, Tree(pageSize: TreePages.table), Tree()))
        pending.note(table)
      }
      if rows.root !== seen[index].rows.root || problems.root !== seen[index].problems.root {
        note(index, rows, problems, stamp)
      }
    }
    var failure: ProjectionFailures.Failure?
    let hasFailed = state.failures.count != failures.count
    if hasFailed {
      if state.failures.listed.count > failures.listed.count { failure = state.failures.listed.last }
      failures = state.failures
    }
    if endsAppend { appends += 1 }
    (sequence, time) = (stamp.sequence, stamp.time)
    pending.end(
      RunEvent(sequence: stamp.sequence, time: stamp.time, endsAppend: endsAppend, hasFailed: hasFailed),
      failure: failure)
  }

  /// Notes the rows of one table that an event changed.
  private func note(_ index: Int, _ rows: Tree, _ problems: Tree, _ stamp: Stamp) {
    let table = seen[index].table
    if !pending.knows(table: table.number) { pending.note(table) }
    func add(
      _ kind: RunVersion.Kind, _ id: UnsafeRawBufferPointer, created: UInt64 = 0,
      _ bytes: UnsafeRawBufferPointer
    ) {
      let version = RunVersion(kind: kind, sequence: stamp.sequence, created: created, time: stamp.time)
      pending.add(version, table: table.number, id: id, bytes)
    }
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    // A row that has a problem now is noted with it, and one that had a problem and has a document with that.
    if problems.root !== seen[index].problems.root {
      Tree.forEachDifference(from: seen[index].problems, to: problems) { difference in
        if let problem = difference.newValue {
          add(.problem, difference.key, problem)
        } else if !rows.contains(difference.key) {
          add(.gone, difference.key, nothing)
        }
      }
    }
    Tree.forEachDifference(from: seen[index].rows, to: rows) { difference in
      guard let value = difference.newValue else {
        if !problems.contains(difference.key) { add(.gone, difference.key, nothing) }
        return
      }
      let row = StoredRow.view(id: difference.key, value)
      assert(row.revision == stamp.sequence, "a row changed without a new revision")
      add(.document, difference.key, created: row.created, row.document)
    }
    (seen[index].rows, seen[index].problems) = (rows, problems)
  }
}
