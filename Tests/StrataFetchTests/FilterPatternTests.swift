// One pattern that many threads match at the same time.

@testable internal import StrataLists
internal import StrataTesting
internal import Testing

@Suite struct FilterPatternTests {
  @Test func `threads that match a pattern for the first time at once all get its answer`() async throws {
    for round in 0..<20 {
      let pattern = try FilterPattern("item [0-9]+( of [a-f]+)*", ignoresCase: round % 2 == 0)
      let answers = await withTaskGroup(of: [Bool].self) { group in
        for _ in 0..<8 {
          group.addTask {
            (0..<100).map { pattern.matches($0 % 2 == 0 ? "item \($0) of abc of f" : "item \($0) of x") }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers == Array(repeating: (0..<100).map { $0 % 2 == 0 }, count: 8))
    }
  }

  /// The standard library ends the process where a match refers back to a group that was never made.
  @Test(arguments: [
    #"(a){0}\1"#, #"(a){0,0}\1"#, #"(a){,0}\1"#, #"((a)b){00}\2"#, #"(?<x>a){0}\k<x>"#,
    #"(?:(?:(a)){0}|.)*\1"#,
    #"(a){ 0 , 0 }?\1"#, "(a){\t0}\\1", "(a){\u{200E}0}+\\1", #"\\{0}"#, #"\Q\E{0}"#,
  ])
  func `fault 109: a pattern that repeats something zero times is refused`(_ text: String) {
    #expect(throws: FilterPatternError.self) { try FilterPattern(text, ignoresCase: false) }
  }

  @Test(arguments: [
    (#"(a){0,1}b"#, "ab"), ("a{0,}b", "aab"), ("a{10}", "aaaaaaaaaa"), (#"\u{0}"#, "\0"), (#"\x{0}"#, "\0"),
    (#"a\{0}"#, "a{0}"), (#"(a){1}\1"#, "aa"),
  ])
  func `a zero elsewhere is none`(_ text: String, _ matched: String) throws {
    #expect(try FilterPattern(text, ignoresCase: false).matches(matched))
  }

  @Test func `whatever a pattern refers back to, a match has an answer`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let atoms = [
      "a", "b", ".", #"\1"#, #"\2"#, #"\k<x>"#, #"\d"#, #"\b"#, "^", "$", #"\X"#, "[ab]", "[^a]",
      #"\p{L}"#, #"\y"#,
    ]
    let openings = ["(", "(", "(?:", "(?>", "(?=", "(?!", "(?<x>", "(?i:"]
    let quantifiers = ["*", "+", "?", "{0}", "{,0}", "{0,0}", "{1}", "{0,1}", "{2,}", "{,2}", "{2,3}"]
    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    func pattern(_ depth: Int) -> String {
      (0..<Int.random(in: 0...3, using: &random)).map { _ in
        let isAtom = depth > 3 || chance(40)
        var piece =
          isAtom
          ? atoms[Int.random(in: 0..<atoms.count, using: &random)]
          : openings[Int.random(in: 0..<openings.count, using: &random)] + pattern(depth + 1) + ")"
        if chance(40) {
          piece += quantifiers[Int.random(in: 0..<quantifiers.count, using: &random)]
          if chance(30) { piece += chance(50) ? "?" : "+" }
        }
        return piece + (chance(10) ? "|" : "")
      }.joined()
    }
    var compiled = 0
    for _ in 0..<4_000 {
      guard let found = try? FilterPattern(pattern(0), ignoresCase: chance(50)) else { continue }
      compiled += 1
      for text in ["", "a", "ab", "aab", "baab"] { _ = found.matches(text) }
    }
    #expect(compiled > 1_000)
  }
}
