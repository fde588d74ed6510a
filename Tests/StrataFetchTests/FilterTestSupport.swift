// Rows for filters, random expressions, and a naive implementation of the filter language.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables
internal import StrataTesting

/// A row that owns its bytes.
struct SampleRow {
  var id = "row-1"
  var revision: UInt64 = 7
  var time = Timestamp("2026-11-20T17:00:00Z") ?? Timestamp(nanoseconds: 0)
  var section: DocumentValue = .null
  var document: DocumentValue = [:]

  func matches(_ filter: RowFilter) -> Bool { matches(filter, document: document.cbor()) }

  func matches(_ filter: RowFilter, document: [UInt8]) -> Bool {
    Array(id.utf8).withUnsafeBytes { id in
      document.withUnsafeBytes { document in
        let row = RowView(
          id: id, revision: revision, created: 1, time: time.nanoseconds, document: document)
        return filter.compiled().matches(row) { section }
      }
    }
  }
}

/// Evaluates a filter's tree over decoded values.
struct NaiveEvaluator {
  var row: SampleRow

  /// A value, or a point in time that is not text.
  enum Side {
    case value(DocumentValue)
    case date(Instant)
    case time(Timestamp)
    case list([Side])
  }

  func holds(_ expression: FilterExpression) -> Bool {
    switch expression {
    case .not(let inner): !holds(inner)
    case .and(let inner): inner.allSatisfy(holds)
    case .or(let inner): inner.contains(where: holds)
    case .comparison(let comparison): holds(comparison)
    }
  }

  private func side(_ operand: FilterOperand) -> Side {
    switch operand {
    case .value(let value): return .value(value)
    case .date(let instant): return .date(instant)
    case .list(let operands): return .list(operands.map(side))
    case .set(let set): return .list(set.elements.map(side))
    case .field(let path):
      switch path.description {
      case "$id": return .value(.string(row.id))
      case "$revision": return .value(DocumentValue(row.revision))
      case "$time": return .time(row.time)
      case "$section": return .value(row.section)
      default:
        var value: DocumentValue? = row.document
        for name in path.names { value = value?[name] }
        return .value(value ?? .null)
      }
    }
  }

  private func holds(_ comparison: FilterComparison) -> Bool {
    let left = side(comparison.left)
    let right = side(comparison.right)
    let ignoresCase = comparison.ignoresCase
    func order() -> Int? { isNull(left) || isNull(right) ? nil : compare(left, right, ignoresCase) }
    func texts(_ body: (String, String) -> Bool) -> Bool {
      guard let left = text(left), let right = text(right) else { return false }
      return ignoresCase ? body(left.lowercased(), right.lowercased()) : body(left, right)
    }
    switch comparison.comparator {
    case .equal: return compare(left, right, ignoresCase) == 0
    case .notEqual: return compare(left, right, ignoresCase) != 0
    case .less: return order().map { $0 < 0 } ?? false
    case .lessOrEqual: return order().map { $0 <= 0 } ?? false
    case .greater: return order().map { $0 > 0 } ?? false
    case .greaterOrEqual: return order().map { $0 >= 0 } ?? false
    case .in: return elements(right).contains { compare(left, $0, ignoresCase) == 0 }
    case .contains:
      if case .value(.array) = left {
        return !isNull(right) && elements(left).contains { compare($0, right, ignoresCase) == 0 }
      }
      return texts { left, right in
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        return (0...left.count).contains { left.dropFirst($0).starts(with: right) }
      }
    case .beginsWith: return texts { $0.utf8.starts(with: $1.utf8) }
    case .endsWith: return texts { $0.utf8.reversed().starts(with: $1.utf8.reversed()) }
    case .matches:
      return texts { text, pattern in
        RandomFilters.patterns.first { $0.text.lowercased() == pattern.lowercased() }?.holds(text) ?? false
      }
    }
  }

  private func isNull(_ side: Side) -> Bool { if case .value(.null) = side { true } else { false } }

  private func elements(_ side: Side) -> [Side] {
    switch side {
    case .list(let sides): sides
    case .value(.array(let values)): values.map { .value($0) }
    default: []
    }
  }

  private func text(_ side: Side) -> String? {
    switch side {
    case .value(.string(let text)): text
    case .time(let time): time.description
    default: nil
    }
  }

  private func nanoseconds(_ side: Side) -> Int128? {
    switch side {
    case .date(let instant):
      return Int128(instant.seconds) * 1_000_000_000 + Int128(instant.attoseconds / 1_000_000_000)
    case .time(let time): return Int128(time.nanoseconds)
    case .value(.string(let text)):
      let whole = text.replacing("T18:00+", with: "T18:00:00+")
      return RFC3339.instant(whole).flatMap { nanoseconds(.date($0)) }
    case .value(.int(let number)): return Int128(number)
    case .value(.uint(let number)): return Int128(number)
    default: return nil
    }
  }

  private func compare(_ a: Side, _ b: Side, _ ignoresCase: Bool) -> Int? {
    switch (a, b) {
    case (.date, _), (.time, _), (_, .date), (_, .time):
      if let a = nanoseconds(a), let b = nanoseconds(b) { return order(a, b) }
      guard let a = text(a), let b = text(b) else { return nil }
      return compare(.value(.string(a)), .value(.string(b)), ignoresCase, isText: true)
    default: return compare(a, b, ignoresCase, isText: false)
    }
  }

  private func compare(_ a: Side, _ b: Side, _ ignoresCase: Bool, isText: Bool) -> Int? {
    guard case .value(let a) = a, case .value(let b) = b else { return nil }
    switch (a, b) {
    case (.null, .null): return 0
    case (.bool(let a), .bool(let b)): return order(a ? 1 : 0, b ? 1 : 0)
    case (.string(let a), .string(let b)):
      let pair = ignoresCase ? (a.lowercased(), b.lowercased()) : (a, b)
      return order(Array(pair.0.utf8), Array(pair.1.utf8))
    case (.bytes(let a), .bytes(let b)): return order(a, b)
    default:
      guard let a = number(a), let b = number(b) else { return nil }
      return a.rank != b.rank
        ? order(a.rank, b.rank) : a.whole != b.whole ? order(a.whole, b.whole) : order(a.part, b.part)
    }
  }

  /// A number as −∞, finite, +∞ or NaN, with its integral and its fractional part. For magnitudes below 2¹²⁰.
  private func number(_ value: DocumentValue) -> (rank: Int, whole: Int128, part: Double)? {
    switch value {
    case .int(let value): return (0, Int128(value), 0)
    case .uint(let value): return (0, Int128(value), 0)
    case .bigInt(let value):
      let magnitude = value.magnitude.reduce(0 as Int128) { $0 << 8 | Int128($1) }
      return (0, value.isNegative ? -magnitude : magnitude, 0)
    case .double(let value):
      if value.isNaN { return (2, 0, 0) }
      guard value.isFinite else { return (value < 0 ? -1 : 1, 0, 0) }
      return (0, Int128(value.rounded(.down)), value - value.rounded(.down))
    default: return nil
    }
  }

  private func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : a == b ? 0 : 1 }

  private func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
    a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
  }
}

/// Expressions and rows with few different values, so that many comparisons are equal.
struct RandomFilters {
  static let patterns: [(text: String, holds: @Sendable (String) -> Bool)] = [
    ("a.*", { $0.unicodeScalars.first == "a" && !$0.contains("\n") }),
    ("[ab]+", { !$0.isEmpty && $0.allSatisfy { "ab".contains($0) } }),
    ("", { $0.isEmpty }),
    ("x|ab", { $0 == "x" || $0 == "ab" }),
  ]

  static let strings = [
    "", "a", "A", "b", "ab", "aB", "x", "é", "É", "k", "\u{212A}", "a\u{0}", "it's", "\"q\"\\d", "\t\n",
    "2026-11-20T17:00:00Z", "2026-11-20T18:00:00+01:00", "2026-11-20T18:00+01:00", "2026-11-20", "漢字",
  ]

  static let numbers: [DocumentValue] = [
    0, 1, -1, .double(1), .double(-0.0), .double(0.5), .int(1 << 53), .int(1 << 53 + 1), .double(0x1p53),
    .uint(.max),
    .double(0x1p64), .int(.min), .double(-0x1p63), .int(.max), .double(0x1p63),
    DocumentValue(Int128(1) << 64), DocumentValue(Int128(1) << 64 + 1), DocumentValue(-(Int128(1) << 64)),
    DocumentValue(-(Int128(1) << 64) - 1), .double(-0x1p64), .double(1e30), .double(1.5),
  ]

  static let paths = [
    "a", "b", "c", "d.e", "`in`", "`odd name`", "tags", "$id", "$revision", "$time", "$section",
  ]

  var random: SeededGenerator

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &random)]
  }

  /// The values that literals can have.
  private mutating func literal() -> DocumentValue {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: .null
    case 1: .bool(chance(50))
    case 2, 3, 4: pick(Self.numbers)
    default: .string(pick(Self.strings))
    }
  }

  mutating func value(depth: Int = 1) -> DocumentValue {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: .double(pick([.nan, .infinity, -.infinity]))
    case 1: .bytes(pick([[], [0], [1]]))
    case 2 where depth > 0: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: 0) })
    case 3 where depth > 0: ["e": value(depth: 0)]
    case 4: .tagged(37, .bytes([1]))
    default: literal()
    }
  }

  mutating func row() -> SampleRow {
    var row = SampleRow()
    row.id = pick(Self.strings)
    row.revision = pick([0, 1, 1 << 53 + 1, .max])
    row.time = Timestamp(nanoseconds: row.time.nanoseconds + pick([0, 1, -1, -1_800_000_000_000_000_000]))
    row.section = chance(80) ? literal() : value()
    var object: DocumentObject = [:]
    for name in ["a", "b", "c", "in", "odd name", "other", "longer name"] where chance(80) {
      object[name] = value()
    }
    if chance(80) { object["d"] = chance(80) ? ["e": value(), "f": 1] : value() }
    if chance(80) { object["tags"] = .array((0..<3).map { _ in value() }) }
    row.document = .object(object)
    return row
  }

  private mutating func field() -> FilterOperand {
    guard let path = try? FieldPath(pick(Self.paths)) else { return .value(.null) }
    return .field(path)
  }

  private mutating func date() -> FilterOperand {
    .date(
      RFC3339.instant(
        pick(["2026-11-20T17:00:00Z", "2026-11-20T17:00:00.000000001Z", "1969-07-20T20:17:40Z"]))
        ?? Instant(seconds: 0, attoseconds: 0))
  }

  private mutating func operand() -> FilterOperand {
    chance(50) ? field() : chance(15) ? date() : .value(literal())
  }

  mutating func comparison() -> FilterComparison {
    let comparator = pick(FilterComparator.allCases)
    let right: FilterOperand
    switch comparator {
    case .in:
      right =
        chance(20)
        ? field()
        : .list(
          (0..<(chance(15) ? 20 : Int.random(in: 0...4, using: &random))).map { _ in
            chance(15) ? date() : .value(literal())
          })
    case .matches: right = .value(.string(pick(Self.patterns).text))
    case .beginsWith, .endsWith: right = chance(20) ? field() : .value(.string(pick(Self.strings)))
    default: right = operand()
    }
    let left = chance(80) ? field() : operand()
    return FilterComparison(left: left, comparator: comparator, ignoresCase: chance(30), right: right)
  }

  mutating func expression(depth: Int = 3) -> FilterExpression {
    switch Int.random(in: 0..<(depth > 0 ? 5 : 1), using: &random) {
    case 1: return .not(expression(depth: depth - 1))
    case 2, 3:
      let isOr = chance(50)
      var parts: [FilterExpression] = []
      for _ in 0..<Int.random(in: 2...3, using: &random) {
        switch expression(depth: depth - 1) {
        case .or(let inner) where isOr: parts += inner
        case .and(let inner) where !isOr: parts += inner
        case let part: parts.append(part)
        }
      }
      return isOr ? .or(parts) : .and(parts)
    default: return .comparison(comparison())
    }
  }
}
