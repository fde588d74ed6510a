// One comparison of a filter, ready for rows.

internal import StrataEvents
internal import StrataTables

/// Two sides and an operator.
final class FilterClause: Sendable {
  private let comparator: FilterComparator
  private let ignoresCase: Bool
  private let left: FilterSource
  private let right: FilterSource
  /// The values of a list on the right.
  private let elements: [FilterSource]?
  /// What `matches` matches. Nil only where the pattern is none, which the parser refuses.
  private let pattern: FilterPattern?

  init(_ comparison: FilterComparison) {
    comparator = comparison.comparator
    ignoresCase = comparison.ignoresCase
    left = FilterSource(comparison.left)
    right = FilterSource(comparison.right)
    if case .list(let operands) = comparison.right {
      elements = operands.map { FilterSource($0) }
    } else {
      elements = nil
    }
    if comparator == .matches, case .value(.string(let text)) = comparison.right {
      pattern = try? FilterPattern(text, ignoresCase: ignoresCase)
    } else {
      pattern = nil
    }
  }

  func matches(_ row: RowView, _ section: () -> DocumentValue) -> Bool {
    left.withValue(row, section) { left in
      if let elements {
        for element in elements {
          if element.withValue(row, section, { left.equals($0, ignoresCase: ignoresCase) }) { return true }
        }
        return false
      }
      return right.withValue(row, section) { right in holds(left, right) }
    }
  }

  private func holds(_ left: FilterValue, _ right: FilterValue) -> Bool {
    switch comparator {
    case .equal: return left.equals(right, ignoresCase: ignoresCase)
    case .notEqual: return !left.equals(right, ignoresCase: ignoresCase)
    case .less: return order(left, right).map { $0 < 0 } ?? false
    case .lessOrEqual: return order(left, right).map { $0 <= 0 } ?? false
    case .greater: return order(left, right).map { $0 > 0 } ?? false
    case .greaterOrEqual: return order(left, right).map { $0 >= 0 } ?? false
    case .in: return right.hasElement(equalTo: left, ignoresCase: ignoresCase)
    case .contains:
      if case .array = left {
        guard !right.isNull else { return false }
        return left.hasElement(equalTo: right, ignoresCase: ignoresCase)
      }
      return withTexts(left, right) { FilterText.contains($0, $1) }
    case .beginsWith: return withTexts(left, right) { FilterText.begins($0, with: $1) }
    case .endsWith: return withTexts(left, right) { FilterText.ends($0, with: $1) }
    case .matches:
      guard let pattern else { return false }
      return left.withText { pattern.matches(String(decoding: $0, as: UTF8.self)) } ?? false
    }
  }

  /// How two values that are not null are ordered; nil where their types differ.
  private func order(_ left: FilterValue, _ right: FilterValue) -> Int? {
    left.isNull || right.isNull ? nil : left.order(against: right, ignoresCase: ignoresCase)
  }

  /// Calls the body with two strings, folded where case is ignored; false where one side is no string.
  private func withTexts(
    _ left: FilterValue, _ right: FilterValue,
    _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    left.withText { left in
      right.withText { right in
        ignoresCase ? FilterText.withFolded(left, right, body) : body(left, right)
      } ?? false
    } ?? false
  }
}
