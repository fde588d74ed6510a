// Times as people type them, against a fixed now and fixed zones.

import LogreplayPoints
import StrataDocuments
import StrataEvents
import Testing

@testable import LogreplayShell
@testable import LogreplayTables

struct TimeTextTests {
  /// 2026-11-20T18:17:16Z, a clock that is an hour ahead of UTC.
  private let times = TimeText(now: nanoseconds("2026-11-20T18:17:16Z"), zone: .fixed(3600))

  private static func nanoseconds(_ text: String) -> Int64 { Timestamp(text)?.nanoseconds ?? 0 }

  @Test(arguments: [
    ("2026-11-20 18:17:16", "2026-11-20T17:17:16Z"),
    ("2026-11-20 18:17:16.5", "2026-11-20T17:17:16.5Z"),
    ("2026-11-20 18:17:16.123456789", "2026-11-20T17:17:16.123456789Z"),
    ("2026-11-20T18:17:16", "2026-11-20T17:17:16Z"),
    ("2026-11-20 18:17", "2026-11-20T17:17:00Z"),
    ("2026-11-20", "2026-11-19T23:00:00Z"),
    ("2024-02-29", "2024-02-28T23:00:00Z"),
    ("now", "2026-11-20T18:17:16Z"),
    ("today", "2026-11-19T23:00:00Z"),
    ("yesterday", "2026-11-18T23:00:00Z"),
    ("2h30m ago", "2026-11-20T15:47:16Z"),
    ("2h30m.ago", "2026-11-20T15:47:16Z"),
    ("1 day 4 hours ago", "2026-11-19T14:17:16Z"),
    ("500ms ago", "2026-11-20T18:17:15.5Z"),
    ("2026-11-20T18:17:16Z", "2026-11-20T18:17:16Z"),
    ("2026-11-20T18:17:16+01:00", "2026-11-20T17:17:16Z"),
    ("2026-11-20 18:17:16.120-05:30", "2026-11-20T23:47:16.120Z"),
    ("@0", "1970-01-01T00:00:00Z"),
    ("@1767225600.25", "2026-01-01T00:00:00.25Z"),
    ("@-1", "1969-12-31T23:59:59Z"),
    ("2012-05-01T10:00Z", "2012-05-01T10:00:00Z"), ("2012-05-01 10:00+02:00", "2012-05-01T08:00:00Z"),
    ("2012-05", "2012-04-30T23:00:00Z"), (" 2012-05-01 ", "2012-04-30T23:00:00Z"),
    ("-2h", "2026-11-20T16:17:16Z"), ("+90 s", "2026-11-20T18:18:46Z"), ("-1d2h", "2026-11-19T16:17:16Z"),
  ])
  func `a time is read in the zone, or with the offset that it names`(text: String, expected: String) {
    #expect(times.nanoseconds(text) == Self.nanoseconds(expected))
    #expect(times.instant(text) == RFC3339.instant(expected))
  }

  @Test(arguments: [
    "", "5", "-2", "-h", "2h", "ago", "2012-5", "2012-00", "2012-05Z", "2012-05-01Z", "2012-05-01T10Z",
    " ago", "2 ago", "2x ago", "2026-02-30", "2026-13-01", "2026-11-20 25:00",
    "2026-11-20 1:00:00", "20-11-2026", "tomorrow", "@", "@x", "@1.", "2026-11-20 18:17:16.",
    "0001-02-30", "99999999999 ago", "99999999999999999999x ago",
  ])
  func `what is no time is refused`(text: String) {
    #expect(times.nanoseconds(text) == nil)
  }

  @Test(arguments: [
    ("9999-12-31", Int64.max), ("9999-12-31T23:59:59Z", .max), ("0001-01-01", .min),
    ("0001-01-01 00:00:00+00:00", .min), ("99999999999h ago", .min), ("99999999999999999999h 1h ago", .min),
    ("@9223372036.854775808", .max), ("@99999999999999999999", .max), ("@-9223372036.854775809", .min),
    ("2262-04-11 23:47:16.854775807Z", .max), ("1677-09-21T00:12:43.145224193Z", .min + 1),
  ])
  func `a time that nanoseconds cannot say is the first or the last that they can`(
    text: String, expected: Int64
  ) {
    #expect(times.nanoseconds(text) == expected)
    #expect(times.nanoseconds(Timestamp(nanoseconds: expected).description) == expected)
  }

  @Test func `a length of time that is longer than all of time reaches its end`() {
    #expect(times.nanoseconds("-999999w") == .min)
    #expect(times.nanoseconds("+999999w") == .max)
    #expect(TimeText.duration("999999w") == nil)
  }

  @Test func `the same text means another moment in UTC`() {
    let utc = TimeText(now: times.now, zone: .utc)
    #expect(utc.nanoseconds("2026-11-20 18:17:16") == times.now)
    #expect(utc.nanoseconds("today") == Self.nanoseconds("2026-11-20T00:00:00Z"))
  }

  @Test func `what people are shown reads back as the same moment`() {
    let people = PeopleText(zone: .fixed(-5400), isColored: false)
    for nanoseconds: Int64 in [
      0, -1, 1, 1_000, 120_000_000, 1_795_198_636_123_456_789, -62_135_596_800, .max, .min + 1,
    ] {
      let text = people.time(Timestamp(nanoseconds: nanoseconds))
      #expect(times.nanoseconds(text) == nanoseconds, "\(text)")
    }
    #expect(people.time(Timestamp(nanoseconds: times.now)) == "2026-11-20 16:47:16.000-01:30")
  }

  @Test func `civil times and days agree in both directions`() throws {
    for day in stride(from: Int64(-400_000), through: 400_000, by: 97) {
      let civil = CivilTime(seconds: day * 86_400 + 45_296)
      #expect(civil.seconds == day * 86_400 + 45_296)
    }
    #expect(CivilTime(year: 2023, month: 2, day: 29) == nil)
  }
}
