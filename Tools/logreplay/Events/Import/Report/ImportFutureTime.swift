// Times that are later than the clock by more than a day: which they are, and how they are named.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents

/// Names the times of an import that are ahead of the clock, each before it is taken.
///
/// Such a time is taken as it is: it may be right, as in a plan, or the mistake of one clock. What comes after it is not
/// held against it, and a point by time passes it.
struct ImportFutureTime {
  /// How much later than the clock a time may be without being named: clocks differ, and some have the wrong zone.
  static let leadMax: Int64 = 86_400 * 1_000_000_000
  /// The number of times that are named one by one; further ones are only counted.
  static let namedMax: UInt64 = 20

  /// The clock when the import began.
  let now: Int64
  /// How many times were ahead of it.
  private(set) var count: UInt64 = 0

  init(now: Int64) { self.now = now }

  /// Whether a time is later than the clock by more than a day.
  func isAhead(_ time: Int64) -> Bool {
    let (limit, overflowed) = now.addingReportingOverflow(Self.leadMax)
    return !overflowed && time > limit
  }

  /// Counts a time that is ahead, and returns the text that names it; nil if it is not ahead, or one of too many.
  ///
  /// - Parameter place: what has the time: a file and its line, a commit.
  mutating func naming(_ time: Int64, of place: String) -> String? {
    guard isAhead(time) else { return nil }
    count += 1
    guard count <= Self.namedMax else {
      return count > Self.namedMax + 1
        ? nil : "logreplay: further times that are ahead of the clock are only counted"
    }
    return
      "logreplay: the time of \(PeopleText.printable(place)), \(Timestamp(nanoseconds: time)), is more than a day "
      + "later than the clock, \(Timestamp(nanoseconds: now)); it is taken as it is"
  }
}
