// Filters with values in them: each value is one literal, whatever it holds.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct FilterTemplateTests {
  /// Pieces of the language, and what its lexer could take for an end.
  private static let pieces = [
    "'", "\"", "\\", "\\'", "\\n", "\\u{41}", "`", "{", "}", "[", "]", "(", ")", "@", "@'2026-11-20'", "$id",
    ",",
    " || ", " && ", "!", "==", "a", "b == 0", "' || b == 0 || a == '", "null", "1", "-", "\n", "\r", "\t",
    "\r\n",
    "\u{0}", "\u{7F}", "\u{85}", "\u{2028}", "é", "e\u{301}", "\u{301}", "漢", "👩‍👩‍👧", "\u{FEFF}", "\u{202E}", "",
  ]

  private static func hostile(_ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 0...5, using: &random)).map { _ in
      pieces[Int.random(in: pieces.indices, using: &random)]
    }.joined()
  }

  @Test func `a string in a filter is equal to itself alone, whatever it holds`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<2_000 {
      let (text, other) = (Self.hostile(&random), Self.hostile(&random))
      let filter = try RowFilter("a == \(text)")
      let literal = FilterComparison(
        left: .field(try FieldPath("a")), comparator: .equal, right: .value(.string(text)))
      try #require(filter == RowFilter(.comparison(literal)), "\(filter)")
      let isSame = text.utf8.elementsEqual(other.utf8)
      var row = SampleRow()
      row.document = ["a": .string(other), "b": 0]
      try #require(row.matches(filter) == isSame, "\(filter) on \(row)")
      try #require(row.matches(try RowFilter("b == 1 || a == \(text) && b == 0")) == isSame, "\(filter)")
      try #require(row.matches(try RowFilter("a in {\(text), 1}")) == isSame, "\(filter)")
      try #require(row.matches(try RowFilter("a in \([text, text])")) == isSame, "\(filter)")
      try #require(row.matches(try RowFilter("a != \(text)")) == !isSame, "\(filter)")
    }
  }

  @Test func `a filter with values reads back from its own text, and so does its template`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<1_000 {
      let (text, list) = (Self.hostile(&random), (0..<3).map { _ in Self.hostile(&random) })
      let number = Double(bitPattern: random.next())
      let path = FieldPath(names: [Self.hostile(&random) + "x", "y"])
      let template: FilterTemplate =
        "a contains[c] \(text) || \(field: path) in \(list) && b > \(number.isFinite ? number : 0)"
      let filter = try RowFilter(template)
      try #require(try RowFilter(parsing: filter.description) == filter, "\(filter)")
      try #require(template.description == filter.description)
      try #require(try RowFilter(FilterTemplate(parsing: template.description)) == filter)
    }
  }

  /// A template, and the canonical text of its filter.
  private static let values: [(template: FilterTemplate, form: String)] = [
    ("a == \("it's")", "a == 'it\\'s'"), ("a == \("x'y\\".dropFirst())", "a == '\\'y\\\\'"),
    ("a == \(1) && a != \(UInt64.max)", "a == 1 && a != 18446744073709551615"),
    ("a == \(Int8(-5))", "a == -5"), ("a > \(Int128(1) << 64)", "a > 18446744073709551616"),
    ("a < \(1.5) && a > \(Float(0.5))", "a < 1.5 && a > 0.5"), ("a == \(1e300)", "a == 1e+300"),
    ("a == \(true) || a == \(false)", "a == true || a == false"),
    ("a == \(String?.none as String?) || a == \(Int?.some(3) as Int?)", "a == null || a == 3"),
    ("a > \(Date(timeIntervalSince1970: 1.5))", "a > @'1970-01-01T00:00:01.5Z'"),
    ("a > \(Timestamp(nanoseconds: -1))", "a > @'1969-12-31T23:59:59.999999999Z'"),
    (
      "a == \(UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1)))",
      "a == 'AB000000-0000-0000-0000-000000000001'"
    ),
    ("a in \(["x", nil])", "a in {'x', null}"), ("a in \([Int]())", "a in {}"),
    ("a in \(Set(["c", "b", "a"]))", "a in {'a', 'b', 'c'}"), ("a in {\(1), 2, \("x")}", "a in {1, 2, 'x'}"),
    ("a == \(Level.high) && a in \([Level.low])", "a == 'High' && a in {'Low'}"),
    ("a == \(DocumentValue.string("x"))", "a == 'x'"),
    ("\(field: FieldPath(names: ["and"])) == \(field: .time)", "`and` == $time"),
    ("\(field: FieldPath(names: ["o'd`d", "b"]))==\("x")&&a==\(1)", "`o'd``d`.b == 'x' && a == 1"),
    ("a contains\("x") || a in\([1])", "a contains 'x' || a in {1}"),
    ("\("x") in tags", "'x' in tags"), ("a matches \("b.*")", "a matches 'b.*'"),
    ("a == 'b' && c == 1", "a == 'b' && c == 1"),
  ]

  enum Level: String, FilterLiteral {
    case high = "High", low = "Low"
  }

  @Test(arguments: values)
  func `a value of each type is the literal that its document holds`(
    _ template: FilterTemplate, _ form: String
  )
    throws
  {
    let filter = try RowFilter(template)
    #expect(filter.description == form)
    #expect(try RowFilter(FilterTemplate(parsing: form)) == filter)
  }

  @Test func `a date in a filter is exactly the date that a document holds`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<500 {
      let date = Date(timeIntervalSinceReferenceDate: Double.random(in: -1e9...1e9, using: &random))
      var row = SampleRow()
      row.document = ["a": try DocumentValue(encoding: date)]
      try #require(row.matches(try RowFilter("a == \(date) && a <= \(date)")), "\(date)")
      let next = Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.nextUp)
      try #require(row.matches(try RowFilter("a < \(next) && a != \(next)")), "\(date)")
    }
  }

  /// A malformed template, the line of carets under it, and a part of the rest.
  private static let errors: [(template: FilterTemplate, carets: String, part: String)] = [
    ("a == '\("it's")'", "     ^^^^^^^^", "leave out the quotes"),
    ("`odd \("x")` == 1", "^^^^^^^^", "a value is inside a name"), ("a\(5) == 1", "^^", "\\(field: path)"),
    ("a == 1 and\(5)", "       ^^^^", "a space before a value"),
    ("a > @\(Date(timeIntervalSince1970: 0))", "", "the @"),
    ("a == \(Double.nan)", "     ^^^", "not finite"),
    ("a in \([1, .infinity])", "     ^^^^^^^^^^", "not finite"),
    ("a == \([1])", "     ^^^", "only after in"), ("a in \("x")", "     ^^^", "a list is missing"),
    ("a in {\([1])}", "      ^^^", "a literal is missing"),
    ("a == \(Date.distantFuture.addingTimeInterval(1e12))", "     ^^^^^^^", "the years 0000"),
    ("a == \(DocumentValue.array([]))", "     ^^^^^^^^^^^^^^^^", "not literals"),
    ("a matches \("(")", "           ^", "the pattern is malformed"),
    ("a beginsWith \(1)", "             ^", "needs a string"),
    ("a \("it's")", "  ^^^^^^^", "an operator is missing"),
    ("a == \("x") \(2)", "         ^", "write && or ||"), ("a == 1\(2)", "      ^", "write && or ||"),
    ("a == -\(2)", "     ^", "arithmetic"), ("a == \("é漢") &&", "            ^", "ends too soon"),
  ]

  @Test(arguments: errors)
  func `a mistake in a template is shown under its text`(
    _ template: FilterTemplate, _ carets: String, _ part: String
  ) throws {
    let error = #expect(throws: FilterError.self) { try RowFilter(template) }
    guard let error else { return }
    let lines = error.description.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4, "\(error)")
    if !carets.isEmpty { #expect(lines[2] == "  " + carets, "\(error)") }
    #expect(error.description.contains(part), "\(error)")
    #expect(error.text == template.description)
  }

  /// Makes a template that the compiler warns about, without the warning here.
  private protocol TemplateMaker { func template() -> FilterTemplate }

  private struct UnknownTypes: TemplateMaker {
    @available(*, deprecated)
    func template() -> FilterTemplate { "a == 1 || b == \(URL(filePath: "/' || a == '"))" }
  }

  @Test func `a value whose type is not a literal makes the filter malformed, and is not parsed`() {
    let maker: any TemplateMaker = UnknownTypes()
    let error = #expect(throws: FilterError.self) { try RowFilter(maker.template()) }
    #expect(error?.text == "a == 1 || b == \\(URL)")
    #expect(error?.suggestion.contains("FilterLiteral") == true)
  }

  @Test func `the limits of filters hold for what is written with values`() throws {
    let most = String(repeating: "x", count: RowFilter.byteCountMax - "a == ''".utf8.count)
    #expect(try RowFilter("a == \(most)").description.utf8.count == RowFilter.byteCountMax)
    let error = #expect(throws: FilterError.self) { try RowFilter("a == \(most + "x")") }
    #expect(error?.message.contains("65536") == true && error?.text.isEmpty == true)
    // A quote is two bytes of the text.
    #expect(throws: FilterError.self) { try RowFilter("a == \(most.dropLast() + "'")") }
    var deep = FilterTemplate.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
    deep.appendLiteral(String(repeating: "!", count: RowFilter.depthMax))
    deep.appendInterpolation(field: try FieldPath("a"))
    deep.appendLiteral(" == ")
    deep.appendInterpolation("x")
    let filter = try RowFilter(FilterTemplate(stringInterpolation: deep))
    #expect(try RowFilter(parsing: filter.description) == filter)
    var deeper = FilterTemplate.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
    deeper.appendLiteral("!" + deep.text)
    #expect(throws: FilterError.self) { try RowFilter(FilterTemplate(stringInterpolation: deeper)) }
  }
}
