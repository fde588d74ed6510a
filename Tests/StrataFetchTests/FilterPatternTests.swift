// Patterns in filters.

internal import StrataDocuments
internal import StrataLists
internal import Testing

@Suite struct FilterPatternTests {
  @Test(arguments: [
    #"(a){0}\1"#, #"(a)\1"#, #"(a){0,0}\1"#, #"((a)b){00}\2"#, #"(?<x>a){0}\k<x>"#, #"(?:(?:(a)){0}|.)*\1"#,
  ])
  func `fault 109: a pattern that refers back to a group is refused`(_ text: String) {
    let error = #expect(throws: FilterError.self) { try RowFilter("a matches \(text)") }
    #expect(error?.message.hasPrefix("the pattern is malformed: ") == true)
  }

  @Test func `the place in a pattern is shown where the filter's text has it`() {
    let text = "it's \"\\d\"\t(a"
    let error = #expect(throws: FilterError.self) { try RowFilter("b == 1 && a matches \(text)") }
    let lines = error?.description.split(separator: "\n", omittingEmptySubsequences: false) ?? []
    #expect(lines.count == 4 && lines[1].hasSuffix("(a'"), "\(lines)")
    #expect(lines[2].count == lines[1].count - 2 && lines[2].hasSuffix(" ^"), "\(lines)")
    #expect(lines[3] == "write ) after it, or \\( for itself")
  }

  @Test func `a pattern with nested repetition has an answer for a text of any length`() throws {
    var row = SampleRow()
    row.document = ["a": .string(String(repeating: "a", count: 20_000) + "!")]
    for pattern in ["(a*)*b", "(a+)+", "(a|aa)*b", "(.*a){9}b"] {
      #expect(!row.matches(try RowFilter("a matches \(pattern)")))
      #expect(!row.matches(try RowFilter("a matches[c] \(pattern)")))
    }
  }
}
