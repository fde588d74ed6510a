// Parts of the command that know nothing but text: names that are near each other, and searching.

import StrataDocuments
import StrataSimulation
import Testing

@testable import LogreplayShell

struct TextTests {
  @Test(arguments: [
    ("sttus", ["status"]), ("STATUS", ["status"]), ("lgo", []), ("stat", ["status"]), ("tus", ["status"]),
    ("impct", ["impact"]), ("statsu", ["status"]), ("x", []), ("", []), ("n", ["n"]), ("zzzz", []),
    ("incident", ["incident"]), ("incidents", ["incident"]), ("idincent", []),
  ])
  func `a name is near where a slip of the hand makes one of the other`(text: String, near: [String]) {
    #expect(NearNames.near(text, among: ["status", "impact", "n", "incident", "substance"]) == near)
  }

  @Test(arguments: [
    ("abc", "abc"), ("1", "\"1\""), ("-2.5e3", "\"-2.5e3\""), ("null", "\"null\""), ("true", "\"true\""),
    ("[]", "\"[]\""), ("{}", "\"{}\""), ("", "\"\""), ("2026-01-01", "2026-01-01"), ("1-3", "1-3"),
    ("nullable", "nullable"), ("-", "-"), ("[x", "[x"),
  ])
  func `a string that could be read as another value is quoted`(text: String, shown: String) {
    #expect(PeopleText.word(.string(text)) == shown && PeopleText.heading(.string(text)) == shown)
    #expect(PeopleText.word(.int(1)) == "1" && PeopleText.heading(.null) == "null")
  }

  @Test func `of several names only the nearest are offered, each once`() {
    #expect(
      NearNames.near("colour", among: ["color", "colours", "dolour", "colours"]) == [
        "color", "colours", "dolour",
      ])
    #expect(NearNames.near("status", among: ["status2", "statuses", "Status"]) == ["Status"])
    #expect(
      NearNames.near(String(repeating: "a", count: 1000), among: [String(repeating: "a", count: 1000)]) == [])
    #expect(NearNames.hint(for: "q", among: []) == nil)
    let many = (10..<30).map { "name\($0)" }
    #expect(NearNames.hint(for: "q", among: many)?.hasSuffix("name20, name21, …") == true)
  }

  @Test func `the distance of two texts is the same both ways, and nothing for equal ones`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let texts = (0..<2).map { _ in
        (0..<Int.random(in: 0...8, using: &random)).map { _ in
          Unicode.Scalar(UInt8.random(in: 97...99, using: &random))
        }
      }
      let distance = NearNames.edits(from: texts[0], to: texts[1])
      #expect(distance == NearNames.edits(from: texts[1], to: texts[0]), "seed \(seed): \(texts)")
      #expect((distance == 0) == (texts[0] == texts[1]), "seed \(seed): \(texts)")
      #expect(distance >= abs(texts[0].count - texts[1].count), "seed \(seed): \(texts)")
      #expect(distance <= max(texts[0].count, texts[1].count), "seed \(seed): \(texts)")
    }
  }

  @Test func `bytes are found exactly where a look at every place finds them`() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    var found = 0
    for _ in 0..<20_000 {
      func bytes(_ most: Int) -> [UInt8] {
        (0..<Int.random(in: 0...most, using: &random)).map { _ in UInt8.random(in: 253...255, using: &random)
        }
      }
      let (text, wanted) = (bytes(24), bytes(5))
      let places = text.count - wanted.count
      let exists = places >= 0 && (0...places).contains { text[$0...].starts(with: wanted) }
      found += exists ? 1 : 0
      #expect(
        text.withUnsafeBytes { ByteSearch(wanted).occurs(in: $0) } == exists,
        "seed \(seed): \(wanted) in \(text)")
    }
    #expect(found > 1000 && found < 19_000, "seed \(seed)")
  }

  @Test func `a text is found however long it is, by bytes or as an expression`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    var found = 0
    for _ in 0..<500 {
      let count = TextPattern.byteCountMax + Int.random(in: -3...3, using: &random)
      func text(_ count: Int) -> String {
        String((0..<count).map { _ in Int.random(in: 0..<50, using: &random) == 0 ? "b" : "a" })
      }
      let (wanted, searched) = (text(count), text(4 * count))
      let pattern = try TextPattern(wanted)
      let exists = searched.contains(wanted)
      found += exists ? 1 : 0
      #expect(Array(searched.utf8).withUnsafeBytes { pattern.occurs(in: $0) } == exists, "seed \(seed)")
    }
    #expect(found > 10 && found < 490, "seed \(seed)")
  }

  @Test func `only what the parser takes for an option loses its sign`() {
    let arguments = [
      "log", "S", "-2h", "-g", "-2h", "--since", "-2h", "--where", "-1d", "-r", "-3m..head", "-5", "-2x",
      "-2h.5",
      "--reason", "-1d", "x", "-1d 2h", "--utc", "-2h..-1h", "--sort=a",
      "-1d", "-rR", "-2d", "-rn", "-3d", "-ojson", "-4d", "-n5", "-5d", "-pv", "-6d", "-o", "-7d", "--",
      "-2h",
    ]
    #expect(
      CommandArguments.withoutSigns(arguments) == [
        "log", "S", "2h.ago", "-g", "-2h", "--since", "-2h", "--where", "-1d", "-r", "3m.ago..head", "-5",
        "-2x",
        "-2h.5", "--reason", "-1d", "x", "1d 2h.ago", "--utc", "2h.ago..-1h", "--sort=a",
        "1d.ago", "-rR", "2d.ago", "-rn", "-3d", "-ojson", "4d.ago", "-n5", "5d.ago", "-pv", "6d.ago", "-o",
        "-7d", "--", "-2h",
      ])
  }
}
