// Times as users type them: `2026-11-20 18:17:16`, `yesterday`, `2h30m ago`, `-2h`, `@1732130000`, RFC 3339.

internal import StrataDocuments
package import StrataEvents

/// Parses times relative to one "now" and in one zone, so that all times of a command agree.
package struct TimeText: Sendable {
  /// Nanoseconds since 1970.
  package var now: Int64
  package var zone: Zone
  /// Called with a note where a change of the clocks makes a time without an offset unclear: which moment it is read as.
  private let noting: @Sendable (String) -> Void

  package init(now: Int64, zone: Zone, noting: @escaping @Sendable (String) -> Void = { _ in }) {
    self.now = now
    self.zone = zone
    self.noting = noting
  }

  private static let second: Int64 = 1_000_000_000

  /// The time that a text names, in nanoseconds since 1970, or nil if the text is not a time. A time outside the range
  /// of an `Int64`, before 1677 or after 2262, is clamped to that range. A leap second is the last nanosecond before the
  /// next second.
  package func nanoseconds(_ text: String) -> Int64? {
    let text = text.trimmingSpaces()
    if let relative = relative(text) { return relative }
    guard let instant = absolute(text) else { return nil }
    let onClock = instant.onClock
    return Self.nanoseconds(onClock.seconds, onClock.attoseconds / Self.second)
  }

  /// The same time as an `Instant`, which for a date can be in any year that RFC 3339 allows.
  package func instant(_ text: String) -> Instant? {
    let text = text.trimmingSpaces()
    guard let time = relative(text) else { return absolute(text) }
    let seconds = time.seconds
    return Instant(seconds: seconds, attoseconds: (time &- seconds &* Self.second) * Self.second)
  }

  /// Whether a text names a time that depends on when it is read: `now`, `yesterday`, `2h ago`, `-2h`.
  package func isRelative(_ text: String) -> Bool {
    let text = text.trimmingSpaces()
    return !text.hasPrefix("@") && relative(text) != nil
  }

  /// A date, or a date and a time, with an offset or in the zone.
  private func absolute(_ text: String) -> Instant? {
    InstantText.named(text) { wall in
      let moment = zone.moment(ofWallClock: wall)
      if let note = moment.note(on: text) { noting(note) }
      return moment.seconds
    }
  }

  /// A time relative to now, to midnight or to 1970; nil for any other text.
  private func relative(_ text: String) -> Int64? {
    switch text {
    case "now": return now
    case "today": return midnight(daysBack: 0)
    case "yesterday": return midnight(daysBack: 1)
    default: break
    }
    if text.hasPrefix("@") { return unixTime(text.dropFirst()) }
    for suffix in [" ago", ".ago"] where text.hasSuffix(suffix) {
      return Self.length(text.dropLast(suffix.count)).map { Int64(clamping: Int128(now) - $0) }
    }
    guard let sign = text.first, sign == "-" || sign == "+", let length = Self.length(text.dropFirst()) else {
      return nil
    }
    return Int64(clamping: Int128(now) + (sign == "-" ? -length : length))
  }

  /// Midnight in the zone, that many days before today's.
  private func midnight(daysBack: Int64) -> Int64 {
    let seconds = now.seconds
    let wall = seconds + Int64(zone.offset(at: seconds))
    let day = wall.flooredDay - daysBack * 86_400
    return Self.nanoseconds(zone.moment(ofWallClock: day).seconds, 0)
  }

  /// `SECONDS` or `SECONDS.FRACTION`.
  private func unixTime(_ text: Substring) -> Int64? {
    let isNegative = text.first == "-"
    let parts = text.dropFirst(isNegative ? 1 : 0).split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, first.isDigits else { return nil }
    // The text is all digits, so that parsing fails only if the number is too large.
    let seconds = Int64(first) ?? .max
    let fraction: Int64
    if parts.count == 2 {
      guard let value = Self.fraction(parts[1]) else { return nil }
      fraction = value
    } else {
      fraction = 0
    }
    return isNegative ? Self.nanoseconds(-seconds, -fraction) : Self.nanoseconds(seconds, fraction)
  }

  /// Seconds and a fraction as nanoseconds. Computed in 128 bits, because the first representable second begins before
  /// the smallest `Int64`.
  private static func nanoseconds(_ seconds: Int64, _ fraction: Int64) -> Int64 {
    Int64(clamping: Int128(seconds) * Int128(second) + Int128(fraction))
  }

  /// The digits after a decimal point as nanoseconds; digits after the ninth are dropped.
  private static func fraction(_ digits: Substring) -> Int64? {
    guard !digits.isEmpty, digits.isDigits else { return nil }
    let nine = digits.prefix(9)
    return Int64(nine + String(repeating: "0", count: 9 - nine.count))
  }

  // MARK: Durations

  private static let units: [String: Int64] = {
    var units: [String: Int64] = [:]
    for (names, length) in [
      (["ns"], 1), (["us", "µs"], 1000), (["ms"], 1_000_000),
      (["s", "sec", "secs", "second", "seconds"], second),
      (["m", "min", "mins", "minute", "minutes"], 60 * second),
      (["h", "hr", "hrs", "hour", "hours"], 3600 * second), (["d", "day", "days"], 86_400 * second),
      (["w", "week", "weeks"], 604_800 * second),
    ] as [([String], Int64)] {
      for name in names { units[name] = length }
    }
    return units
  }()

  /// A length of time such as `2h30m`, `90 s` or `1 day 4 hours`, in nanoseconds. Nil for anything else, and
  /// for a number without a unit.
  package static func duration(_ text: some StringProtocol) -> Int64? {
    length(text).flatMap { Int64(exactly: $0) }
  }

  /// Longer than the distance between any two times.
  private static let lengthMax: Int128 = 1 << 70

  /// The same for any length, capped at `lengthMax`.
  private static func length(_ text: some StringProtocol) -> Int128? {
    var rest = Substring(text)
    var total: Int128 = 0
    var isEmpty = true
    while true {
      rest = rest.drop { $0 == " " }
      if rest.isEmpty { return isEmpty ? nil : total }
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count).drop { $0 == " " }
      let name = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(name.count)
      guard !digits.isEmpty, let unit = units[String(name)] else { return nil }
      total = min(lengthMax, total + Int128(Int64(digits) ?? .max) * Int128(unit))
      isEmpty = false
    }
  }
}

extension Int64 {
  /// Nanoseconds as whole seconds, rounded down.
  package var seconds: Int64 { self / 1_000_000_000 - (self % 1_000_000_000 < 0 ? 1 : 0) }

  /// Seconds, rounded down to a whole day.
  fileprivate var flooredDay: Int64 { self - ((self % 86_400) + 86_400) % 86_400 }
}

extension StringProtocol {
  /// Whether the text is one or more ASCII digits and nothing else.
  package var isDigits: Bool { !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) } }

  fileprivate func trimmingSpaces() -> String {
    var rest = Substring(self).drop { $0 == " " }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }
}
