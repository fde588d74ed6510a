// The fold of a historian: which rows each event changed.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Folds the log event by event, and notes each row that changed with what it is then. Belongs to one thread at a time.
///
/// The tables say which rows an event changed, as these are put there: see `EventRows`. So nothing is compared, and no
/// state before an event is held, whose pages the event would have to copy.
final class HistoryRecording {
  private let fold: Fold
  // One thread at a time uses it, so the checks of exclusive access are left out of what each event changes.
  @exclusivity(unchecked) private(set) var pending: PendingRun
  /// The tables by their numbers.
  @exclusivity(unchecked) private var tables: [RunTable]
  /// Their trees at the begin of what is pending.
  private var before: [(rows: Tree, problems: Tree)] = []
  private var appends: UInt64
  private var failures: ProjectionFailures
  /// The own time of the last event.
  private(set) var time: Int64
  private(set) var sequence: UInt64
  /// Lets the files of the saved state with which the fold began give way; nil once no page of it is in use.
  private var checkpoints: Checkpoints?
  /// Whether pages were changed since the fold last went on with a state of the projector, and a run was begun since.
  private(set) var hasOwnState = true
  private var hasGoneOn = false
  /// How many pages may change, at least, before it is looked at again how much is in memory only.
  private var pagesUntilLook = 0

  /// - Parameter made: the state at the end of the runs; nil if there are none.
  init(_ log: Log, _ folding: Folding, _ runs: RunSet, from made: HistoryBegin.Made? = nil) {
    checkpoints = made?.checkpoints
    if let made {
      fold = Fold(log, folding, from: made.tables, headAtBegin: made.head, erasures: runs.erasures)
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
    tables = Array(runs.tables.prefix(state.tables.count))
    assert(tables.count == state.tables.count, "the state has other tables than the runs")
    noteBefore()
  }

  private func noteBefore() { before = fold.state.tables.map { ($0.rows, $0.problems) } }

  /// Lends what a row was at the begin of what is pending.
  func withRowBefore(
    _ key: UnsafeRawBufferPointer, _ body: (RunVersion?, UnsafeRawBufferPointer) -> Void
  ) {
    let number = Int(RunKey.table(key))
    guard number < before.count else { return body(nil, UnsafeRawBufferPointer(start: nil, count: 0)) }
    let (rows, problems) = before[number]
    RunVersion.withVersion(of: RunKey.id(key), rows, problems, at: Stamp(sequence: 0, time: 0)) {
      body($0.kind == .gone ? nil : $0, $1)
    }
  }

  var rowCount: Int { fold.state.rowCount }

  /// Whether a run is to be written. As long as there is much more to fold, runs are longer, so that fewer are merged.
  ///
  /// - Parameter last: the last event of the log.
  func isDue(_ limits: RunLimits, last: UInt64) -> Bool {
    pending.isAtEndOfAppend && isFull(limits, isLagging: isLagging(limits, last))
  }

  /// Whether there is something to write, up to the end of an append.
  var isWhole: Bool { pending.eventCount > 0 && pending.isAtEndOfAppend }

  private func isFull(_ limits: RunLimits, isLagging: Bool) -> Bool {
    pending.changeCount >= limits.changeCountMax * (isLagging ? max(1, limits.laggingCount) : 1)
      || pending.byteCount >= limits.byteCountMax
  }

  private func isLagging(_ limits: RunLimits, _ last: UInt64) -> Bool {
    last > sequence && last - sequence > UInt64(limits.changeCountMax)
  }

  /// Begins the next run after the last one was written.
  func beginRun() {
    pending.beginNext(begin: sequence, time: time, appends: appends, failures: UInt64(failures.count))
    noteBefore()
    if hasGoneOn { checkpoints = nil }
    hasOwnState = true
  }

  /// Whether enough rows changed to look again at how much is in memory only.
  var isSpillDue: Bool { pagesUntilLook <= 0 }

  /// Moves pages of the tables to a file, if those that are in memory only take more than a number of bytes. Between two
  /// runs, these are all pages; in a run, those that were changed in it.
  func spill(to file: SpillFile, over limit: Int) throws(StoreError) {
    // What holds a tree as well would keep its pages in memory.
    let isBetweenRuns = pending.eventCount == 0
    if isBetweenRuns { before = [] }
    defer { if isBetweenRuns { noteBefore() } }
    // If it fails, the next try is not at once.
    pagesUntilLook = max(1, limit) / TreePages.table
    let bytes = try fold.spill(to: file, over: limit)
    pagesUntilLook = max(1, limit - bytes) / TreePages.table
  }

  /// All trees of the fold.
  var trees: [Tree] { fold.state.tables.flatMap { [$0.rows, $0.problems] } }

  /// Goes on with a state without views that has the same content, and shares memory with the tables of the process.
  /// Returns false if it may be another state.
  func resume(from published: PublishedState) -> Bool {
    hasOwnState = false
    let (own, state) = (fold.state, published.tables)
    guard state.sequence == sequence, state.time == own.time, state.appendCount == appends,
      state.failures == failures, state.tables.count == own.tables.count,
      zip(state.tables, own.tables).allSatisfy({
        $0.nameBytes == $1.nameBytes && $0.count == $1.count && $0.problems.count == $1.problems.count
      })
    else { return false }
    fold.resume(from: state, headAtBegin: published.head)
    assert(fold.state.sequence == sequence, "the fold goes on elsewhere")
    hasGoneOn = true
    if pending.eventCount == 0 {
      noteBefore()
      checkpoints = nil
    }
    return true
  }

  /// Folds on until a run is due, or to a sequence.
  ///
  /// - Parameter end: the last event of the log; nil for the sequence.
  func run(
    through sequence: UInt64, _ slice: TimeSlice, _ limits: RunLimits, last end: UInt64? = nil
  ) throws(StoreError) -> Fold.EventRun {
    let last = end ?? sequence
    return try fold.runByEvent(through: sequence, slice) { stamp, endsAppend, rows, state in
      note(stamp, endsAppend, rows, state)
      return !(endsAppend && isFull(limits, isLagging: isLagging(limits, last)))
    }
  }

  private func note(
    _ stamp: Stamp, _ endsAppend: Bool, _ rows: borrowing EventRows, _ state: borrowing TableSet
  ) {
    for index in tables.count..<state.tables.count {
      let table = RunTable(
        number: UInt32(truncatingIfNeeded: index), first: stamp.sequence, name: state.tables[index].name)
      tables.append(table)
      pending.note(table)
    }
    rows.forEach(in: state) { table, id in
      // The trees alone: a table has much more, all of which would be copied.
      noteRow(id, of: table, state.tables[table].rows, state.tables[table].problems, stamp)
    }
    var failure: ProjectionFailures.Failure?
    let hasFailed = state.failures.count != failures.count
    if hasFailed {
      if state.failures.listed.count > failures.listed.count { failure = state.failures.listed.last }
      failures = state.failures
    }
    assert(stamp.sequence > sequence, "events are folded in order")
    if endsAppend { appends += 1 }
    (sequence, time) = (stamp.sequence, stamp.time)
    pending.end(
      RunEvent(sequence: stamp.sequence, time: stamp.time, endsAppend: endsAppend, hasFailed: hasFailed),
      failure: failure)
  }

  /// Notes what a row is now that an event changed.
  private func noteRow(
    _ id: UnsafeRawBufferPointer, of index: Int, _ rows: Tree, _ problems: Tree, _ stamp: Stamp
  ) {
    pending.note(tables[index])
    RunVersion.withVersion(of: id, rows, problems, at: stamp) { version, bytes in
      assert(version.sequence == stamp.sequence, "a row changed without a new revision")
      pending.add(version, table: tables[index].number, id: id, bytes)
      // A row of more than half a page has pages of its own.
      pagesUntilLook -= 1 + bytes.count / TreePages.table
    }
  }
}
