// The steps of a time axis: hours, days, weeks and months as the clocks of a zone show them.

/// How long a step of a time axis is. Steps begin when clocks show it: an hour at its minute 0, a day at midnight, a week
/// on Monday, a month on its first day.
public enum CalendarStep: String, CaseIterable, Hashable, Sendable {
  case hour = "1h"
  case day = "1d"
  case week = "1w"
  case month = "1mo"
}

/// The steps of a zone, from its offset from UTC at each moment alone. Moments are seconds since 1970.
///
/// A day on which clocks are changed has 23 or 25 hours. If clocks skip the moment at which a step would begin, it begins
/// when they jump over it; if they show it twice, it begins the first time. Between two days, a zone changes its offset
/// at most once.
package struct CalendarSteps: Sendable {
  package let step: CalendarStep
  /// How many seconds the zone is ahead of UTC at a moment.
  private let offset: @Sendable (Int64) -> Int

  private static let (hour, day): (Int64, Int64) = (3600, 86_400)

  package init(_ step: CalendarStep, offset: @escaping @Sendable (Int64) -> Int) {
    (self.step, self.offset) = (step, offset)
  }

  /// The moments at which steps begin: of the step that holds the first moment, of all up to the one that holds the last,
  /// and of the one after that. Nil if there are more than `countMax` steps.
  package func begins(from first: Int64, through last: Int64, countMax: Int) -> [Int64]? {
    assert(first <= last)
    var begins = [begin(holding: first)]
    repeat {
      guard begins.count <= countMax, let begin = begins.last else { return nil }
      begins.append(end(of: begin))
    } while begins[begins.count - 1] <= last
    return begins
  }

  /// The begin of the step that holds a moment.
  package func begin(holding moment: Int64) -> Int64 {
    if step == .hour { return hourBegin(holding: moment) }
    var wall = floor(moment + Int64(offset(moment)))
    var begin = self.moment(reaching: wall)
    // Where clocks are set back over midnight, a moment may show the day before the one that has begun.
    while begin > moment {
      wall = floor(wall - 1)
      begin = self.moment(reaching: wall)
    }
    while case let next = ceiling(after: wall), self.moment(reaching: next) <= moment {
      wall = next
      begin = self.moment(reaching: wall)
    }
    return begin
  }

  /// The begin of the step after the one that begins at a moment.
  package func end(of begin: Int64) -> Int64 {
    if step == .hour { return hourEnd(of: begin) }
    var wall = ceiling(after: begin + Int64(offset(begin)))
    // A day that clocks skip as a whole begins and ends at one moment.
    while moment(reaching: wall) <= begin { wall = ceiling(after: wall) }
    return moment(reaching: wall)
  }

  // MARK: Clocks

  /// The first moment at which clocks show a date and time, given as if it were UTC, or a later one.
  private func moment(reaching wall: Int64) -> Int64 {
    let (before, after) = (wall - Self.day, wall + Self.day)
    let offsets = (old: Int64(offset(before)), new: Int64(offset(after)))
    guard offsets.old != offsets.new else { return wall - offsets.old }
    let change = change(after: before, through: after)
    if wall - offsets.old < change { return wall - offsets.old }
    return max(change, wall - offsets.new)
  }

  /// The first moment with another offset than the one before, if there is one change in between.
  private func change(after first: Int64, through last: Int64) -> Int64 {
    let old = offset(first)
    var (still, new) = (first, last)
    while new - still > 1 {
      let middle = still + (new - still) / 2
      if offset(middle) == old { still = middle } else { new = middle }
    }
    return new
  }

  private func hourBegin(holding moment: Int64) -> Int64 {
    let offset = self.offset(moment)
    let begin = (moment + Int64(offset)).floored(to: Self.hour) - Int64(offset)
    guard self.offset(begin) != offset else { return begin }
    let change = change(after: begin, through: moment)
    return change == begin ? begin : hourBegin(holding: change - 1)
  }

  private func hourEnd(of begin: Int64) -> Int64 {
    let old = Int64(offset(begin))
    let end = (begin + old).floored(to: Self.hour) + Self.hour - old
    let new = Int64(offset(end))
    guard old != new else { return end }
    let change = change(after: begin, through: end)
    // The first full hour that the clocks show from the change on.
    let shown = change + new
    return shown + (Self.hour - shown.floorRemainder(Self.hour)) % Self.hour - new
  }

  // MARK: Dates

  /// The begin of the step that holds a date and time.
  private func floor(_ wall: Int64) -> Int64 {
    let day = wall.floored(to: Self.day)
    switch step {
    case .hour, .day: return day
    // 1970 began on a Thursday.
    case .week: return (day + 3 * Self.day).floored(to: 7 * Self.day) - 3 * Self.day
    case .month:
      return Self.monthBegin(Self.month(of: day / Self.day)) * Self.day
    }
  }

  /// The begin of the step after the one that holds a date and time.
  private func ceiling(after wall: Int64) -> Int64 {
    switch step {
    case .hour, .day: wall.floored(to: Self.day) + Self.day
    case .week: floor(wall) + 7 * Self.day
    case .month: Self.monthBegin(Self.month(of: wall.floored(to: Self.day) / Self.day) + 1) * Self.day
    }
  }

  /// The months since March of year 0 for a day since 1970, in the Gregorian calendar.
  ///
  /// The algorithm is `civil_from_days` of Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms".
  private static func month(of day: Int64) -> Int64 {
    let shifted = day + 719_468
    let era = shifted.floored(to: 146_097) / 146_097
    let ofEra = shifted - era * 146_097
    let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365
    let ofYear = ofEra - (365 * year + year / 4 - year / 100)
    return (era * 400 + year) * 12 + (5 * ofYear + 2) / 153
  }

  /// The first day of such a month.
  private static func monthBegin(_ month: Int64) -> Int64 {
    let year = month.floored(to: 12) / 12
    let era = year.floored(to: 400) / 400
    let ofEra = year - era * 400
    let ofYear = (153 * (month - year * 12) + 2) / 5
    return era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
  }
}

extension Int64 {
  fileprivate func floorRemainder(_ length: Int64) -> Int64 {
    let rest = self % length
    return rest < 0 ? rest + length : rest
  }

  fileprivate func floored(to length: Int64) -> Int64 { self - floorRemainder(length) }
}
