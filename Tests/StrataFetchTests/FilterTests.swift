// Filters compared with a naive evaluator, and examples of what they mean.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct FilterTests {
  @Test func `filters take the rows that a naive evaluator takes`() throws {
    var filters = RandomFilters(random: SeededGenerator(seed: SeededGenerator.testSeed()))
    var taken = 0
    for _ in 0..<3_000 {
      let filter = RowFilter(filters.expression())
      for _ in 0..<3 {
        let row = filters.row()
        let expected = NaiveEvaluator(row: row).holds(filter.expression)
        try #require(row.matches(filter) == expected, "\(filter) on \(row)")
        taken += expected ? 1 : 0
      }
    }
    #expect((1_500..<7_500).contains(taken), "the random filters take too few or too many rows")
  }

  @Test func `a filter's text reads back as an equal filter`() throws {
    var filters = RandomFilters(random: SeededGenerator(seed: SeededGenerator.testSeed()))
    for _ in 0..<3_000 {
      let filter = RowFilter(filters.expression())
      let read = try RowFilter(parsing: filter.description)
      try #require(read == filter, "\(filter)")
      try #require(read.description == filter.description)
      try #require(read.hashValue == filter.hashValue)
    }
  }

  @Test(arguments: [
    ("a=1", "a == 1"), ("(((a == 1)))", "a == 1"), ("a==\"it's\"", "a == 'it\\'s'"),
    ("a in [1,'b']", "a in {1, 'b'}"),
    ("NOT a == 1 AND b == 2 Or c == 3", "!(a == 1) && b == 2 || c == 3"),
    ("a == 1 || b == 2 && c == 3", "a == 1 || b == 2 && c == 3"),
    ("(a == 1 || b == 2) && c == 3", "(a == 1 || b == 2) && c == 3"),
    ("a == 1 && (b == 2 && c == 3)", "a == 1 && b == 2 && c == 3"), ("!!a==1", "!(!(a == 1))"),
    ("a BEGINSWITH[C]'x'", "a beginsWith[c] 'x'"), ("a contains [c] 'x'", "a contains[c] 'x'"),
    ("`a`.b == `in`", "a.b == `in`"), ("a == -0", "a == 0"), ("a == 1e3", "a == 1000.0"),
    ("a > @'2026-11-20T18:00+01:00'", "a > @'2026-11-20T17:00:00Z'"),
    ("a > @'2026-11-20 17:00:00.5'", "a > @'2026-11-20T17:00:00.5Z'"),
    ("a > @'2026-11-20'", "a > @'2026-11-20T00:00:00Z'"), ("a > @'2026-11'", "a > @'2026-11-01T00:00:00Z'"),
    ("a == TRUE", "a == true"),
    ("a in {}", "a in {}"), ("'x' in tags", "'x' in tags"), ("a == '\\u{e9}\\d'", "a == 'é\\\\d'"),
    ("a ==[c] 18446744073709551616", "a ==[c] 18446744073709551616"),
    ("1 = 1&&!(2=2)", "1 == 1 && !(2 == 2)"),
  ])
  func `filters that say the same have one form`(_ text: String, _ form: String) throws {
    #expect(try RowFilter(parsing: text).description == form)
    #expect(try RowFilter(parsing: form) == RowFilter(parsing: text))
  }

  private static let row: SampleRow = {
    var row = SampleRow()
    row.document = [
      "impact": "High", "count": 3, "ratio": 1.0, "open": true, "tags": ["a", "B", .null, 2],
      "nothing": .null,
      "name": "Ärger", "start": "2026-11-20T18:00:00+01:00", "place": ["name": "Ulm"],
      "large": .int(1 << 53 + 1),
    ]
    row.section = "S"
    return row
  }()

  @Test(arguments: [
    ("missing == null", true), ("nothing == missing", true), ("missing != 'X'", true), ("missing < 1", false),
    ("missing >= null", false), ("null == null", true), ("count == '3'", false), ("count != '3'", true),
    ("count < 'z'", false), ("ratio == 1", true), ("ratio in {1}", true),
    ("large == 9007199254740992.0", false),
    ("large > 9007199254740992.0", true), ("open == true", true), ("open > false", true),
    ("impact in {'Low', 'High'}", true), ("impact in {'high'}", false), ("impact in[c] {'high'}", true),
    ("missing in {1, null}", true), ("tags contains 'b'", false), ("tags contains[c] 'b'", true),
    ("tags contains 2.0", true), ("tags contains null", false), ("'a' in tags", true),
    ("tags == null", false),
    ("tags != null", true), ("tags == tags", false), ("place == null", false), ("place.name == 'Ulm'", true),
    ("impact contains 'ig'", true), ("impact contains ''", true), ("count contains '3'", false),
    ("missing contains ''", false), ("impact beginsWith 'Hi'", true), ("impact endsWith[c] 'GH'", true),
    ("impact matches 'H.*'", true), ("impact matches 'H'", false), ("impact matches[c] 'hi\\w+'", true),
    ("count == 3.5", false), ("count < 3.5", true), ("count >= 2.5", true), ("-3 > -3.5", true),
    // Letters with several small forms, and letters that fold to several.
    ("'ΟΔΟΣ' ==[c] 'οδος'", true), ("'οδος' ==[c] 'οδοσ'", true), ("'οδοσ' contains[c] 'Σ'", true),
    ("'οδος' contains[c] 'ΔΟΣ'", true), ("'Straße' ==[c] 'STRASSE'", true),
    ("'STRASSE' contains[c] 'aß'", true),
    ("'ẞ' beginsWith[c] 's'", true), ("'Fuß' endsWith[c] 'SS'", true), ("'ﬁn' beginsWith[c] 'FI'", true),
    ("'ſ' ==[c] 'S'", true), ("'Maße' in[c] {'x', 'MASSE'}", true), ("'ﬀ' <[c] 'FG'", true),
    (
      "'MASSE' in[c] {'a', 'b', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm', 'n', 'o', 'p', 'maße'}",
      true
    ),
    ("'ΟΔΟΣ' matches[c] 'οδος'", true), ("'STRAẞE' matches[c] 'straße'", true),
    // A pattern stands for single characters, and its text is not folded.
    ("'STRASSE' matches[c] 'straße'", false), ("'STRASSE' matches[c] 'stras{2}e'", true),
    ("'ß' matches[c] '..'", false),
    ("'\\u{212a}' matches[c] '[j-l]'", true), ("'İ' ==[c] 'i'", false), ("'ı' ==[c] 'I'", false),
    // The Kelvin sign's lower case is an ASCII letter.
    ("'\\u{212a}' ==[c] 'k'", true), ("'k' ==[c] '\\u{212a}'", true), ("'\\u{212a}' <[c] 'L'", true),
    ("'5 \\u{212a}' endsWith[c] 'k'", true), ("'\\u{212a}' == 'k'", false),
    ("name ==[c] 'ÄRGER'", true), ("name <[c] 'ärgerlich'", true), ("name contains[c] 'ÄR'", true),
    ("start == @'2026-11-20T17:00Z'", true), ("start < @'2026-11-20T17:00:00.000000000000000001Z'", true),
    ("start == '2026-11-20T17:00:00Z'", false), ("impact == @'2026-11-20T17:00Z'", false),
    ("impact != @'2026-11-20T17:00Z'", true), ("impact < @'2026-11-20T17:00Z'", false),
    ("count < @'2026-11-20T17:00Z'", true), ("count > @'1970-01-01'", true),
    ("$time == @'2026-11-20T18:00+01:00'", true),
    ("$time == start", true),
    ("$time == '2026-11-20T17:00:00.000000000Z'", true), ("$time beginsWith '2026-11-20T17'", true),
    ("$time > '2026-11'", true), ("$id == 'row-1'", true), ("$revision >= 7", true),
    ("$section == 'S'", true),
    ("`$id` == null", true), ("NOT impact == 'High'", false), ("start in {@'2026-11-20T17:00Z'}", true),
  ])
  func `examples of what filters mean`(_ text: String, _ expected: Bool) throws {
    #expect(Self.row.matches(try RowFilter(parsing: text)) == expected)
    #expect(Self.row.matches(try RowFilter(parsing: "!(" + text + ")")) == !expected)
  }

  @Test func `a filter knows the fields that it reads`() throws {
    let filter = try RowFilter("a.b == 1 && !(c in {1} || $id == d)")
    #expect(Set(filter.fields.map(\.description)) == ["a.b", "c", "$id", "d"])
  }

  @Test func `documents that are damaged or not deterministic are compared without a trap`() throws {
    var filters = RandomFilters(random: SeededGenerator(seed: SeededGenerator.testSeed()))
    for _ in 0..<5_000 {
      let filter = RowFilter(filters.expression(depth: 1))
      let row = filters.row()
      var bytes = row.document.cbor()
      for _ in 0..<3 {
        bytes[Int.random(in: bytes.indices, using: &filters.random)] = UInt8(
          truncatingIfNeeded: filters.random.next())
      }
      bytes.removeLast(Int.random(in: 0..<bytes.count, using: &filters.random) / 4)
      _ = row.matches(filter, document: bytes)
    }
    // {"a": (_ "x", "y")}, {"a": [_ "xy"]}, {"a": 2(h'05')}
    let row = SampleRow()
    #expect(
      row.matches(
        try RowFilter("a == 'xy'"), document: [0xA1, 0x61, 0x61, 0x7F, 0x61, 0x78, 0x61, 0x79, 0xFF]))
    #expect(
      row.matches(
        try RowFilter("a contains 'xy'"), document: [0xA1, 0x61, 0x61, 0x9F, 0x62, 0x78, 0x79, 0xFF]))
    #expect(row.matches(try RowFilter("a == 5"), document: [0xA1, 0x61, 0x61, 0xC2, 0x41, 0x05]))
    #expect(row.matches(try RowFilter("a == null"), document: [0xA1, 0x61, 0x61, 0xF7]))
  }

  @Test func `many threads can ask one filter with a pattern`() async throws {
    let filter = try RowFilter("a matches '(x|y)+z'").compiled()
    let document = DocumentValue.object(["a": "xyxyz"]).cbor()
    let count = await withTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          (0..<500).count { _ in
            document.withUnsafeBytes { document in
              let id = UnsafeRawBufferPointer(start: nil, count: 0)
              return filter.matches(RowView(id: id, revision: 1, created: 1, time: 0, document: document)) {
                .null
              }
            }
          }
        }
      }
      return await group.reduce(0, +)
    }
    #expect(count == 2_000)
  }
}
