// `bisect --run`: the search by halves, without what it searches in.

/// What was found out about one of the numbers.
enum BisectVerdict: Sendable {
  case good, bad
  /// Nothing can be found out about it.
  case skipped
}

/// Finds the first bad one of some numbers, of which the first is known to be good and the last to be bad.
///
/// The numbers are said to be good up to some place and bad from there on. If they are not, the result is a bad number
/// after a good one, as far as neither was skipped.
struct HalvingSearch: Sendable {
  /// The greatest number that is known to be good, and the least above it that is known to be bad.
  private(set) var good: UInt64
  private(set) var bad: UInt64
  private var skipped: Set<UInt64> = []

  init(good: UInt64, bad: UInt64) {
    assert(good < bad, "the good number is before the bad one")
    (self.good, self.bad) = (good, bad)
  }

  /// The number to look at next, as near to the middle as there is one that was not skipped. Nil if all between the two
  /// were: then the first bad number is `bad`, or one of these. O(skipped numbers).
  var next: UInt64? {
    let between = good + 1..<bad
    let middle = good + (bad - good) / 2
    for distance in 0..<max(1, bad - good) {
      for number in [middle &- distance, middle &+ distance]
      where between.contains(number) && !skipped.contains(number) { return number }
    }
    return nil
  }

  /// Notes what was found out about `next`.
  mutating func note(_ verdict: BisectVerdict, of number: UInt64) {
    assert(number > good && number < bad, "it is not known yet")
    switch verdict {
    case .good: good = number
    case .bad: bad = number
    case .skipped: skipped.insert(number)
    }
  }
}
