// The times in a commit's header, as git reads them.

internal import LogreplayPoints
internal import LogreplayShell
internal import StrataLog

/// When a commit was written, or committed: seconds since 1970, and the offset of the person's zone.
struct ImportGitTime: Equatable {
  /// Nil if git cannot read the line.
  private(set) var seconds: Int64?
  /// In minutes; nil if it is no offset that a time may have, as `+51800`.
  private(set) var offset: Int?

  /// A line that git cannot read.
  init() {}

  /// - Parameters:
  ///   - text: the seconds, as `%at` prints them; empty if git cannot read the line.
  ///   - raw: the same with the offset, as `%ad` prints them with `--date=raw`. Seconds that do not fit are others here.
  init(seconds text: String, raw: String) {
    let words = raw.split(separator: " ")
    guard words.count == 2, words[0] == text, let seconds = Int64(text) else { return }
    self.seconds = seconds
    guard let number = Int(words[1]), abs(number) / 100 < 24, abs(number) % 100 < 60 else { return }
    offset = number / 100 * 60 + number % 100
  }

  /// The time in RFC 3339 with its offset, as git prints it, and in UTC if the offset is none. Empty if there is no such
  /// time before the year 10000.
  var text: String {
    guard let seconds, seconds < Self.secondsEnd else { return "" }
    let offset = offset ?? 0
    let civil = CivilTime(seconds: seconds + Int64(offset * 60))
    guard civil.year < 10_000 else { return "" }
    func two(_ number: Int) -> String { PeopleText.padded(number, 2) }
    return "\(PeopleText.padded(civil.year, 4))-\(two(civil.month))-\(two(civil.day))"
      + "T\(two(civil.hour)):\(two(civil.minute)):\(two(civil.second))"
      + "\(offset < 0 ? "-" : "+")\(two(abs(offset) / 60)):\(two(abs(offset) % 60))"
  }

  /// A day after the last second of the year 9999.
  private static let secondsEnd: Int64 = 253_402_387_200

  /// Whether `text` says all that the line says.
  var isWhole: Bool { offset != nil && !text.isEmpty }

  /// The time of an append; nil if it has to be another one.
  var nanoseconds: Int64? {
    guard let seconds else { return nil }
    let (nanoseconds, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    return isOver || seconds < 0 || nanoseconds == FormatLimits.noTime ? nil : nanoseconds
  }
}
