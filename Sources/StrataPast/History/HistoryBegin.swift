// The state at the end of the runs, with which the fold of a historian begins.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Makes the state at the end of the runs, in slices. Belongs to one thread at a time.
///
/// The way is the one that costs least, see `PastWays`. A state that is saved and is as new, or some events older, costs
/// almost nothing: its pages are read when an event is about a row in them, through the bounded cache, and are dropped
/// again. After a clean close there is one. Otherwise the tables are built from all rows of the runs; those that are too
/// many for memory go to a file without a name.
///
/// Both are the result of the same events, folded by the same code. So nothing depends on which of them it was, and a
/// saved state about which anything is in doubt is left aside. A page of it that is lost is made again from the log.
final class HistoryBegin {
  struct Made {
    var tables: TableSet
    /// The head of the log before the events of the state were folded.
    var head: UInt64
    /// What has the files of the saved state open; nil if the state is made from runs.
    var checkpoints: Checkpoints?
  }

  private let log: Log
  private let folding: Folding
  private let runs: RunSet
  private let last: ManifestRun
  /// The fold from the saved state to the end of the runs; nil if no saved state is of use.
  private var saved: (fold: Fold, head: UInt64, checkpoints: Checkpoints)?
  private var rows: RunTables?

  /// - Parameters:
  ///   - last: what the manifest says of the last run.
  ///   - checkpoints: finds the state that is saved; nil if none is.
  init(_ log: Log, _ folding: Folding, _ runs: RunSet, _ last: ManifestRun, _ checkpoints: Checkpoints?) {
    self.log = log
    self.folding = folding
    self.runs = runs
    self.last = last
    saved = checkpoints.flatMap(fold)
  }

  /// Whether the state is made from a saved one, as far as is known.
  var isOfSaved: Bool { saved != nil }

  /// Goes on for a slice. Returns the state once it is complete, and nil before that.
  func resume(_ slice: TimeSlice) throws(PageDamage) -> Made? {
    if let (fold, head, checkpoints) = saved {
      // What cannot be folded now is found by the fold of the historian.
      if let isDone = try? fold.run(through: last.end, slice) {
        if !isDone { return nil }
        if isEnd(fold, head) { return Made(tables: fold.state, head: head, checkpoints: checkpoints) }
      }
      // The caller decides whether there is time for all rows.
      saved = nil
      return nil
    }
    let rows: RunTables
    if let begun = self.rows {
      rows = begun
    } else {
      rows = try RunTables(
        runs, at: last.end, recordsTouches: folding.recordsTouches, log.options.runLimits)
      self.rows = rows
    }
    guard var tables = try rows.resume(slice) else { return nil }
    tables.chain = last.chain
    return Made(tables: tables, head: runs.head)
  }

  /// Moves rows that were read to a file, if they take more than a number of bytes in memory.
  func spill(to file: SpillFile, over limit: Int) throws(StoreError) {
    try rows?.spill(to: file, over: limit, file.healing(log, folding, sequence: last.end))
  }

  /// The fold from the newest saved state that is not after the end of the runs; nil if there is none, to build the tables
  /// costs less, or something was erased between the looks at the two.
  private func fold(_ checkpoints: Checkpoints) -> (fold: Fold, head: UInt64, checkpoints: Checkpoints)? {
    guard let restored = checkpoints.restoreBeside(through: last.end), restored.erasures == runs.erasures
    else { return nil }
    let head = min(restored.head, runs.head)
    var ways = PastWays(sequence: last.end, beginning: log.mark.logBegin - 1, costs: .ofHistory)
    ways.known = [PastWays.Known(sequence: restored.tables.sequence, head: head)]
    ways.runs = runs.ways()
    guard ways.cheapest == .known(0) else { return nil }
    let fold = Fold(
      log, folding, from: restored.tables.withoutViews, headAtBegin: head, erasures: restored.erasures)
    return (fold, head, checkpoints)
  }

  /// Whether the state of a fold is the one at the end of the runs.
  private func isEnd(_ fold: Fold, _ head: UInt64) -> Bool {
    // A fold that began again from the start has no content that was erased meanwhile, and the runs have it.
    guard fold.headAtBegin == head, (try? fold.findChain()) != nil else { return false }
    let state = fold.state
    let root = runs.runs.last?.root
    return state.sequence == last.end && state.chain == last.chain && state.time == last.time
      && state.appendCount == last.appends
      && root.map { UInt64(state.failures.count) == $0.failures.addingSaturated($0.counts.failures) } ?? false
      && state.tables.map(\.nameBytes) == runs.tables.map { Array($0.name.utf8) }
  }
}

/// A state that the projector published, with which the fold of a historian may go on.
struct PublishedState: Sendable {
  var tables: TableSet
  /// What was erased in the log before its fold began.
  var erasures: SegmentErasures
  /// The head of the log at that time.
  var head: UInt64
}

/// What the fold of a historian began with, and went on with, and what of it did not fit in memory.
struct HistoryBegins: Sendable, Equatable {
  /// With a saved state, and with what was read from the rows of the runs.
  var fromSaved = 0
  var fromRuns = 0
  /// With one that the projector published.
  var fromPublished = 0
  /// The bytes that were written to files without a name, and the number of these files.
  var spilledBytes: UInt64 = 0
  var spillFiles = 0
}

extension TableSet {
  /// The same rows, problems and failures, without the lists over them.
  var withoutViews: TableSet {
    let written = tables.filter(\.isWritten).map { table in
      Table(
        name: table.name, recordsTouches: recordsTouches, rows: table.rows, problems: table.problems,
        savedViews: [])
    }
    return TableSet(
      sequence: sequence, time: time, chain: chain, appendCount: appendCount, recordsTouches: recordsTouches,
      tables: written, failures: failures)
  }
}
