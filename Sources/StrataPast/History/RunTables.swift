// The tables of a state, built from runs.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Builds the state after an event, in slices. Belongs to one thread at a time.
///
/// The rows come in the order of their keys, so the trees are built from sorted entries; that takes a fraction of what
/// replaying the events takes. Parts of the keys are read on all processors, and their trees are put together: a leaf
/// of a part is a leaf of the whole. O(versions in the runs that hold the state).
final class RunTables {
  private let set: RunSet
  private let moment: RunSet.Moment
  private let sequence: UInt64
  private let recordsTouches: Bool
  /// The tables that are wanted.
  private let tables: [RunTable]
  private let parallel: Parallel
  /// In the order of their keys.
  private let parts: [RunTablesPart]
  private let progress: Lock<Progress>

  private struct Progress {
    /// The parts that nobody goes on with now and that are not complete, the first one last.
    var waiting: [RunTablesPart]
    var damage: PageDamage?
  }

  /// - Parameters:
  ///   - sequence: an event that the runs have.
  ///   - names: the tables that are wanted; nil for all.
  init(
    _ set: RunSet, at sequence: UInt64, recordsTouches: Bool, only names: Set<String>? = nil,
    _ limits: RunLimits, on parallel: Parallel = .none
  ) throws(PageDamage) {
    self.set = set
    self.sequence = sequence
    self.recordsTouches = recordsTouches
    self.parallel = parallel
    moment = try set.moment(sequence)
    tables = set.tables.filter { $0.first <= sequence && names?.contains($0.name) ?? true }
    let plan = RunTablesPart.Plan(
      runs: Array(set.runs(holding: sequence)), sequence: sequence,
      isKnown: set.tables.map { $0.first <= sequence },
      limits: limits)
    var parts: [RunTablesPart] = []
    for range in Self.ranges(of: tables, amongAll: names == nil) {
      parts += try plan.parts(of: range, countMax: 8 * parallel.threadCountMax)
    }
    self.parts = parts
    progress = Lock(Progress(waiting: parts.reversed()))
  }

  /// The ranges of keys that tables have; tables of neighbouring numbers are read together.
  private static func ranges(of tables: [RunTable], amongAll: Bool) -> [RunTablesPart.Keys] {
    // Rows of other tables than those that are known would be damage, which somebody should see.
    if amongAll { return [RunTablesPart.Keys()] }
    let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
    var ranges: [(first: UInt32, end: UInt32)] = []
    for table in tables {
      if let last = ranges.indices.last, ranges[last].end == table.number {
        ranges[last].end += 1
      } else {
        ranges.append((table.number, table.number + 1))
      }
    }
    return ranges.map { range in
      RunTablesPart.Keys(first: RunKey.make(range.first, nothing), end: RunKey.make(range.end, nothing))
    }
  }

  /// Goes on for a slice. Returns the state once it is complete, and nil before that.
  func resume(_ slice: TimeSlice?) throws(PageDamage) -> TableSet? {
    let waiting = progress.withLock { $0.waiting.count }
    parallel.forEach(below: min(parallel.threadCountMax, waiting)) { [progress] number in
      // A thread that comes late, or goes on after another one, has nothing to do once the slice is over.
      if number > 0, slice?.isOver ?? false { return }
      while let part = progress.withLock({ $0.damage == nil ? $0.waiting.popLast() : nil }) {
        do throws(PageDamage) {
          guard try part.resume(slice) else {
            return progress.withLock { $0.waiting.append(part) }
          }
        } catch { progress.withLock { $0.damage = error } }
        if slice?.isOver ?? false { return }
      }
    }
    let (damage, isComplete) = progress.withLock { ($0.damage, $0.waiting.isEmpty) }
    if let damage { throw damage }
    return isComplete ? try finish() : nil
  }

  /// Moves the rows of the parts that are complete to a file, if they take more than a number of bytes in memory. Only
  /// between two slices.
  func spill(to file: SpillFile, over limit: Int, _ healing: StateHealing) throws(StoreError) {
    guard leafBytes > limit else { return }
    for part in done { try part.spill(to: file, tables, healing) }
  }

  /// The bytes of the parts that are complete and in memory. Only between two slices.
  var leafBytes: Int { done.reduce(0) { $0 + $1.leafBytes() } }

  private var done: [RunTablesPart] { parts.filter { $0.isComplete && !$0.isSpilled } }

  private func finish() throws(PageDamage) -> TableSet {
    for (part, next) in zip(parts, parts.dropFirst()) where part.keys.end == next.keys.first {
      guard part.end == next.begin else {
        throw PageDamage("the rows of a run are not numbered in order")
      }
    }
    let failures = try set.allFailures(at: sequence, count: moment.failures)
    let made = tables.map { table in
      Table(
        name: table.name, recordsTouches: recordsTouches,
        rows: Tree(joining: parts.map { $0.trees(of: table.number).rows }, pageSize: TreePages.table),
        problems: Tree(joining: parts.map { $0.trees(of: table.number).problems }, pageSize: Tree().pageSize),
        savedViews: [])
    }
    return TableSet(
      sequence: sequence, time: moment.time, chain: nil, appendCount: moment.appends,
      recordsTouches: recordsTouches, tables: made, failures: failures)
  }
}

extension RunSet {
  /// The listed failures up to an event.
  func failures(at sequence: UInt64) throws(PageDamage) -> [ProjectionFailures.Failure] {
    try Self.failures(of: Array(runs(holding: sequence))).filter { $0.sequence <= sequence }
  }

  /// The state after an event.
  func tables(
    at sequence: UInt64, recordsTouches: Bool, only names: Set<String>? = nil,
    _ limits: RunLimits = RunLimits(), on parallel: Parallel = .none
  ) throws(PageDamage) -> TableSet {
    let building = try RunTables(
      self, at: sequence, recordsTouches: recordsTouches, only: names, limits, on: parallel)
    while true { if let tables = try building.resume(nil) { return tables } }
  }
}
