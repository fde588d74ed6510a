// Patterns: the grammar, what is refused and where, and that time and memory have bounds.

@testable internal import StrataBase
internal import StrataSimulation
internal import Testing

@Suite struct PatternTests {
  private func counted(_ pattern: Pattern, _ text: String) -> (isMatch: Bool, stepCount: Int) {
    Array(text.utf8).withUnsafeBytes { pattern.counted($0) }
  }

  @Test(arguments: [
    "(a*)*b", "(a|a)*b", "(a|aa)+b", "((a+)+)+b", "(a?){12}a{12}b", "(.*a){8}b", "(a|(a|(a|a)))*b",
    "(a*){2,}b",
    "(x+x+)+y", "a*a*a*a*a*a*a*b",
  ])
  func `fault 116: a pattern takes no more steps than its states for each scalar of the text`(
    _ text: String
  ) throws {
    for isWhole in [true, false] {
      let pattern = try Pattern(text, isWhole: isWhole)
      for letter in ["a", "x"] {
        let (isMatch, stepCount) = counted(pattern, String(repeating: letter, count: 16))
        #expect(!isMatch)
        #expect(stepCount <= 17 * pattern.stateCount, "\(text): \(stepCount) steps")
      }
    }
  }

  @Test func `a long text is matched by the states that its beginning made`() throws {
    let pattern = try Pattern("((a|b)*(ab)+)*c", isWhole: true)
    let (isMatch, stepCount) = counted(pattern, String(repeating: "ab", count: 50_000) + "c")
    #expect(isMatch)
    #expect(stepCount < 1_000)
  }

  @Test func `a pattern with more states than are kept has the answers of one with few`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let pattern = try Pattern("(a|b)*a(a|b){16}", isWhole: true)
    for _ in 0..<5 {
      let letters = (0..<3_000).map { _ in Bool.random(using: &random) ? "a" : "b" }
      let (isMatch, stepCount) = counted(pattern, letters.joined())
      #expect(isMatch == (letters[letters.count - 17] == "a"))
      #expect(stepCount <= letters.count * pattern.stateCount)
    }
  }

  @Test(arguments: [
    ("", "", true), ("", "a", false), ("a", "a", true), ("a", "ab", false), ("a|", "", true),
    ("()", "", true),
    ("a.c", "a漢c", true), ("a.c", "a\nc", false), ("a[^x]c", "a\nc", true), (".", "\r", true),
    (".", "e\u{301}", false), ("..", "e\u{301}", true), ("é", "e\u{301}", false),
    ("[a-z]+", "straße", false), ("[a-zß]+", "straße", true), (#"\w+"#, "naïve_1", true), (#"\d"#, "٣", true),
    (#"\d\D\s\S\w\W"#, "1a b_!", true), (#"\s"#, "\u{A0}", true), (#"\w"#, "-", false),
    (#"[\d.]+"#, "1.5", true),
    (#"[^\d]"#, "1", false), (#"\."#, ".", true), (#"\\"#, "\\", true), (#"\-"#, "-", true),
    (#"\n\t\r\f"#, "\n\t\r\u{C}", true), (#"\x41\u0042\u{43}\x{1F600}"#, "ABC😀", true),
    ("a{2}", "aa", true), ("a{2}", "aaa", false), ("a{2,}", "aaaa", true), ("a{,2}", "", true),
    ("a{,2}", "aaa", false), ("a{1,2}?", "aa", true), ("a*?", "aaa", true), ("a{0}", "", true),
    ("(a){0}b", "b", true), ("a{0,0}", "a", false), ("a{30}b*", String(repeating: "a", count: 30), true),
    ("{\"a\":{}}", "{\"a\":{}}", true), ("a{x}", "a{x}", true), ("a{", "a{", true), ("a}]", "a}]", true),
    ("^a$", "a", true), ("(^a|b)$", "b", true), ("a^b", "ab", false), ("$", "", true), ("^^", "", true),
    (#"\bab\b"#, "ab", true), (#"a\Bb"#, "ab", true), (#"a\bb"#, "ab", false),
    ("(?:ab|cd)+", "abcdab", true), ("[-a]", "-", true), ("[a-]", "-", true),
    ("[^-]", "-", false), (#"[\]\[\^]+"#, "[]^", true), ("[$.*]", "*", true), ("a  b", "a  b", true),
  ])
  func `examples of what patterns mean`(_ text: String, _ subject: String, _ isMatch: Bool) throws {
    #expect(counted(try Pattern(text, isWhole: true), subject).isMatch == isMatch)
  }

  @Test(arguments: [
    (#"a\bcat\b"#, "a cat", false), (#"\bcat\b"#, "a cat.", true), (#"\bcat\b"#, "concat", false),
    ("^a", "ba", false), ("a$", "ab", false), ("b+", "abbc", true), ("", "x", true), ("a$|^b", "xa", true),
  ])
  func `a search finds a part`(_ text: String, _ subject: String, _ isMatch: Bool) throws {
    #expect(counted(try Pattern(text, isWhole: false), subject).isMatch == isMatch)
  }

  @Test(arguments: [
    ("a(?=b)", "look-ahead", 1..<4), ("a(?!b)", "look-ahead", 1..<4), ("(?<=a)b", "look-behind", 0..<4),
    ("(?<!a)b", "look-behind", 0..<4), (#"(a)\1"#, "back references", 3..<5),
    (#"(?<x>a)"#, "named groups", 0..<3),
    (#"\k<x>"#, "back references", 0..<2), ("(?P<x>a)", "named groups", 0..<3), ("(?>a)", "atomic", 0..<3),
    ("(?i)a", "options", 0..<3), ("(?i:a)", "options", 0..<3), ("(?#x)", "comments", 0..<3),
    ("(?R)", "recursion", 0..<3),
    ("(?(1)a)", "conditions", 0..<3), ("a++", "possessive", 2..<3), ("a**", "repeated already", 2..<3),
    ("a{2}{3}", "repeated already", 4..<7), ("*a", "nothing is before", 0..<1),
    ("(|*)", "nothing is before", 2..<3),
    ("^*", "nothing is before", 1..<2), ("{2}", "nothing is before", 0..<3), ("a{3,2}", "no bounds", 1..<6),
    ("a{ 2 }", "no bounds", 1..<6), ("a{,}", "no bounds", 1..<4), ("a{1,2,3}", "no bounds", 1..<8),
    ("(a", "never closed", 0..<1), ("é(?:a", "never closed", 1..<4), ("a)", "never opened", 1..<2),
    ("[a", "never closed", 0..<2), ("[]a]", "empty", 0..<2), ("[^]", "empty", 0..<3),
    ("[b-a]", "no range", 1..<4),
    (#"[a-\d]"#, "no range", 1..<5), ("[[:alpha:]]", "class inside a class", 1..<2),
    ("[a&&b]", "&&", 2..<4), ("[a--b]", "no range", 1..<4), ("[a-c-e]", "hyphen", 4..<5),
    (#"a\"#, "nothing follows", 1..<2),
    (#"\p{L}"#, "properties", 0..<2), (#"\X"#, #"\X is not taken"#, 0..<2),
    (#"\q"#, #"\q means nothing"#, 0..<2),
    (#"\u{110000}"#, "no character", 0..<10), (#"\u{d800}"#, "no character", 0..<8),
    (#"\x4"#, "no character", 0..<3),
    ("a{10001}", "states", 1..<8), ("a{99999999999999999999}", "states", 1..<23),
    ("(a{100}){100}", "states", 8..<13),
    ("((((((((((){2}){9}){9}){9}){9}){9}){9}){9}){9}", "states", 27..<30),
    ("a{9000}b{9000}", "states", 7..<14),
  ])
  func `what patterns do not have is refused by its name, at its place`(
    _ text: String, _ part: String, _ place: Range<Int>
  ) throws {
    let error = #expect(throws: PatternError.self) { try Pattern(text, isWhole: true) }
    #expect(error?.message.contains(part) == true, "\(String(describing: error))")
    #expect(error?.scalars == place, "\(String(describing: error))")
  }

  @Test(arguments: ["(", "(?:", "[", "[^", "(a|", "((a)*", "\\(", "(?", "{", "a{2}(", "|", "a|"])
  func `a pattern of any depth needs no stack`(_ opening: String) {
    let longest = Pattern.byteCountMax / opening.utf8.count
    for count in [Pattern.nestingMax + 1, 1_000, longest, longest + 1] {
      let text = String(repeating: opening, count: count)
      for text in [text, text + "a" + String(repeating: ")", count: count)] {
        guard let pattern = try? Pattern(text, isWhole: true) else { continue }
        _ = counted(pattern, "a")
      }
    }
  }

  @Test func `a pattern of as many states as are taken matches`() throws {
    let pattern = try Pattern("a{9998}", isWhole: true)
    #expect(counted(pattern, String(repeating: "a", count: 9_998)).isMatch)
    #expect(!counted(pattern, String(repeating: "a", count: 9_997)).isMatch)
    #expect(throws: PatternError.self) { try Pattern("a{9999}", isWhole: true) }
  }

  @Test func `as deep as is allowed, a pattern matches`() throws {
    for (opening, closing) in [("(", ")"), ("(?:a|", ")*"), ("(b?", "){1,1}")] {
      let depth = Pattern.nestingMax
      let text = String(repeating: opening, count: depth) + "a" + String(repeating: closing, count: depth)
      #expect(counted(try Pattern(text, isWhole: true), "a").isMatch)
      let error = #expect(throws: PatternError.self) { try Pattern("(" + text + ")", isWhole: true) }
      #expect(error?.message.contains("nested deeper than \(depth)") == true)
    }
  }

  @Test func `bytes that are no text are matched as the character that stands for them`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<2_000 {
      let bytes = (0..<Int.random(in: 0...9, using: &random)).map { _ in
        [0x41, 0x80, 0xBF, 0xC0, 0xC3, 0xE0, 0xA0, 0xED, 0xEF, 0xF0, 0x90, 0xF4, 0x8F, 0xF5, 0xFF]
          .randomElement(
            using: &random) ?? 0 as UInt8
      }
      var found: [UInt32] = []
      bytes.withUnsafeBytes { bytes in
        var index = 0
        while index < bytes.count { found.append(UTF8Scalars.next(bytes, &index)) }
      }
      #expect(found == String(decoding: bytes, as: UTF8.self).unicodeScalars.map(\.value), "\(bytes)")
    }
    for value in UInt32(0)...0x10_FFFF where value % 251 == 0 || value < 0x900 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      var bytes: [UInt8] = []
      UTF8Scalars.append(value, to: &bytes)
      #expect(bytes == Array(String(scalar).utf8))
    }
  }

  @Test func `threads that match one pattern at once all get its answer`() async throws {
    for round in 0..<10 {
      let pattern = try Pattern("item [0-9]+( of [a-f]+)*", isWhole: true, ignoresCase: round % 2 == 0)
      let answers = await withTaskGroup(of: [Bool].self) { group in
        for _ in 0..<8 {
          group.addTask {
            (0..<100).map { number in
              Array((number % 2 == 0 ? "item \(number) of abc of f" : "item \(number) of x").utf8)
                .withUnsafeBytes { pattern.matches($0) }
            }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers == Array(repeating: (0..<100).map { $0 % 2 == 0 }, count: 8))
    }
  }
}
