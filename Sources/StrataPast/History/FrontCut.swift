// Which runs at the front of a history go, where only the last part of it is kept.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// The first run that stays: all before it go.
///
/// It must be a base, since what lived at its begin is in no other run then. A base that merging made is taken where there
/// is one. Elsewhere the run is written again as a base, which costs a version of each row; so that happens only if the
/// runs that go have as many changes as there are rows. So each row that is written takes a change away, however many
/// rows there are and however little is to be kept.
///
/// Whole runs go, so that nothing but that base is ever written for it, and what is kept is what the runs say of
/// themselves: it depends on no clock, and not on the log beyond them.
struct FrontCut {
  /// The index of the first run that stays, more than 0.
  let first: Int

  /// Nil if nothing is to go, or it does not pay yet. O(runs).
  ///
  /// - Parameters:
  ///   - runs: all of them, in order. The end of the last one is now.
  ///   - firstTime: looks up the own time of the first event of a run, by its index; nil if it has none.
  init?(
    _ runs: [RunFacts], _ bounds: HistoryBounds, firstTime: (Int) throws(PageDamage) -> Int64?
  ) throws(PageDamage) {
    guard bounds != HistoryBounds(), let time = runs.last?.endTime else { return nil }
    let paid = Self.paid(runs)
    guard !paid.isEmpty else { return nil }
    var found = 0
    if let age = bounds.nanoseconds {
      let (oldest, isTooOld) = time.subtractingReportingOverflow(age)
      if !isTooOld { found = try Self.last(of: paid, before: oldest, firstTime) }
    }
    if let bytes = bounds.bytes { found = max(found, Self.first(of: paid, within: bytes, runs)) }
    assert(found == 0 || paid.contains(found), "a cut is not paid for")
    guard found > 0 else { return nil }
    first = found
  }

  /// The runs that may be the first one, ascending: bases, and those before which there are enough changes.
  private static func paid(_ runs: [RunFacts]) -> [Int] {
    var paid: [Int] = []
    var (changes, rows): (UInt64, UInt64) = (0, 0)
    for (index, run) in runs.enumerated() {
      if index > 0, run.isBase || changes >= rows { paid.append(index) }
      changes = changes.addingSaturated(run.changes)
      rows = run.isBase ? run.rows : max(rows, run.rows)
    }
    return paid
  }

  /// The last of the runs whose first event is of before a time or at it, so that the state at that time stays, and those
  /// at all later ones; 0 if there is none. The time at its begin says nothing: times may run back.
  private static func last(
    of paid: [Int], before time: Int64, _ firstTime: (Int) throws(PageDamage) -> Int64?
  ) throws(PageDamage) -> Int {
    for index in paid.reversed() {
      if let first = try firstTime(index), first <= time { return index }
    }
    return 0
  }

  /// The first of the runs from which on the history has no more bytes, or the last of them; 0 if it has no more now.
  private static func first(of paid: [Int], within bytes: UInt64, _ runs: [RunFacts]) -> Int {
    var rest = runs.reduce(UInt64(0)) { $0.addingSaturated($1.length) }
    guard rest > bytes else { return 0 }
    var (begin, versions, gone, rows): (Int, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    for index in paid {
      for run in runs[begin..<index] {
        rest -= min(rest, run.length)
        gone = gone.addingSaturated(run.length)
        versions = versions.addingSaturated(run.versions)
        rows = run.isBase ? run.rows : max(rows, run.rows)
      }
      begin = index
      // A row takes about as much room in the base as a version did before.
      let base = runs[index].isBase || versions == 0 ? 0 : Double(gone) / Double(versions) * Double(rows)
      if Double(rest) + base <= Double(bytes) { return index }
    }
    return begin
  }
}

extension HistoryBounds {
  /// The part of what is kept that one run may be of, if it is made of runs that need no other: as it goes as a whole, it
  /// must not be much of it.
  private static let part: UInt64 = 8

  /// Whether bases that follow one another may be merged. If the last event is of before the begin of the first, nothing
  /// says how much they are of.
  func allowsMerging(_ bases: ArraySlice<RunFacts>) -> Bool {
    if let bytes {
      let length = bases.reduce(UInt64(0)) { $0.addingSaturated($1.length) }
      guard length <= bytes / Self.part else { return false }
    }
    guard let nanoseconds else { return true }
    guard let first = bases.first?.beginTime, let last = bases.last?.endTime else { return false }
    let (length, isTooLong) = last.subtractingReportingOverflow(first)
    return !isTooLong && length >= 0 && length <= nanoseconds / Int64(Self.part)
  }
}

extension RunSet {
  /// The first event that the runs answer about; nil if there is none.
  var firstSequence: UInt64? { runs.isEmpty ? nil : begin + 1 }

  /// Throws if the runs need others before them, which are not there.
  func checkFront(of log: Log) throws(PageDamage) {
    guard let first = runs.first, !first.root.isBase, begin >= log.mark.logBegin else { return }
    throw PageDamage("the first run does not hold what lived at its begin")
  }
}
