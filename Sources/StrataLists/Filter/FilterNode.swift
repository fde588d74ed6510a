// The instructions of a compiled filter: plain values that hold no references.

internal import StrataDocuments

/// One node of the tree. What is inside it follows, up to `end`.
struct FilterNode: Sendable {
  enum Kind: Sendable {
    case clause(FilterClause)
    case not, and, or
  }

  var kind: Kind
  /// The index behind the last node inside this one.
  var end = 0
}

/// Two sides and an operator.
struct FilterClause: Sendable {
  var comparator: FilterComparator
  var ignoresCase: Bool
  var left: FilterSource
  var right: FilterSource
  /// Where the values of a list on the right are.
  var elements: Range<Int>?
  /// Which pattern `matches` matches.
  var pattern: Int?
}

/// Where a side of a comparison gets its value from.
enum FilterSource: Sendable {
  /// The bytes of a field's names, and where their ends are.
  case field(names: Range<Int>, ends: Range<Int>)
  case id, revision, time, section
  /// The bytes of a literal.
  case literal(Range<Int>)
  case date(Instant)
  /// A list, whose values the clause knows.
  case list
}
