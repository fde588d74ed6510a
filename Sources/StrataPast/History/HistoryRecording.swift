// The fold of a historian: which rows each event changed.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Folds the log event by event, and notes each row that changed with what it is then. Belongs to one thread at a time.
///
/// An event of a document says which row it may change, and the row says whether it did. Any other projection's rows are
/// compared with those before the event, so each event copies the pages that it changes.
final class HistoryRecording {
  /// A table after the last event that was noted.
  private struct Seen {
    var table: RunTable
    var rowCount = 0
    /// Nil for documents: a tree that is held is copied when it changes.
    var rows: Tree?
    var problems: Tree
  }

  private let folding: Folding
  private let isOfDocuments: Bool
  private let fold: Fold
  // One thread at a time uses it, so the checks of exclusive access are left out of what each event changes.
  @exclusivity(unchecked) private(set) var pending: PendingRun
  /// The tables by their numbers.
  @exclusivity(unchecked) private var seen: [Seen] = []
  /// Their trees at the begin of what is pending.
  private var before: [(rows: Tree, problems: Tree)] = []
  /// The table of the last document.
  private var lastTable = 0
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
    self.folding = folding
    if case .documents = folding.withoutTouches { isOfDocuments = true } else { isOfDocuments = false }
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
    for (table, known) in zip(state.tables, runs.tables) {
      seen.append(
        Seen(
          table: known, rowCount: table.rows.count, rows: isOfDocuments ? nil : table.rows,
          problems: table.problems))
    }
    assert(seen.count == state.tables.count, "the state has other tables than the runs")
    before = state.tables.map { ($0.rows, $0.problems) }
  }

  /// Lends what a row was at the begin of what is pending.
  func withRowBefore(
    _ key: UnsafeRawBufferPointer, _ body: (RunVersion?, UnsafeRawBufferPointer) -> Void
  ) {
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    let number = Int(RunKey.table(key))
    guard number < before.count else { return body(nil, nothing) }
    let id = RunKey.id(key)
    let problems = before[number].problems
    let isRefused =
      problems.count > 0
      && problems.withValue(of: id) { problem in
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

  var rowCount: Int { seen.reduce(0) { $0 + $1.rowCount } }

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
    before = fold.state.tables.map { ($0.rows, $0.problems) }
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
    for index in seen.indices { (seen[index].rows, seen[index].problems) = (nil, Tree()) }
    defer {
      let tables = fold.state.tables
      for (index, table) in zip(seen.indices, tables) {
        seen[index].rows = isOfDocuments ? nil : table.rows
        seen[index].problems = table.problems
      }
      if isBetweenRuns { before = tables.map { ($0.rows, $0.problems) } }
    }
    // If it fails, the next try is not at once.
    pagesUntilLook = max(1, limit) / TreePages.table
    let bytes = try fold.spill(to: file, over: limit)
    pagesUntilLook = max(1, limit - bytes) / TreePages.table
  }

  /// All trees of the fold.
  var trees: [Tree] { fold.state.tables.flatMap { [$0.rows, $0.problems] } }

  /// Goes on with a state without views that has the same content, and shares memory with the tables of the process.
  /// Returns false if it may be another state.
  func goOn(from published: PublishedState) -> Bool {
    hasOwnState = false
    let (own, state) = (fold.state, published.tables)
    guard state.sequence == sequence, state.time == own.time, state.appendCount == appends,
      state.failures == failures, state.tables.count == own.tables.count,
      zip(state.tables, own.tables).allSatisfy({
        $0.nameBytes == $1.nameBytes && $0.count == $1.count && $0.problems.count == $1.problems.count
      })
    else { return false }
    fold.goOn(from: state, headAtBegin: published.head)
    hasGoneOn = true
    for (index, table) in state.tables.enumerated() {
      if !isOfDocuments { seen[index].rows = table.rows }
      seen[index].problems = table.problems
    }
    if pending.eventCount == 0 {
      before = state.tables.map { ($0.rows, $0.problems) }
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
    return try fold.runByEvent(through: sequence, slice) { event, stamp, endsAppend, state in
      note(event, stamp, endsAppend, state)
      return !(endsAppend && isFull(limits, isLagging: isLagging(limits, last)))
    }
  }

  private func note(
    _ event: borrowing EventView, _ stamp: Stamp, _ endsAppend: Bool, _ state: borrowing TableSet
  ) {
    for index in seen.count..<state.tables.count {
      let table = RunTable(
        number: UInt32(truncatingIfNeeded: index), first: stamp.sequence, name: state.tables[index].name)
      seen.append(
        Seen(table: table, rows: isOfDocuments ? nil : Tree(pageSize: TreePages.table), problems: Tree()))
      pending.note(table)
    }
    if isOfDocuments {
      if let (category, id) = folding.documentRow(of: event) { noteDocument(category, id, stamp, state) }
    } else {
      for index in 0..<state.tables.count { noteChanges(of: index, stamp, state) }
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

  private func add(
    _ kind: RunVersion.Kind, _ index: Int, _ id: UnsafeRawBufferPointer, created: UInt64 = 0, _ stamp: Stamp,
    _ bytes: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
  ) {
    let table = seen[index].table
    if !pending.knows(table: table.number) { pending.note(table) }
    let version = RunVersion(kind: kind, sequence: stamp.sequence, created: created, time: stamp.time)
    pending.add(version, table: table.number, id: id, bytes)
    // A row of more than half a page has pages of its own.
    pagesUntilLook -= 1 + bytes.count / TreePages.table
  }

  /// Notes the row of an event that can change no other one.
  private func noteDocument(
    _ category: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, _ stamp: Stamp,
    _ state: borrowing TableSet
  ) {
    func isName(_ name: [UInt8]) -> Bool { name.withUnsafeBytes { $0.hasSameBytes(as: category) } }
    if lastTable >= state.tables.count || !isName(state.tables[lastTable].nameBytes) {
      guard let found = state.index(ofTable: category) else { return }
      lastTable = found
    }
    let index = lastTable
    let problems = state.tables[index].problems
    if problems.root !== seen[index].problems.root {
      noteProblems(of: index, problems, state.tables[index].rows, stamp)
    }
    let rows = state.tables[index].rows
    let wasRemoved = rows.count < seen[index].rowCount
    seen[index].rowCount = rows.count
    if wasRemoved {
      if !problems.contains(id) { add(.gone, index, id, stamp) }
      return
    }
    rows.withValue(of: id) { value in
      guard let value else { return }
      let row = StoredRow.view(id: id, value)
      // A document that is as it was keeps its revision.
      if row.revision == stamp.sequence {
        add(.document, index, id, created: row.created, stamp, row.document)
      }
    }
  }

  /// Notes the rows of one table that an event changed.
  private func noteChanges(of index: Int, _ stamp: Stamp, _ state: borrowing TableSet) {
    let (rows, problems) = (state.tables[index].rows, state.tables[index].problems)
    if problems.root !== seen[index].problems.root { noteProblems(of: index, problems, rows, stamp) }
    guard let old = seen[index].rows, rows.root !== old.root else { return }
    Tree.forEachDifference(from: old, to: rows) { difference in
      guard let value = difference.newValue else {
        if !problems.contains(difference.key) { add(.gone, index, difference.key, stamp) }
        return
      }
      let row = StoredRow.view(id: difference.key, value)
      assert(row.revision == stamp.sequence, "a row changed without a new revision")
      add(.document, index, difference.key, created: row.created, stamp, row.document)
    }
    seen[index].rows = rows
    seen[index].rowCount = rows.count
  }

  /// Notes the rows that have another problem than before. One that has a problem now is noted with it, and one that had
  /// a problem and has a document with that.
  private func noteProblems(of index: Int, _ problems: Tree, _ rows: Tree, _ stamp: Stamp) {
    Tree.forEachDifference(from: seen[index].problems, to: problems) { difference in
      if let problem = difference.newValue {
        add(.problem, index, difference.key, stamp, problem)
      } else if !rows.contains(difference.key) {
        add(.gone, index, difference.key, stamp)
      }
    }
    seen[index].problems = problems
  }
}
