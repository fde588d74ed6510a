// Numbers and truth values.

extension Gen where Value: FixedWidthInteger & Sendable {
  /// Numbers of a range, by default of all that the type has.
  ///
  /// The ends of the range, and numbers next to each other or equal, are more frequent than chance would have them.
  /// They shrink to `target`, or else to what is nearest to 0.
  public static func integer(
    in range: ClosedRange<Value> = Value.min...Value.max, towards target: Value? = nil
  ) -> Gen {
    Gen { (choices) throws(Rejection) in try choices.integer(in: range, towards: target) }
  }
}

extension Gen where Value == Int {
  /// Numbers of a range, by default all. See ``integer(in:towards:)``.
  public static func int(in range: ClosedRange<Int> = Int.min...Int.max) -> Gen { .integer(in: range) }
}

extension Gen where Value == Bool {
  /// False and true. False is simpler.
  public static var bool: Gen { Gen { (choices) throws(Rejection) in try choices.index(below: 2) == 1 } }
}

extension Gen where Value == Double {
  /// Any number: small ones, huge ones, fractions that binary cannot say, both zeros, infinite ones and NaN.
  ///
  /// They shrink to integers, and to few digits.
  public static var double: Gen { Gen { (choices) throws(Rejection) in try choices.double() } }

  /// Finite numbers of a range. Numbers outside of it are moved into it.
  /// - Precondition: both ends are finite.
  public static func double(in range: ClosedRange<Double>) -> Gen {
    let (lower, upper) = (range.lowerBound, range.upperBound)
    precondition(lower.isFinite && upper.isFinite, "a range of numbers without an end")
    return Gen { (choices) throws(Rejection) in
      let value = try choices.double()
      if range.contains(value) { return value }
      guard value.isFinite else { return value < lower ? lower : upper }
      // The fraction of an arbitrary number is as arbitrary; halves are summed so that no width is too large.
      let part = value.magnitude.truncatingRemainder(dividingBy: 1_024) / 1_024
      return min(max(lower * (1 - part) + upper * part, lower), upper)
    }
  }
}
