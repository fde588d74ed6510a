// A filter compiled for evaluation: a flat program without references, so that evaluating it does no reference
// counting.

internal import StrataBase
package import StrataDocuments
package import StrataTables

/// A filter that reads encoded rows in memory, without decoding them.
package struct CompiledFilter: Sendable {
  /// The tree in preorder.
  private var nodes: [FilterNode] = []
  /// The elements of list literals.
  private var elements: [FilterSource] = []
  /// The names of fields and the CBOR of literals.
  private var bytes: [UInt8] = []
  /// The end of each field name, relative to the first name of its path.
  private var nameEnds: [Int] = []
  private var patterns: [Pattern] = []
  private var lookups: [FilterLookup] = []

  /// The number of values in a list from which on they are hashed.
  private static let lookupCountMin = 16

  package init(_ filter: RowFilter) { append(filter.expression) }

  /// Whether the row passes the filter. `section` is called only if the filter uses it. Nothing traps, whatever the
  /// row's bytes are: damaged values count as missing.
  package func matches(_ row: RowView, section: () -> DocumentValue) -> Bool {
    nodes.withUnsafeBufferPointer { nodes in
      elements.withUnsafeBufferPointer { elements in
        bytes.withUnsafeBytes { bytes in
          nameEnds.withUnsafeBufferPointer { nameEnds in
            patterns.withUnsafeBufferPointer { patterns in
              lookups.withUnsafeBufferPointer { lookups in
                FilterRun(
                  nodes: nodes, elements: elements, bytes: bytes, nameEnds: nameEnds, patterns: patterns,
                  lookups: lookups, row: row
                ).evaluate(at: 0, section)
              }
            }
          }
        }
      }
    }
  }
}

extension RowFilter {
  /// The filter, compiled for evaluation. O(length of the filter).
  package func compiled() -> CompiledFilter { CompiledFilter(self) }
}

extension CompiledFilter {
  private mutating func append(_ expression: FilterExpression) {
    let index = nodes.count
    switch expression {
    case .comparison(let comparison): nodes.append(FilterNode(kind: .clause(clause(comparison))))
    case .not(let inner):
      nodes.append(FilterNode(kind: .not))
      append(inner)
    case .and(let inner):
      nodes.append(FilterNode(kind: .and))
      for expression in inner { append(expression) }
    case .or(let inner):
      nodes.append(FilterNode(kind: .or))
      for expression in inner { append(expression) }
    }
    nodes[index].end = nodes.count
  }

  private mutating func clause(_ comparison: FilterComparison) -> FilterClause {
    var clause = FilterClause(
      comparator: comparison.comparator, ignoresCase: comparison.ignoresCase, left: source(comparison.left),
      right: source(comparison.right))
    switch comparison.right {
    case .list(let operands) where operands.count < Self.lookupCountMin:
      let first = elements.count
      for operand in operands { elements.append(source(operand)) }
      clause.elements = first..<elements.count
    case .list(let operands): look(up: operands, &clause)
    case .set(let set): look(up: set.elements, &clause)
    case .field, .value, .date: break
    }
    // An invalid pattern matches nothing; the parser has rejected it already.
    if comparison.comparator == .matches, case .value(.string(let text)) = comparison.right,
      let pattern = try? Pattern(text, isWhole: true, ignoresCase: comparison.ignoresCase)
    {
      clause.pattern = patterns.count
      patterns.append(pattern)
    }
    return clause
  }

  private mutating func look(up operands: [FilterOperand], _ clause: inout FilterClause) {
    clause.lookup = lookups.count
    lookups.append(FilterLookup(operands, ignoresCase: clause.ignoresCase))
  }

  private mutating func source(_ operand: FilterOperand) -> FilterSource {
    switch operand {
    case .field(let path):
      switch path.subject {
      case .id: return .id
      case .revision: return .revision
      case .time: return .time
      case .section: return .section
      case .field:
        let (firstByte, firstEnd) = (bytes.count, nameEnds.count)
        bytes += path.nameBytes
        nameEnds += path.nameEnds
        return .field(names: firstByte..<bytes.count, ends: firstEnd..<nameEnds.count)
      }
    case .value(let value):
      let first = bytes.count
      bytes += value.cbor()
      return .literal(first..<bytes.count)
    case .date(let instant): return .date(instant)
    case .list, .set: return .list
    }
  }
}
