// Times of events as text, of which most have the date of the one before.

internal import StrataBase
internal import StrataDocuments

/// Writes times in UTC with nine digits after the point, as `2026-11-20T18:17:16.000000000Z`.
struct EventTimeText {
  /// The days since 1970 of `date`, and its text up to the T. The first second of the range is in another day than any.
  private var day = Int64.max
  private var date: [UInt8] = []

  private static let second: Int64 = 1_000_000_000
  private static let secondsOfDay: Int64 = 86_400

  mutating func append(_ nanoseconds: Int64, to text: inout RawBuffer) {
    let (seconds, rest) = Self.divided(nanoseconds, by: Self.second)
    let (day, time) = Self.divided(seconds, by: Self.secondsOfDay)
    if day != self.day {
      self.day = day
      date = Array(Timestamp(nanoseconds: nanoseconds).description.utf8.prefix(11))
    }
    date.withUnsafeBytes { text.append($0) }
    let target = text.reserve(19)
    Self.put(UInt64(time / 3600), digits: 2, target, at: 0)
    target.storeBytes(of: UInt8(ascii: ":"), toByteOffset: 2, as: UInt8.self)
    Self.put(UInt64(time / 60 % 60), digits: 2, target, at: 3)
    target.storeBytes(of: UInt8(ascii: ":"), toByteOffset: 5, as: UInt8.self)
    Self.put(UInt64(time % 60), digits: 2, target, at: 6)
    target.storeBytes(of: UInt8(ascii: "."), toByteOffset: 8, as: UInt8.self)
    Self.put(UInt64(rest), digits: 9, target, at: 9)
    target.storeBytes(of: UInt8(ascii: "Z"), toByteOffset: 18, as: UInt8.self)
    text.count += 19
  }

  /// The quotient rounded down, and what is left, which is not negative.
  private static func divided(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? (quotient - 1, rest + divisor) : (quotient, rest)
  }

  private static func put(_ value: UInt64, digits: Int, _ target: UnsafeMutableRawPointer, at offset: Int) {
    var rest = value
    for digit in stride(from: digits - 1, through: 0, by: -1) {
      target.storeBytes(
        of: UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10), toByteOffset: offset + digit,
        as: UInt8.self)
      rest /= 10
    }
  }
}
