// Texts that are not valid filters: the message, its position, and that nothing traps.

internal import StrataLists
internal import StrataTesting
internal import Testing

@Suite struct FilterErrorTests {
  /// An expression, the line of carets under it, and a part of the rest.
  private static let errors: [(text: String, carets: String, part: String)] = [
    ("", "^", "the filter is empty"),
    ("   ", "   ^", "the filter is empty"),
    ("impact 'High'", "       ^^^^^^", "write one of == != <"),
    ("impact", "      ^", "an operator is missing"),
    ("impact ==", "         ^", "the filter ends too soon"),
    ("impact == High and", "                  ^", "the filter ends too soon"),
    ("a == 1 b == 2", "       ^", "write && or ||"),
    ("a == 1 & b == 2", "       ^", "write &&"),
    ("a == 1 | b == 2", "       ^", "write ||"),
    ("a <> 1", "  ^^", "write !="),
    ("a => 1", "  ^^", "write >="),
    ("a === 1", "  ^^^", "no operator ==="),
    ("a like 'x'", "  ^^^^", "write matches"),
    ("a between {1, 2}", "  ^^^^^^^", "write 1 <= a"),
    ("1 < a < 9", "      ^", "1 < a && a < 9"),
    ("(a == 1", "^", "never closed"),
    ("a == 1)", "      ^", "never opened"),
    ("(a == 1 b", "        ^", "write && or ||"),
    ("a == 'x", "     ^^", "write ' at its end"),
    ("a == \"x", "     ^^", "write \" at its end"),
    ("a == “x”", "     ^", "write strings in '"),
    ("a in 1", "     ^", "a list is missing"),
    ("a in {1 2}", "        ^", "write ,"),
    ("a in {1,", "     ^", "never closed"),
    ("a in {b}", "      ^", "a list holds literals only"),
    ("a == {1}", "     ^", "a list is allowed only after in"),
    ("a ==[cd] 'x'", "     ^^", "write [c]"),
    ("a ==[c 'x'", "       ^^^", "write [c]"),
    ("a == 1x", "     ^^", "this is not a number"),
    ("a == 1.", "     ^^", "this is not a number"),
    ("a == 1e999", "     ^^^^^", "too large"),
    ("a == @'yesterday'", "     ^^^^^^^^^^^^", "@'2026-11-20T18:00+01:00'"),
    ("a == @'2026-11-20T18:0'", "     ^^^^^^^^^^^^^^^^^^", "this is not a date"),
    ("a == @2026", "     ^", "a date is missing"),
    ("a matches '('", "           ^", "the pattern is malformed: this group is never closed"),
    ("a matches 'b\\'c\\\\d(?=x)'", "                  ^^^", "look-ahead is not taken"),
    ("a matches \"\\u{e9}é\\td\\1\"", "                     ^^", "back references are not taken"),
    ("a matches[c] '(?i)b'", "              ^^^", "ignore case by [c]"),
    ("a matches 'b{10001}'", "            ^^^^^^^", "at most 10000 are taken"),
    ("a matches 'b++' && c == 1", "             ^", "possessive"),
    ("a matches b", "          ^", "matches needs a pattern"),
    ("a beginsWith 1", "             ^", "needs a string"),
    ("a endsWith @'2026-11-20T18:00Z'", "           ^^^^^^^^^^^^^^^^^^^^", "needs a string"),
    ("a + b == 1", "  ^", "arithmetic is not supported"),
    ("a-b == 1", " ^", "`odd-name`"),
    ("$ids == 1", "^^^^", "$id, $revision, $time, $section"),
    ("a. == 1", "  ^", "in backquotes"),
    ("`a == 1", "^^^^^^^", "closing backquote"),
    ("a == '\\u{110000}'", "        ^^^^^^^^", "not a character"),
    ("#a == 1", "^", "this character has no meaning here"),
    ("== 1", "^^", "a field or a literal is missing"),
    ("a == 1 &&", "         ^", "the filter ends too soon"),
    ("👩‍👩‍👧 == 1", "^", "no meaning here"),
    ("é == '漢👩‍👩‍👧e\u{301}' oops", "           ^^^^", "write && or ||"),
    ("a\t==\t'x'\toops", " \t  \t   \t^^^^", "write && or ||"),
    ("a == 1 &&\n b = \n c d", "   ^", "write && or ||"),
  ]

  @Test(arguments: errors)
  func `a syntax error shows the place and says what to write`(
    _ text: String, _ carets: String, _ part: String
  ) throws {
    let error = #expect(throws: FilterError.self) { try RowFilter(parsing: text) }
    guard let error else { return }
    let lines = error.description.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4, "\(error)")
    #expect(lines[2] == "  " + carets, "\(error)")
    #expect(error.description.contains(part), "\(error)")
    #expect(error.text == text)
  }

  @Test func `the place is given in bytes and in characters`() {
    let error = #expect(throws: FilterError.self) { try RowFilter("é == '漢' oops") }
    #expect(error?.byteRange == 12..<16)
    #expect(error?.characterRange == 9..<13)
    let end = #expect(throws: FilterError.self) { try RowFilter("é ==") }
    #expect(end?.byteRange == 5..<5)
    #expect(end?.characterRange == 4..<4)
  }

  @Test func `of a long expression the part around the place is shown, without control characters`() {
    let long = "a == 1 && ", many = String(repeating: "a == 1 && ", count: 100)
    let error = #expect(throws: FilterError.self) {
      try RowFilter(parsing: many + "\u{1B}[31m" + many + long)
    }
    let lines = error?.description.split(separator: "\n") ?? []
    #expect(lines.count == 4)
    #expect(lines.allSatisfy { $0.count < 200 && !$0.unicodeScalars.contains("\u{1B}") })
    let line = Array(lines[1])
    let caret = lines[2].firstIndex(of: "^").map { lines[2].distance(from: lines[2].startIndex, to: $0) }
    #expect(caret.map { line[$0] } == "·")
  }

  @Test func `text that is too long or too deep is an error`() {
    let deep = String(repeating: "(", count: 60_000)
    #expect(throws: FilterError.self) { try RowFilter(parsing: deep) }
    #expect(throws: FilterError.self) { try RowFilter(parsing: String(repeating: "!", count: 60_000)) }
    #expect(throws: FilterError.self) { try RowFilter(parsing: String(repeating: "NOT(", count: 15_000)) }
    #expect(throws: FilterError.self) {
      try RowFilter(parsing: "a == '" + String(repeating: "x", count: 70_000) + "'")
    }
    #expect(throws: FilterError.self) {
      try RowFilter(parsing: "a matches '" + String(repeating: "x", count: 5_000) + "'")
    }
    #expect(throws: FilterError.self) {
      try RowFilter(parsing: "a == " + String(repeating: "9", count: 60_000))
    }
  }

  @Test(arguments: ["[", "[^", "(", "(?i)", "(?=", "[a&&", "[a--b--", "(?~", "[a~~"])
  func `a pattern that nests too deeply is an error, not the end of the stack`(_ opening: String) {
    for count in [33, 100, 1_000] {
      let pattern = String(repeating: opening, count: count)
      let error = #expect(throws: FilterError.self) { try RowFilter(parsing: "a matches '" + pattern + "'") }
      #expect(error?.message.contains("pattern is malformed") == true)
    }
  }

  @Test(arguments: ["!", "!(", "NOT ("])
  func `the deepest filter reads back from its own text`(_ opening: String) throws {
    let closing = opening.hasSuffix("(") ? ")" : ""
    let depth = RowFilter.depthMax
    let text = String(repeating: opening, count: depth) + "a == 1" + String(repeating: closing, count: depth)
    let filter = try RowFilter(parsing: text)
    #expect(try RowFilter(parsing: filter.description) == filter)
    #expect(throws: FilterError.self) { try RowFilter(parsing: opening + text + closing) }
    let wide = "a == 1" + String(repeating: " && a == 1", count: 5_000)
    #expect(try RowFilter(parsing: wide).description == wide)
  }

  @Test func `whatever the text, it is a filter or an error with a place`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let words = [
      "a", "b.c", "`", "'", "\"", "\\", "==", "!=", "<", "in", "{", "}", "[", "]", "[c]", "(", ")", "!", "&&",
      "||",
      "AND", "matches", "contains", "null", "1", "-", "1e5", ".", ",", "@", "@'2026-11-20T18:00Z'", "'a.*'",
      "'(?'",
      "$id", "$", "é", "👩‍👩‍👧", "\u{301}", "\n", "\t", "\r\n", "\u{0}", "\\u{41}", " ", " ",
    ]
    for round in 0..<8_000 {
      var text = ""
      if round % 4 == 0 {
        let bytes = (0..<Int.random(in: 0...30, using: &random)).map { _ in
          UInt8.random(in: 0...255, using: &random)
        }
        text = String(decoding: bytes, as: UTF8.self)
      } else {
        for _ in 0..<Int.random(in: 0...12, using: &random) {
          text += words[Int.random(in: words.indices, using: &random)] + (round % 4 == 1 ? " " : "")
        }
      }
      do throws(FilterError) {
        let filter = try RowFilter(parsing: text)
        #expect(throws: Never.self) { try #require(try RowFilter(parsing: filter.description) == filter) }
      } catch {
        #expect(error.byteRange.upperBound <= text.utf8.count)
        #expect(error.characterRange.upperBound <= text.count)
        #expect(error.description.contains("^"))
      }
    }
  }
}
