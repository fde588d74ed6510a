// A parsed filter, as a tree.

package import StrataDocuments
package import StrataTables

/// A filter's expression. Equal trees are equal filters.
package indirect enum FilterExpression: Hashable, Sendable {
  case comparison(FilterComparison)
  case not(FilterExpression)
  /// Two or more, none of them an `and`.
  case and([FilterExpression])
  /// Two or more, none of them an `or`.
  case or([FilterExpression])
}

/// Two operands and an operator.
package struct FilterComparison: Hashable, Sendable {
  package var left: FilterOperand
  package var comparator: FilterComparator
  package var ignoresCase: Bool
  package var right: FilterOperand

  package init(
    left: FilterOperand, comparator: FilterComparator, ignoresCase: Bool = false, right: FilterOperand
  ) {
    self.left = left
    self.comparator = comparator
    self.ignoresCase = ignoresCase
    self.right = right
  }
}

/// The operators, as they are written.
package enum FilterComparator: String, Hashable, Sendable, CaseIterable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
  case `in`
  case contains
  case beginsWith
  case endsWith
  case matches
}

/// One side of a comparison.
package enum FilterOperand: Hashable, Sendable {
  case field(FieldPath)
  /// Null, a boolean, a number, or a string.
  case value(DocumentValue)
  case date(Instant)
  /// Values and dates, to the right of `in`.
  case list([FilterOperand])
  /// The same, for more values than a text has room for.
  case set(FilterSet)
}

extension FilterExpression {
  /// The paths that the expression reads.
  package var fields: Set<FieldPath> {
    switch self {
    case .comparison(let comparison): comparison.left.fields.union(comparison.right.fields)
    case .not(let expression): expression.fields
    case .and(let expressions), .or(let expressions):
      expressions.reduce(into: []) { $0.formUnion($1.fields) }
    }
  }

  /// The fields of each comparison that has a field on both sides, in the order in which they were written.
  package var comparisonsOfFields: [(left: FieldPath, right: FieldPath)] {
    switch self {
    case .comparison(let comparison):
      guard case .field(let left) = comparison.left, case .field(let right) = comparison.right else {
        return []
      }
      return [(left, right)]
    case .not(let expression): return expression.comparisonsOfFields
    case .and(let expressions), .or(let expressions): return expressions.flatMap(\.comparisonsOfFields)
    }
  }
}

extension FilterExpression {
  /// The longest list of values that has no text; nil if there is none.
  package var longestSet: FilterSet? {
    switch self {
    case .comparison(let comparison): if case .set(let set) = comparison.right { set } else { nil }
    case .not(let expression): expression.longestSet
    case .and(let expressions), .or(let expressions):
      expressions.compactMap(\.longestSet).max { $0.elements.count < $1.elements.count }
    }
  }
}

extension FilterOperand {
  fileprivate var fields: Set<FieldPath> {
    if case .field(let path) = self { [path] } else { [] }
  }
}
