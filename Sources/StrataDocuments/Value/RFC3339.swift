// Instants as text in the form of RFC 3339: `2026-11-20T21:15:03.120000000Z`.

/// A point in time in whole seconds and attoseconds, so that every double near today's date can be represented.
package struct Instant: Hashable, Sendable {
  /// Whole seconds since 1970-01-01T00:00:00Z, rounded down; leap seconds are not counted.
  package var seconds: Int64
  /// The fraction of a second, in units of 10⁻¹⁸ s: 0 ..< 10¹⁸. An instant in a leap second is one in the second before,
  /// 23:59:59, with 10¹⁸ more: so it is after that second, and before the next.
  package var attoseconds: Int64

  package init(seconds: Int64, attoseconds: Int64) {
    self.seconds = seconds
    self.attoseconds = attoseconds
  }

  /// Whether a second since 1970 is the last of a day in UTC, the only one that a leap second can follow.
  package static func endsDay(_ seconds: Int64) -> Bool { (seconds % 86_400 + 86_400) % 86_400 == 86_399 }

  /// The same instant, or for one in a leap second, which a clock does not count, the last nanosecond before the next
  /// second.
  package var onClock: Instant {
    attoseconds < RFC3339.attosecondsPerSecond
      ? self
      : Instant(
        seconds: seconds, attoseconds: RFC3339.attosecondsPerSecond - RFC3339.attosecondsPerNanosecond)
  }
}

/// The date and time format of RFC 3339, section 5.6.
package enum RFC3339 {
  /// The seconds since 1970 that the format can represent: the years 0000 to 9999.
  package static let secondsRange: Range<Int64> = -62_167_219_200..<253_402_300_800

  static let attosecondsPerNanosecond: Int64 = 1_000_000_000
  package static let attosecondsPerSecond: Int64 = 1_000_000_000_000_000_000

  /// Returns the instant as text in UTC, with nine fraction digits, or with eighteen if nine are not exact. Nil for
  /// years outside 0000…9999.
  package static func text(_ instant: Instant) -> String? {
    withText(instant) { String(decoding: $0, as: UTF8.self) }
  }

  /// Parses an instant from text with any number of fraction digits (those after the eighteenth are ignored), and with
  /// `Z` or an offset. The second 60 is a leap second, and only after 23:59:59 in UTC. Nil for anything else.
  package static func instant(_ text: String) -> Instant? { text.withUTF8Bytes { instant($0) } }

  /// Calls `body` with the text, which is valid only during the call.
  static func withText<Result>(_ instant: Instant, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result?
  {
    guard secondsRange.contains(instant.seconds) else { return nil }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 48) { buffer in
      let base = buffer.baseAddress.unsafelyUnwrapped
      let (day, second) = instant.seconds.quotientAndRemainderRoundedDown(by: 86_400)
      let date = CivilDate(daysSince1970: Int(day))
      put(date.year, 4, at: base)
      base[4] = UInt8(ascii: "-")
      put(date.month, 2, at: base + 5)
      base[7] = UInt8(ascii: "-")
      put(date.day, 2, at: base + 8)
      base[10] = UInt8(ascii: "T")
      put(Int(second) / 3600, 2, at: base + 11)
      base[13] = UInt8(ascii: ":")
      put(Int(second) / 60 % 60, 2, at: base + 14)
      base[16] = UInt8(ascii: ":")
      let isLeap = instant.attoseconds >= attosecondsPerSecond
      put(isLeap ? 60 : Int(second) % 60, 2, at: base + 17)
      base[19] = UInt8(ascii: ".")
      let fraction = isLeap ? instant.attoseconds - attosecondsPerSecond : instant.attoseconds
      let (nanoseconds, rest) = fraction.quotientAndRemainder(dividingBy: attosecondsPerNanosecond)
      put(Int(nanoseconds), 9, at: base + 20)
      if rest != 0 { put(Int(rest), 9, at: base + 29) }
      let count = rest == 0 ? 29 : 38
      base[count] = UInt8(ascii: "Z")
      return body(UnsafeBufferPointer(start: base, count: count + 1))
    }
  }

  @inline(__always)
  private static func put(_ value: Int, _ digitCount: Int, at target: UnsafeMutablePointer<UInt8>) {
    var rest = UInt32(truncatingIfNeeded: value)
    var index = digitCount
    while index > 0 {
      index &-= 1
      target[index] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }

  /// Parses an instant from the UTF-8 bytes of a text.
  package static func instant(_ text: UnsafeBufferPointer<UInt8>) -> Instant? {
    parse(text) { $0 }
  }

  /// The same for a text whose offset says nothing.
  ///
  /// - Parameter moment: converts the date and time without its offset, in seconds since 1970 as if it were in UTC, to the
  ///   seconds since 1970 at which clocks show it.
  package static func instant(
    _ text: UnsafeBufferPointer<UInt8>, moment: (_ wallClock: Int64) -> Int64
  ) -> Instant? {
    parse(text, moment)
  }

  @inline(__always)
  private static func parse(
    _ text: UnsafeBufferPointer<UInt8>, _ moment: (Int64) -> Int64
  ) -> Instant? {
    guard text.count >= 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
      text[10] | 0x20 == UInt8(ascii: "t") || text[10] == UInt8(ascii: " "), text[13] == UInt8(ascii: ":"),
      text[16] == UInt8(ascii: ":"),
      let year = digits(text, 0, 4), let month = digits(text, 5, 2), let day = digits(text, 8, 2),
      let hour = digits(text, 11, 2), let minute = digits(text, 14, 2), let second = digits(text, 17, 2),
      hour < 24, minute < 60, second <= 60,
      let days = CivilDate(year: year, month: month, day: day).daysSince1970
    else { return nil }
    var index = 19
    var attoseconds: Int64 = 0
    if text[index] == UInt8(ascii: ".") {
      index += 1
      let first = index
      while index < text.count, text[index] &- UInt8(ascii: "0") <= 9 {
        if index - first < 18 { attoseconds = attoseconds * 10 + Int64(text[index] &- UInt8(ascii: "0")) }
        index += 1
      }
      guard index > first else { return nil }
      for _ in 0..<max(0, 18 - (index - first)) { attoseconds *= 10 }
    }
    guard let offset = zoneOffset(text, at: index) else { return nil }
    // An `Int` of 32 bits ends in the year 2038.
    let time = Int64(hour * 3600 + minute * 60 + min(second, 59) - offset)
    let seconds = moment(Int64(days) * 86_400 + time)
    if second < 60 { return Instant(seconds: seconds, attoseconds: attoseconds) }
    guard Instant.endsDay(seconds) else { return nil }
    return Instant(seconds: seconds, attoseconds: attosecondsPerSecond + attoseconds)
  }

  /// The seconds that the time zone is ahead of UTC; nil unless the rest of the text is `Z` or `±hh:mm`.
  private static func zoneOffset(_ text: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
    guard index < text.count else { return nil }
    if text.count == index + 1 { return text[index] | 0x20 == UInt8(ascii: "z") ? 0 : nil }
    guard text.count == index + 6, text[index + 3] == UInt8(ascii: ":"),
      text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-"),
      let hours = digits(text, index + 1, 2), let minutes = digits(text, index + 4, 2), hours < 24,
      minutes < 60
    else { return nil }
    let offset = hours * 3600 + minutes * 60
    return text[index] == UInt8(ascii: "-") ? -offset : offset
  }

  @inline(__always)
  private static func digits(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> Int? {
    var value = 0
    for index in start..<start + count {
      let digit = text[index] &- UInt8(ascii: "0")
      if digit > 9 { return nil }
      value = value &* 10 &+ Int(digit)
    }
    return value
  }
}

/// A day of the proleptic Gregorian calendar, with conversions from and to days since 1970-01-01 that need no loops
/// (H. Hinnant, chrono-compatible low-level date algorithms).
struct CivilDate {
  var year: Int
  var month: Int
  var day: Int

  init(year: Int, month: Int, day: Int) {
    self.year = year
    self.month = month
    self.day = day
  }

  init(daysSince1970: Int) {
    let shifted = daysSince1970 + 719_468  // from 0000-03-01, so that a leap day is a year's last
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  /// The number of days since 1970-01-01; nil if the month has no such day.
  var daysSince1970: Int? {
    guard (1...12).contains(month), day >= 1, day <= Self.dayCount(year: year, month: month) else {
      return nil
    }
    let shiftedYear = month <= 2 ? year - 1 : year
    let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
    let yearOfEra = shiftedYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func dayCount(year: Int, month: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

extension Int64 {
  @inline(__always)
  fileprivate func quotientAndRemainderRoundedDown(by divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
