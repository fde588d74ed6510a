// The grammar of points and ranges.

import LogreplayPoints
import StrataEvents
import Testing

@testable import LogreplayEvents
@testable import LogreplayShell
@testable import LogreplayTables

struct PointTests {
  private let times = TimeText(now: 1_000_000_000_000_000_000, zone: .utc)

  private func point(_ text: String) throws -> Point { try Point(text, times: times) }

  private func range(_ words: String...) throws -> PointRange { try PointRange(words, times: times) }

  @Test func `every kind of point is told apart`() throws {
    #expect(try point("0") == .sequence(0))
    #expect(try point("18234") == .sequence(18234))
    #expect(try point("seq:7") == .sequence(7))
    #expect(try point("head") == .head)
    #expect(try point("head~3") == .back(3))
    #expect(try point("first") == .first)
    #expect(try point("id:a:b@c") == .id("a:b@c"))
    #expect(try point("mark:release/1.0") == .mark("release/1.0"))
    #expect(
      try point("cursor:5@00000000000000ff") == .cursor(LogPosition(sequence: 5, chain: 255)))
    #expect(try point("@1000000000") == .time(times.now))
    #expect(try point("1h ago") == .time(times.now - 3_600_000_000_000))
    #expect(try point("2001-09-09 01:46:40") == .time(times.now))
  }

  @Test(arguments: [
    "", "bogus", "head~", "head~x", "head~-1", "seq:", "seq:x", "-1", "id:", "mark:a b", "mark:a..b", "mark:",
    "cursor:5", "cursor:5@ff", "99999999999999999999", "HEAD", "blah:1",
  ])
  func `what is no point is a usage error`(text: String) {
    let failure = #expect(throws: CommandFailure.self) { try point(text) }
    #expect(failure?.code == 64)
  }

  @Test func `a range is split at its only two dots`() throws {
    let both = try range("100..head")
    #expect(both.from?.point == .sequence(100) && both.to?.point == .head)
    let open = try range("100..")
    #expect(open.from?.point == .sequence(100) && open.to == nil)
    let begin = try range("..7")
    #expect(begin.from == nil && begin.to?.point == .sequence(7))
    let times = try range("2h30m.ago..1h.ago")
    #expect(times.from?.text == "2h30m.ago" && times.to?.text == "1h.ago")
    let fraction = try range("2026-11-20 18:17:16.5..head")
    #expect(fraction.from?.text == "2026-11-20 18:17:16.5")
  }

  @Test func `one point is the end of a range, and two are both ends`() throws {
    let one = try range("7")
    #expect(one.from == nil && one.to?.point == .sequence(7))
    let two = try range("id:a..b", "head")
    #expect(two.from?.point == .id("a..b") && two.to?.point == .head)
    #expect(try PointRange([], times: times) == range(".."))
  }

  @Test(arguments: ["1...5", "1..2..3", "1..x"])
  func `a range with more dots or another word is a usage error`(text: String) {
    let failure = #expect(throws: CommandFailure.self) { try range(text) }
    #expect(failure?.code == 64)
  }

  @Test func `a resolved point is echoed as the contract shows it`() {
    let time = Timestamp("2026-11-20T21:15:03.120Z")
    #expect(
      PointResolver.echo("2h ago", ResolvedPoint(sequence: 18234, time: time))
        == "2h ago → seq 18234 (2026-11-20T21:15:03.120Z)")
    #expect(
      PointResolver.echo("yesterday", ResolvedPoint(sequence: 0))
        == "yesterday → seq 0 (before the first event)")
  }
}

struct GlobTests {
  @Test(arguments: [
    ("*", ""), ("*", "a/b"), ("incident/*", "incident/1"), ("*/1", "a/b/1"), ("a*b*c", "axxbyybzc"),
    ("?", "é"),
    ("[a-c]x", "bx"), ("[!a-c]x", "dx"), ("\\*", "*"), ("[]]", "]"), ("$put", "$put"), ("a**b", "ab"),
  ])
  func `a pattern matches`(pattern: String, text: String) throws {
    #expect(try #require(Glob(pattern)).matches(text))
  }

  @Test(arguments: [
    ("", "a"), ("a", "A"), ("incident/*", "incidents/1"), ("a*b*c", "axxbyybz"), ("?", ""), ("?", "ab"),
    ("[a-c]x", "dx"), ("\\*", "a"), ("*a", "ab"), ("é", "e\u{301}"),
  ])
  func `a pattern does not match`(pattern: String, text: String) throws {
    #expect(try !#require(Glob(pattern)).matches(text))
  }

  @Test(arguments: ["[a", "[", "a\\", "[z-a]"])
  func `a pattern that does not end is refused`(pattern: String) {
    #expect(Glob(pattern) == nil)
  }
}
