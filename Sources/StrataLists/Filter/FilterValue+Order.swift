// How a filter compares two values.

internal import StrataDocuments
internal import StrataEvents
internal import StrataTables

extension FilterValue {
  /// Whether two values are equal: null equals null, numbers are compared exactly, and values of different types are
  /// different.
  func equals(_ other: FilterValue, ignoresCase: Bool) -> Bool {
    order(against: other, ignoresCase: ignoresCase) == 0
  }

  /// Negative, zero or positive as this value comes before, equals, or comes after the other; nil if their types
  /// differ.
  func order(against other: FilterValue, ignoresCase: Bool) -> Int? {
    switch (self, other) {
    case (.text(let a), .text(let b)): return FilterText.order(a, b, ignoresCase: ignoresCase)
    case (.integer(let a, let isNegativeA), .integer(let b, let isNegativeB)):
      return ExactNumber.order(a, isNegativeA, b, isNegativeB)
    case (.double(let a), .double(let b)): return ExactNumber.order(a, b)
    case (.integer(let a, let isNegative), .double(let b)): return ExactNumber.order(a, isNegative, b)
    case (.double(let a), .integer(let b, let isNegative)): return -ExactNumber.order(b, isNegative, a)
    case (.bigInteger, .integer), (.bigInteger, .double), (.bigInteger, .bigInteger), (.integer, .bigInteger),
      (.double, .bigInteger):
      return keyOrder(against: other)
    case (.bool(let a), .bool(let b)): return (a ? 1 : 0) - (b ? 1 : 0)
    case (.null, .null): return 0
    case (.bytes(let a), .bytes(let b)): return a.order(b)
    case (.date, _), (.time, _), (_, .date), (_, .time): return dateOrder(against: other, ignoresCase)
    default: return nil
    }
  }

  /// The order of two values that are not null; nil if either is null, or if their types differ.
  @inline(__always)
  func orderUnlessNull(against other: FilterValue, ignoresCase: Bool) -> Int? {
    isNull || other.isNull ? nil : order(against: other, ignoresCase: ignoresCase)
  }

  private func dateOrder(against other: FilterValue, _ ignoresCase: Bool) -> Int? {
    if let a = instant, let b = other.instant {
      return a.seconds != b.seconds
        ? (a.seconds < b.seconds ? -1 : 1)
        : a.attoseconds < b.attoseconds ? -1 : a.attoseconds == b.attoseconds ? 0 : 1
    }
    // A string that is not a date, compared with a date. An own time also has a text to compare.
    return withText { a in
      other.withText { b in FilterText.order(a, b, ignoresCase: ignoresCase) }
    } ?? nil
  }

  /// The instant that this value is, or that its text gives. An integer is that of a `Timestamp` in a document: nanoseconds
  /// since 1970.
  var instant: Instant? {
    switch self {
    case .date(let instant): return instant
    case .time(let time):
      let second: Int64 = 1_000_000_000
      let (quotient, remainder) = time.nanoseconds.quotientAndRemainder(dividingBy: second)
      let isBefore = remainder < 0
      return Instant(
        seconds: isBefore ? quotient - 1 : quotient,
        attoseconds: (isBefore ? remainder + second : remainder) * second)
    case .text(let utf8): return InstantText.instant(utf8)
    case .integer(let magnitude, let isNegative): return Self.instant(nanoseconds: magnitude, isNegative)
    default: return nil
    }
  }

  private static func instant(nanoseconds magnitude: UInt64, _ isNegative: Bool) -> Instant {
    let second: UInt64 = 1_000_000_000
    let (quotient, rest) = magnitude.quotientAndRemainder(dividingBy: second)
    guard isNegative, magnitude > 0 else {
      return Instant(seconds: Int64(quotient), attoseconds: Int64(rest * second))
    }
    let isWhole = rest == 0
    return Instant(
      seconds: -Int64(quotient) - (isWhole ? 0 : 1),
      attoseconds: isWhole ? 0 : Int64((second - rest) * second))
  }

  /// The order of two numbers by their sort keys, which support numbers of any size.
  @inline(never)
  private func keyOrder(against other: FilterValue) -> Int? {
    guard let a = key, let b = other.key else { return nil }
    return a.withUnsafeBytes { a in b.withUnsafeBytes { b in a.order(b) } }
  }

  /// The sort key of a number.
  var key: [UInt8]? {
    var writer = SortKeyWriter()
    switch self {
    case .integer(let magnitude, let isNegative):
      writer.append(isNegative ? -Int128(magnitude) : Int128(magnitude))
    case .double(let value): writer.append(value)
    case .bigInteger(let item):
      do { try writer.append(documentValue: item) } catch { return nil }
    default: return nil
    }
    return writer.bytes
  }
}

/// Numbers of different types, compared by their exact values. NaN equals itself, and comes last.
enum ExactNumber {
  static func order(_ a: Double, _ b: Double) -> Int {
    if a < b { return -1 }
    if a == b { return 0 }
    if a > b { return 1 }
    return (a.isNaN ? 1 : 0) - (b.isNaN ? 1 : 0)
  }

  static func order(_ a: UInt64, _ isNegativeA: Bool, _ b: UInt64, _ isNegativeB: Bool) -> Int {
    if isNegativeA != isNegativeB { return isNegativeA ? -1 : 1 }
    if a == b { return 0 }
    return (a < b) != isNegativeA ? -1 : 1
  }

  /// An integer against a double.
  static func order(_ magnitude: UInt64, _ isNegative: Bool, _ double: Double) -> Int {
    if double.isNaN { return -1 }
    guard double.magnitude < 0x1p64 else { return double < 0 ? 1 : -1 }
    let whole = double.rounded(.towardZero)
    let order = order(magnitude, isNegative, UInt64(whole.magnitude), whole < 0)
    if order != 0 || whole == double { return order }
    return whole < double ? -1 : 1
  }
}
