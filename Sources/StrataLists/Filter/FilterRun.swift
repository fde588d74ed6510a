// A compiled filter evaluated for one row.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataTables

/// The program, and the row that it runs on. Valid only inside the call that provides both.
struct FilterRun {
  let nodes: UnsafeBufferPointer<FilterNode>
  let elements: UnsafeBufferPointer<FilterSource>
  let bytes: UnsafeRawBufferPointer
  let nameEnds: UnsafeBufferPointer<Int>
  let patterns: UnsafeBufferPointer<Pattern>
  let lookups: UnsafeBufferPointer<FilterLookup>
  let row: RowView

  /// Whether the row satisfies a node. The recursion is as deep as the filter, which is limited.
  func evaluate(at index: Int, _ section: () -> DocumentValue) -> Bool {
    switch nodes[index].kind {
    case .clause(let clause): return holds(clause, section)
    case .not: return !evaluate(at: index + 1, section)
    case .and:
      var child = index + 1
      while child < nodes[index].end {
        if !evaluate(at: child, section) { return false }
        child = nodes[child].end
      }
      return true
    case .or:
      var child = index + 1
      while child < nodes[index].end {
        if evaluate(at: child, section) { return true }
        child = nodes[child].end
      }
      return false
    }
  }

  /// Calls the body with the value of a source. The value is valid only inside the body.
  @inline(__always)
  private func withValue(
    _ source: FilterSource, _ section: () -> DocumentValue, _ body: (FilterValue) -> Bool
  ) -> Bool {
    switch source {
    case .field(let names, let ends):
      let item = FieldPath.find(
        UnsafeRawBufferPointer(rebasing: bytes[names]), UnsafeBufferPointer(rebasing: nameEnds[ends]),
        in: row.document)
      guard let item else { return body(.null) }
      return FilterValue.withValue(of: item, body)
    case .literal(let range):
      return FilterValue.withValue(of: UnsafeRawBufferPointer(rebasing: bytes[range]), body)
    case .date(let instant): return body(.date(instant))
    case .id: return body(.text(row.id))
    case .revision: return body(.integer(magnitude: row.revision, isNegative: false))
    case .time: return body(.time(Timestamp(nanoseconds: row.time)))
    case .section: return section().cbor().withUnsafeBytes { FilterValue.withValue(of: $0, body) }
    case .list: return body(.null)
    }
  }

  private func holds(_ clause: FilterClause, _ section: () -> DocumentValue) -> Bool {
    withValue(clause.left, section) { left in
      if let lookup = clause.lookup { return lookups[lookup].contains(left) }
      guard let range = clause.elements else {
        return withValue(clause.right, section) { right in holds(clause, left, right) }
      }
      for element in elements[range] {
        if withValue(element, section, { left.equals($0, ignoresCase: clause.ignoresCase) }) { return true }
      }
      return false
    }
  }

  private func holds(_ clause: FilterClause, _ left: FilterValue, _ right: FilterValue) -> Bool {
    let ignoresCase = clause.ignoresCase
    switch clause.comparator {
    case .equal: return left.equals(right, ignoresCase: ignoresCase)
    case .notEqual: return !left.equals(right, ignoresCase: ignoresCase)
    case .less: return left.orderUnlessNull(against: right, ignoresCase: ignoresCase).map { $0 < 0 } ?? false
    case .lessOrEqual:
      return left.orderUnlessNull(against: right, ignoresCase: ignoresCase).map { $0 <= 0 } ?? false
    case .greater:
      return left.orderUnlessNull(against: right, ignoresCase: ignoresCase).map { $0 > 0 } ?? false
    case .greaterOrEqual:
      return left.orderUnlessNull(against: right, ignoresCase: ignoresCase).map { $0 >= 0 } ?? false
    case .in: return right.hasElement(equalTo: left, ignoresCase: ignoresCase)
    case .contains:
      if case .array = left {
        return !right.isNull && left.hasElement(equalTo: right, ignoresCase: ignoresCase)
      }
      return left.withTexts(right, ignoresCase: ignoresCase) { FilterText.contains($0, $1) }
    case .beginsWith:
      return left.withTexts(right, ignoresCase: ignoresCase) { FilterText.begins($0, with: $1) }
    case .endsWith: return left.withTexts(right, ignoresCase: ignoresCase) { FilterText.ends($0, with: $1) }
    case .matches:
      guard let pattern = clause.pattern else { return false }
      return left.withText { patterns[pattern].matches($0) } ?? false
    }
  }
}
