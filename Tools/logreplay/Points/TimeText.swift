// Times as people type them: `2026-11-20 18:17:16`, `yesterday`, `2h30m ago`, `@1732130000`, RFC 3339.

internal import StrataEvents

/// Reads times against one "now" and one zone, so that all times of a command agree.
package struct TimeText: Sendable {
  /// Nanoseconds since 1970.
  package var now: Int64
  package var zone: Zone

  package init(now: Int64, zone: Zone) {
    self.now = now
    self.zone = zone
  }

  private static let second: Int64 = 1_000_000_000

  /// The moment that a text names, in nanoseconds, or nil where it is no time.
  ///
  /// - Parameter allowsSigned: also reads `-2h` and `+30m`, as `--since` and `--until` do.
  package func nanoseconds(_ text: String, allowsSigned: Bool = false) -> Int64? {
    let text = text.trimmingSpaces()
    switch text {
    case "now": return now
    case "today": return midnight(daysBack: 0)
    case "yesterday": return midnight(daysBack: 1)
    default: break
    }
    if text.hasPrefix("@") { return unixTime(text.dropFirst()) }
    for suffix in [" ago", ".ago"] where text.hasSuffix(suffix) {
      return TimeText.duration(text.dropLast(suffix.count)).flatMap { now.subtracting($0) }
    }
    if allowsSigned, let sign = text.first, sign == "-" || sign == "+" {
      guard let length = TimeText.duration(text.dropFirst()) else { return nil }
      return sign == "-" ? now.subtracting(length) : now.adding(length)
    }
    if let time = Timestamp(text.replacingFirstSpace()) { return time.nanoseconds }
    return wallClock(text)
  }

  /// Midnight in the zone, so many days before the current one.
  private func midnight(daysBack: Int64) -> Int64? {
    let seconds = now.seconds
    let wall = seconds + Int64(zone.offset(at: seconds))
    let day = wall.flooredDay - daysBack * 86_400
    return zone.moment(ofWallClock: day).multiplied(by: Self.second)
  }

  /// `SECONDS` or `SECONDS.FRACTION`.
  private func unixTime(_ text: Substring) -> Int64? {
    let isNegative = text.first == "-"
    let parts = text.dropFirst(isNegative ? 1 : 0).split(
      separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, first.isDigits, let seconds = Int64(first) else { return nil }
    let fraction: Int64
    if parts.count == 2 {
      guard let value = Self.fraction(parts[1]) else { return nil }
      fraction = value
    } else {
      fraction = 0
    }
    guard let total = seconds.multiplied(by: Self.second)?.adding(fraction) else { return nil }
    return isNegative ? -total : total
  }

  /// A date, or a date and a time, without an offset.
  private func wallClock(_ text: String) -> Int64? {
    let parts = text.split(omittingEmptySubsequences: true) { $0 == " " || $0 == "T" }
    guard let date = parts.first, parts.count <= 2 else { return nil }
    let fields = date.split(separator: "-", omittingEmptySubsequences: false)
    guard fields.count == 3, fields[0].count == 4, fields[1].count == 2, fields[2].count == 2,
      fields.allSatisfy(\.isDigits), let year = Int(fields[0]), let month = Int(fields[1]),
      let day = Int(fields[2])
    else { return nil }
    var clock = (hour: 0, minute: 0, second: 0)
    var fraction: Int64 = 0
    if parts.count == 2 {
      let halves = parts[1].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      let digits = halves[0].split(separator: ":", omittingEmptySubsequences: false)
      guard (2...3).contains(digits.count), digits.allSatisfy({ $0.count == 2 && $0.isDigits }) else {
        return nil
      }
      let numbers = digits.compactMap { Int($0) }
      clock = (numbers[0], numbers[1], numbers.count == 3 ? numbers[2] : 0)
      if halves.count == 2 {
        guard digits.count == 3, let value = Self.fraction(halves[1]) else { return nil }
        fraction = value
      }
    }
    guard
      let civil = CivilTime(
        year: year, month: month, day: day, hour: clock.hour, minute: clock.minute, second: clock.second)
    else { return nil }
    return zone.moment(ofWallClock: civil.seconds).multiplied(by: Self.second)?.adding(fraction)
  }

  /// The digits behind a decimal point as nanoseconds; those behind the ninth are dropped.
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
    var rest = Substring(text)
    var total: Int64 = 0
    var isEmpty = true
    while true {
      rest = rest.drop { $0 == " " }
      if rest.isEmpty { return isEmpty ? nil : total }
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count).drop { $0 == " " }
      let name = rest.prefix { $0.isLetter }
      rest = rest.dropFirst(name.count)
      guard let count = Int64(digits), let unit = units[String(name)],
        let sum = count.multiplied(by: unit)?.adding(total)
      else { return nil }
      total = sum
      isEmpty = false
    }
  }
}

extension Int64 {
  /// Nanoseconds as whole seconds, rounded down.
  package var seconds: Int64 { self / 1_000_000_000 - (self % 1_000_000_000 < 0 ? 1 : 0) }

  /// Seconds, rounded down to a whole day.
  fileprivate var flooredDay: Int64 { self - ((self % 86_400) + 86_400) % 86_400 }

  fileprivate func adding(_ other: Int64) -> Int64? {
    let (sum, isOver) = addingReportingOverflow(other)
    return isOver ? nil : sum
  }

  fileprivate func subtracting(_ other: Int64) -> Int64? {
    let (difference, isOver) = subtractingReportingOverflow(other)
    return isOver ? nil : difference
  }

  fileprivate func multiplied(by other: Int64) -> Int64? {
    let (product, isOver) = multipliedReportingOverflow(by: other)
    return isOver ? nil : product
  }
}

extension StringProtocol {
  /// True for one or more of the ten ASCII digits and nothing else.
  package var isDigits: Bool { !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) } }

  fileprivate func trimmingSpaces() -> String {
    var rest = Substring(self).drop { $0 == " " }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }

  /// `2026-11-20 18:17:16Z` as RFC 3339 writes it, with a `T`.
  fileprivate func replacingFirstSpace() -> String {
    guard let space = firstIndex(of: " ") else { return String(self) }
    return "\(self[..<space])T\(self[index(after: space)...])"
  }
}
