// Text for people: times in the chosen zone, names without control characters, optional colours.

package import LogreplayPoints
package import StrataEvents

/// The time zone and colours of text for people.
package struct PeopleText: Sendable {
  var zone: Zone
  var isColored: Bool

  package init(zone: Zone, isColored: Bool) {
    self.zone = zone
    self.isColored = isColored
  }

  package enum Color: String, Sendable {
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
  }

  /// The text in a colour, or unchanged if colours are off.
  package func colored(_ text: String, _ color: Color) -> String {
    isColored ? "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// A time in the zone with its offset: `2026-11-20 19:17:16.120+01:00`. It has 3, 6 or 9 fractional digits, as many
  /// as it takes to parse back as the same time.
  package func time(_ time: Timestamp) -> String {
    let seconds = time.nanoseconds.seconds
    let offset = zone.offset(at: seconds)
    let civil = CivilTime(seconds: seconds + Int64(offset))
    // Not computed from the seconds: those of the earliest times do not fit into an `Int64` as nanoseconds.
    let rest = Int((time.nanoseconds % 1_000_000_000 + 1_000_000_000) % 1_000_000_000)
    return "\(Self.padded(civil.year, 4))-\(Self.padded(civil.month, 2))-\(Self.padded(civil.day, 2)) "
      + "\(Self.padded(civil.hour, 2)):\(Self.padded(civil.minute, 2)):\(Self.padded(civil.second, 2))"
      + ".\(Self.fraction(rest))\(Self.offsetText(offset))"
  }

  /// A time in UTC for the echo of a point: `2026-11-20T21:15:03.120Z`, with 3, 6 or 9 fractional digits as needed.
  static func utc(_ time: Timestamp) -> String {
    let text = time.description
    guard text.hasSuffix("Z"), let dot = text.lastIndex(of: ".") else { return text }
    let rest = Int(text[text.index(after: dot)...].dropLast()) ?? 0
    return "\(text[..<dot]).\(fraction(rest))Z"
  }

  /// The text as one line that a terminal cannot interpret as commands: control characters become `\u{1b}`.
  package static func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: \.isControl) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar.isControl {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The text, without its middle if it is long: what the end of a path says is as telling as its begin.
  package static func shortened(_ text: String, to countMax: Int = 160) -> String {
    guard text.utf8.count > countMax, text.count > countMax else { return text }
    let half = (countMax - 1) / 2
    return "\(text.prefix(half))…\(text.suffix(half))"
  }

  /// The text as one word of a shell.
  package static func shellWord(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: #"'\''"#) + "'"
  }

  package static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  private static func fraction(_ nanoseconds: Int) -> String {
    if nanoseconds % 1_000_000 == 0 { return padded(nanoseconds / 1_000_000, 3) }
    if nanoseconds % 1000 == 0 { return padded(nanoseconds / 1000, 6) }
    return padded(nanoseconds, 9)
  }

  private static func offsetText(_ offset: Int) -> String {
    let minutes = abs(offset) / 60
    return (offset < 0 ? "-" : "+") + padded(minutes / 60, 2) + ":" + padded(minutes % 60, 2)
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is C0, DEL, C1, a line or paragraph separator, or changes the direction of text.
  var isControl: Bool {
    value < 0x20 || (0x7F...0x9F).contains(value) || (0x202A...0x202E).contains(value)
      || (0x2066...0x2069).contains(value) || value == 0x2028 || value == 0x2029
  }
}

/// A number of things as people write it: “1 event”, “2 events”.
package func counted(_ number: some BinaryInteger, _ noun: String) -> String {
  number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
}
