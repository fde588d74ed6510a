// A view that is built, or catches up, beside the fold of its table.

internal import StrataBase
internal import StrataLog
internal import StrataTables
internal import Synchronization

/// Builds a view of one version of the rows, or opens the saved one, and follows the rows from one version to another.
///
/// It works in slices of its own, and calls the program's code for each row outside of every lock and of every read of a
/// tree: a call that takes long, or never returns, keeps its own thread and nothing else. Belongs to the thread that runs
/// its slice, and between slices to the thread that has the projector's lock; `progress` may be read by any thread.
final class ViewFollower: @unchecked Sendable {
  /// A view is built again rather than follow more differences than this, if they are one row in eight.
  private static let rebuildingMin = 4_096

  let table: String
  let definition: ViewDefinition
  /// `headAtBegin` of the fold that made the rows. A fold that began again after an erasure has other rows.
  let head: UInt64
  let slice = TimeSlice()
  /// Measures each row, which is a step of its own.
  private let meter: ViewMeter
  private let parallel: Parallel
  private var saved: ViewOnDisk?
  /// The state whose rows the view is to be of; nil between two of them.
  private(set) var target: TableSet?
  /// The view, and the rows that it is of; nil until it is built.
  private(set) var view: View?
  private(set) var rows: Tree
  private(set) var nanoseconds: Int64 = 0
  /// How many rows took the view longer than its budget while it followed.
  private(set) var slowCount = 0
  private var differences = RowDifferences()
  private var keys = ViewScratch()
  private let building = Lock<ViewBuilding?>(nil)
  private var hasBuilt = false
  private let followed = Atomic(0)
  private let followedMax = Atomic(0)

  /// A view that is to be made, or opened if it is saved.
  init(
    _ definition: ViewDefinition, of table: String, head: UInt64, saved: ViewOnDisk?, _ options: StoreOptions
  ) {
    (self.definition, self.table, self.head, self.saved) = (definition, table, head, saved)
    (parallel, rows) = (options.machine.parallel, Tree())
    meter = ViewMeter(budget: options.viewBudget)
  }

  /// A view that has left a fold.
  init(_ view: View, of rows: Tree, in table: String, head: UInt64, _ options: StoreOptions) {
    (self.view, self.rows, self.table, self.head) = (view, rows, table, head)
    (definition, parallel, saved) = (view.definition, options.machine.parallel, nil)
    meter = ViewMeter(budget: options.viewBudget)
  }

  /// Whether the view takes too long for single rows. A thread that had to wait for a processor is not the view's fault, so
  /// one row is not enough.
  var isSlow: Bool { slowCount >= 3 }

  /// How many rows are done, of all.
  var progress: (done: Int, of: Int) {
    building.withLock { $0 }?.progress
      ?? (followed.load(ordering: .relaxed), followedMax.load(ordering: .relaxed))
  }

  /// Goes on for one slice. Returns true once the view is of the rows of `target`, which is `newest` if there was none.
  func step(to newest: TableSet) -> Bool {
    let begin = MonotonicTime.now().nanoseconds
    let outer = ViewMeter.exchange(.passUnretained(meter))
    defer {
      nanoseconds += MonotonicTime.now().nanoseconds - begin
      ViewMeter.exchange(outer)
    }
    let set = target ?? newest
    target = set
    let now = set[table].rows
    if view == nil, let saved {
      self.saved = nil
      if let opened = saved.opened(definition) { (view, rows) = opened }
    }
    if view == nil {
      // One thread at a time is here. The lock is for those who ask for the progress, and not held while indexes are searched.
      let building = self.building.withLock { $0 } ?? ViewBuilding(definition, of: set[table], on: parallel)
      self.building.withLock { $0 = building }
      guard let built = building.resume(slice) else { return false }
      (view, rows) = (built, building.rows)
      self.building.withLock { $0 = nil }
      // What came while it was first built is in it before it is shown, as far as it has come by now.
      if !hasBuilt {
        (hasBuilt, target) = (true, nil)
        return false
      }
    }
    return follow(now)
  }

  /// The state with the view, which is then of no target any longer.
  func take() -> TableSet? {
    guard var set = target, let view else { return nil }
    target = nil
    set.withTable(table) { if $0.view(definition.identity) == nil { $0.add(view) } }
    return set
  }

  /// Follows the differences between two versions of the rows for a slice.
  private func follow(_ now: Tree) -> Bool {
    while !rows.isIdentical(to: now) {
      if differences.isDone {
        guard !differences.isLast else {
          rows = now
          differences = RowDifferences()
          break
        }
        differences.read(from: rows, to: now)
        followedMax.store(now.count, ordering: .relaxed)
        if differences.count >= Self.rebuildingMin, differences.areMany(of: now.count) {
          (view, differences) = (nil, RowDifferences())
          return false
        }
        continue
      }
      let rank = differences.next(rows, now) { id, old, new in
        var spending = ViewMeter.Spending()
        meter.beginStep()
        meter.beginRow()
        meter.enter(definition)
        keys.change(&view!, id: id, from: old, to: new)
        if meter.leave(&spending) { slowCount += 1 }
      }
      followed.store(min(rank, now.count), ordering: .relaxed)
      if slice.isOver { return false }
    }
    return true
  }
}
