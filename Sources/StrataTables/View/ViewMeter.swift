// How long the views of a fold take, and where the fold is in one of them.

internal import CStrata
internal import StrataBase
internal import Synchronization

/// Measures the part that each view has in a step of a fold, so that one that takes too long can leave it.
///
/// The time of a row is measured for the first rows of a step, and for one in sixteen after that: reading the clock for
/// each would cost more than a hundredth of a fold. A call of the program's code that does not return is not measured at
/// all, so the meter also says, for a thread that watches it, whether the fold is inside of a view and since when. While
/// a page is read from a disk, the fold is outside of every view, and no view is at fault: see `outside`.
///
/// Belongs to the thread that folds, except for `now`.
package final class ViewMeter: @unchecked Sendable {
  /// The part of a view in a step, as far as it was measured.
  package struct Spending: Sendable {
    var step: UInt32 = 0
    var nanoseconds: Int64 = 0

    package init(step: UInt32 = 0, nanoseconds: Int64 = 0) {
      self.step = step
      self.nanoseconds = nanoseconds
    }
  }

  private static let measuredFirst: UInt32 = 16
  private static let measuredOneIn: UInt32 = 16

  private let budget: Int64
  /// The budget of this step for views that call the program's code, and for the others.
  @exclusivity(unchecked) private var limits = (program: Int64.max, others: Int64.max)
  /// The one of them for the view that the fold is in.
  @exclusivity(unchecked) private var limit = Int64.max
  @exclusivity(unchecked) private var step: UInt32 = 0
  @exclusivity(unchecked) private var rowCount: UInt32 = 0
  /// When the change of a row began for the view that it is in; nil if it is not measured.
  @exclusivity(unchecked) private var begin: Int64?
  /// Odd while the fold is inside of a view.
  private let turns = Atomic<UInt64>(0)
  /// The address of the definition of that view.
  private let address = Atomic<UInt>(0)
  @exclusivity(unchecked) private var hasLeft = false

  package init(budget: Duration) {
    self.budget = Self.nanoseconds(budget)
  }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    MonotonicTime(nanoseconds: 0).advanced(by: duration).nanoseconds
  }

  /// Begins a step.
  ///
  /// - Parameter limit: what a view that calls the program's code may take, instead of the budget; the others then may
  ///   take any time.
  package func beginStep(limit: Duration? = nil) {
    limits = limit.map { (Self.nanoseconds($0), .max) } ?? (budget, budget)
    step &+= 1
    rowCount = 0
  }

  /// Notes that the views are about to follow the change of a row.
  package func beginRow() { rowCount &+= 1 }

  /// Notes that a view follows the change from here on.
  package func enter(_ definition: ViewDefinition) {
    let isMeasured = rowCount <= Self.measuredFirst || rowCount % Self.measuredOneIn == 0
    begin = isMeasured ? MonotonicTime.now().nanoseconds : nil
    limit = definition.callsProgram ? limits.program : limits.others
    address.store(
      UInt(bitPattern: Unmanaged.passUnretained(definition).toOpaque()), ordering: .relaxed)
    turn()
  }

  private func turn() { turns.store(turns.load(ordering: .relaxed) &+ 1, ordering: .releasing) }

  /// Notes that the view has followed. Returns true if it takes more of the step than it may.
  package func leave(_ spending: inout Spending) -> Bool {
    turn()
    guard let begin else { return false }
    if spending.step != step { spending = Spending(step: step) }
    let rows: Int64 = rowCount <= Self.measuredFirst ? 1 : Int64(Self.measuredOneIn)
    spending.nanoseconds += (MonotonicTime.now().nanoseconds - begin) * rows
    return spending.nanoseconds >= limit
  }

  /// Notes what measures this thread, which somebody has to hold; nil for nothing. Returns what did so before.
  @discardableResult
  package static func exchange(_ meter: Unmanaged<ViewMeter>?) -> Unmanaged<ViewMeter>? {
    strata_exchange_meter(meter?.toOpaque()).map { Unmanaged.fromOpaque($0) }
  }

  /// Runs a body that waits for a disk. A view that the thread is inside of is not measured meanwhile.
  package static func outside<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    guard let current = exchange(nil) else { return try body() }
    defer { exchange(current) }
    let meter = current.takeUnretainedValue()
    guard meter.now != nil else { return try body() }
    meter.turn()
    let start = MonotonicTime.now().nanoseconds
    defer {
      meter.begin? += MonotonicTime.now().nanoseconds - start
      meter.turn()
    }
    return try body()
  }

  /// Notes that a view has left the fold.
  func noteLeft() { hasLeft = true }

  /// Whether a view has left since this was last called.
  package func takeHasLeft() -> Bool {
    defer { hasLeft = false }
    return hasLeft
  }

  /// What another thread sees of the fold: a number that is another one after each change of a view, and the view that
  /// the fold is inside of.
  package struct Moment: Equatable {
    var turn: UInt64
    fileprivate var address: UInt

    /// Whether the fold is inside of the view with a definition.
    package func isInside(_ definition: ViewDefinition) -> Bool {
      address == UInt(bitPattern: Unmanaged.passUnretained(definition).toOpaque())
    }
  }

  /// Where the fold is inside of a view; nil if it is not.
  package var now: Moment? {
    let turn = turns.load(ordering: .acquiring)
    guard turn % 2 == 1 else { return nil }
    return Moment(turn: turn, address: address.load(ordering: .relaxed))
  }
}
