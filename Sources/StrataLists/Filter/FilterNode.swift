// The instructions of a compiled filter: plain values that hold no references.

internal import StrataDocuments

/// One node of the tree. Its children follow it, up to `end`.
struct FilterNode: Sendable {
  enum Kind: Sendable {
    case clause(FilterClause)
    case not, and, or
  }

  var kind: Kind
  /// The index after the last node inside this one.
  var end = 0
}

/// A comparison: two sides and an operator.
struct FilterClause: Sendable {
  var comparator: FilterComparator
  var ignoresCase: Bool
  var left: FilterSource
  var right: FilterSource
  /// The range of the list's elements, if the right side is a short list.
  var elements: Range<Int>?
  /// The index of the list's hashed values, if it is a long one.
  var lookup: Int?
  /// The index of the pattern, if the operator is `matches`.
  var pattern: Int?
}

/// The source of a comparison's side.
enum FilterSource: Sendable {
  /// The bytes of a field's names, and the range of their ends.
  case field(names: Range<Int>, ends: Range<Int>)
  case id, revision, time, section
  /// The bytes of a literal.
  case literal(Range<Int>)
  case date(Instant)
  /// A list, of which the clause knows where its elements are.
  case list
}
