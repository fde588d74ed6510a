// A moment in nanoseconds, as the log records it.

internal import StrataDocuments

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A moment: nanoseconds since 1970-01-01T00:00:00Z, from 1677-09-21 to 2262-04-11.
public struct Timestamp: Hashable, Comparable, Sendable {
  public var nanoseconds: Int64

  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static func < (a: Timestamp, b: Timestamp) -> Bool { a.nanoseconds < b.nanoseconds }

  /// Creates the moment of a date, as precisely as its `Double` represents it; nil outside the range.
  public init?(_ date: Date) {
    let seconds = date.timeIntervalSince1970.rounded(.down)
    let rest = ((date.timeIntervalSince1970 - seconds) * 1e9).rounded()
    guard seconds > -9_223_372_036, seconds < 9_223_372_036 else { return nil }
    nanoseconds = Int64(seconds) * 1_000_000_000 + Int64(rest)
  }

  /// The same moment as a `Date`, rounded to the precision of a `Double` (about 100 ns).
  public var date: Date { Date(timeIntervalSince1970: Double(nanoseconds) / 1e9) }
}

/// Encoded as its nanoseconds, an integer, which sorts and filters as the moment does. A reader of JSON that keeps numbers
/// as `Double` rounds it to some 250 ns.
extension Timestamp: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(nanoseconds: try decoder.singleValueContainer().decode(Int64.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(nanoseconds)
  }
}

extension Timestamp: CustomStringConvertible {
  /// UTC, nine digits, `Z`: `2026-11-20T18:17:16.000000000Z`.
  public var description: String {
    let second = Int64(1_000_000_000)
    var seconds = nanoseconds / second
    var rest = nanoseconds % second
    if rest < 0 {
      seconds -= 1
      rest += second
    }
    return RFC3339.text(Instant(seconds: seconds, attoseconds: rest * second)) ?? "\(nanoseconds) ns"
  }

  /// Parses a moment in the form of RFC 3339, with an offset or `Z`. Digits after the ninth are dropped. A leap second,
  /// `23:59:60` in UTC, is the last nanosecond before the next second. Nil for anything else and outside the range.
  public init?(_ text: String) {
    guard let instant = RFC3339.instant(text) else { return nil }
    self.init(instant)
  }

  /// Parses a moment from the UTF-8 of its text.
  package init?(utf8 text: UnsafeRawBufferPointer) {
    guard let instant = RFC3339.instant(text.assumingMemoryBound(to: UInt8.self)) else { return nil }
    self.init(instant)
  }

  /// The moment on a clock; nil outside the range.
  private init?(_ instant: Instant) {
    let instant = instant.onClock
    // In 128 bits, because the first second of the range begins before it.
    let sum = Int128(instant.seconds) * 1_000_000_000 + Int128(instant.attoseconds / 1_000_000_000)
    guard let nanoseconds = Int64(exactly: sum), nanoseconds != .min else { return nil }
    self.nanoseconds = nanoseconds
  }
}
