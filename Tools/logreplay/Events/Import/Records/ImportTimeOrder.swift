// What becomes of the time of each line: kept, raised, or refused because it goes back.

/// Compares the times of lines, in the order in which they are appended, with those before them.
///
/// A time goes back if it is earlier than the latest one before it: of this import, or of what the store had before. One
/// clock that was ahead must not make all lines after it wrong: a time that is ahead of the clock (`ImportFutureTime`) is
/// compared with all times before it, and any other one only with those that are not ahead.
struct ImportTimeOrder {
  /// A time that others are compared with, and the line that has it; nil for the store's.
  struct Mark: Equatable {
    var time: Int64
    var line: UInt64?
  }

  enum Decision: Equatable {
    /// The append has the time as its own, also where it goes back by no more than the slack.
    case kept
    /// The append has this time instead, the latest one before it, and counts from there on.
    case raised(to: Int64)
    /// The line is refused: its time is earlier than this one.
    case goesBack(than: Mark)
  }

  /// By how many nanoseconds a time may go back and be kept.
  var slack: Int64 = 0
  /// Whether times that go back further are raised to the latest one before them.
  var clamps = false
  /// The latest time of all, and the latest of those that are not ahead of the clock.
  private var latest: Mark?
  private var latestNotAhead: Mark?

  /// - Parameters:
  ///   - latest: the latest time that the store has; nil if it has none.
  ///   - latestNotAhead: the latest of those that are not ahead of the clock.
  init(slack: Int64 = 0, clamps: Bool = false, latest: Int64?, latestNotAhead: Int64?) {
    self.slack = slack
    self.clamps = clamps
    self.latest = latest.map { Mark(time: $0, line: nil) }
    self.latestNotAhead = latestNotAhead.map { Mark(time: $0, line: nil) }
  }

  /// Decides about the time of the next line.
  ///
  /// - Parameters:
  ///   - isAhead: whether the time is ahead of the clock.
  ///   - isLate: whether the line is put after newer ones of its source. It is then raised, whatever the options say, so
  ///     that it counts where it is put.
  mutating func place(_ time: Int64, line: UInt64, isAhead: Bool, isLate: Bool = false) -> Decision {
    guard let bar = isAhead ? latest : latestNotAhead, time < bar.time else {
      pass(Mark(time: time, line: line), isAhead: isAhead)
      return .kept
    }
    if isLate { return .raised(to: bar.time) }
    if isWithinSlack(time, bar) { return .kept }
    return clamps ? .raised(to: bar.time) : .goesBack(than: bar)
  }

  private func isWithinSlack(_ time: Int64, _ bar: Mark) -> Bool {
    let (distance, overflowed) = bar.time.subtractingReportingOverflow(time)
    return !overflowed && distance <= slack
  }

  private mutating func pass(_ mark: Mark, isAhead: Bool) {
    // A time that is not ahead of the clock may be earlier than one that is.
    if mark.time >= latest?.time ?? .min { latest = mark }
    if !isAhead { latestNotAhead = mark }
  }
}
