// Which part of an index holds the rows that a filter takes.

internal import StrataDocuments
package import StrataTables

/// The ranges of an index outside of which no row passes a filter.
///
/// An index is the items of a view without sections that is sorted by fields: the keys of their values, one after
/// another, then the row's id. Equal values have equal keys, and the order of keys is that of the filter language within
/// a type. Rows whose values make no key are in the view's problems and have to be looked at one by one.
package struct IndexPlan: Sendable {
  /// Keys from the lower bound on that are less than the upper one, ascending and disjoint.
  package var ranges: [(lower: [UInt8], upper: [UInt8])]
  /// The number of the index's fields that the filter determines or limits.
  package var fieldCount: Int
  /// Whether every row of the ranges passes the filter.
  package var isExact: Bool

  /// The most ranges of one plan. A filter by more values, for several fields together, uses fewer fields.
  package static let rangeCountMax = 65_536

  /// The longest keys of a filter's values, together. Keys that a view cuts are longer, whatever the row's id is, so none
  /// of them lacks what a plan looks for.
  private static let keyLengthMax = 1_024

  /// - Parameter fields: those that the index is sorted by, first to last.
  /// - Returns: Nil if the filter neither determines nor limits the first of the fields.
  ///
  /// O(length of the filter × fields), and O(values log values) for lists of values.
  package init?(_ filter: FilterExpression, fields: [FieldPath]) {
    var pending: [FilterExpression]
    if case .and(let parts) = filter { pending = parts } else { pending = [filter] }
    var prefixes: [[UInt8]] = [[]]
    var bounds: (lower: [UInt8], upper: [UInt8])?
    var room = Self.keyLengthMax
    fieldCount = 0
    for field in fields {
      if let (index, values) = Self.values(of: field, in: pending, room),
        values.count <= Self.rangeCountMax / max(prefixes.count, 1)
      {
        pending.remove(at: index)
        prefixes = prefixes.flatMap { prefix in values.map { prefix + $0 } }
        room -= values.lazy.map(\.count).max() ?? 0
        fieldCount += 1
        continue
      }
      bounds = Self.takeBounds(of: field, from: &pending, room)
      if bounds != nil { fieldCount += 1 }
      break
    }
    guard fieldCount > 0 else { return nil }
    ranges = prefixes.compactMap { prefix in
      guard let bounds else { return Self.end(of: prefix).map { (prefix, $0) } }
      return bounds.lower.lexicographicallyPrecedes(bounds.upper)
        ? (prefix + bounds.lower, prefix + bounds.upper) : nil
    }
    isExact = pending.isEmpty
  }

  /// The keys of the values that a comparison allows for a field, ascending and each once, and the comparison's index.
  private static func values(
    of field: FieldPath, in parts: [FilterExpression], _ room: Int
  ) -> (index: Int, keys: [[UInt8]])? {
    for (index, part) in parts.enumerated() {
      guard case .comparison(let comparison) = part, !comparison.ignoresCase else { continue }
      let operands: [FilterOperand]
      switch (comparison.left, comparison.comparator, comparison.right) {
      case (.field(field), .equal, .value): operands = [comparison.right]
      case (.value, .equal, .field(field)): operands = [comparison.left]
      case (.field(field), .in, .list(let list)): operands = list
      case (.field(field), .in, .set(let set)): operands = set.elements
      // `in` a value that is no list is never true, and is left to the filter itself.
      default: continue
      }
      let keys = operands.compactMap { Self.key($0, room) }
      guard keys.count == operands.count else { continue }
      let sorted = keys.sorted { $0.lexicographicallyPrecedes($1) }
      return (index, sorted.indices.filter { $0 == 0 || sorted[$0 - 1] != sorted[$0] }.map { sorted[$0] })
    }
    return nil
  }

  /// The bounds that comparisons set for a field, which are taken out of a filter's parts; nil if none does.
  private static func takeBounds(
    of field: FieldPath, from parts: inout [FilterExpression], _ room: Int
  ) -> (lower: [UInt8], upper: [UInt8])? {
    var bounds: (lower: [UInt8], upper: [UInt8])?
    parts.removeAll { part in
      guard case .comparison(let comparison) = part, let found = Self.bounds(comparison, of: field, room)
      else {
        return false
      }
      guard let known = bounds else {
        bounds = found
        return true
      }
      let lower = known.lower.lexicographicallyPrecedes(found.lower) ? found.lower : known.lower
      let upper = found.upper.lexicographicallyPrecedes(known.upper) ? found.upper : known.upper
      bounds = (lower, upper)
      return true
    }
    return bounds
  }

  private static func bounds(
    _ comparison: FilterComparison, of field: FieldPath, _ room: Int
  ) -> (lower: [UInt8], upper: [UInt8])? {
    guard !comparison.ignoresCase else { return nil }
    let comparator: FilterComparator
    let value: DocumentValue
    switch (comparison.left, comparison.right) {
    case (.field(field), .value(let right)): (comparator, value) = (comparison.comparator, right)
    case (.value(let left), .field(field)):
      guard let mirrored = comparison.comparator.mirrored else { return nil }
      (comparator, value) = (mirrored, left)
    default: return nil
    }
    // A comparison with null is never true, and is left to the filter itself.
    guard value != .null, let key = Self.key(.value(value), room), let type = SortKeyClass(key),
      let end = Self.end(of: key)
    else { return nil }
    switch comparator {
    case .less: return (type.lower, key)
    case .lessOrEqual: return (type.lower, end)
    case .greater: return (end, type.upper)
    case .greaterOrEqual: return (key, type.upper)
    case .beginsWith:
      guard case .string = value else { return nil }
      // Without its end mark, the key of a string is that of all strings that begin with it.
      let prefix = Array(key.dropLast(SortKeyClass.endMarkLength))
      return Self.end(of: prefix).map { (prefix, $0) }
    default: return nil
    }
  }

  /// The key of a value; nil for a date, which is equal to several values, and for a key that is longer than the room.
  private static func key(_ operand: FilterOperand, _ room: Int) -> [UInt8]? {
    guard case .value(let value) = operand else { return nil }
    var writer = SortKeyWriter()
    let isKey = value.cbor().withUnsafeBytes { bytes in
      (try? writer.append(documentValue: bytes)) != nil
    }
    return isKey && writer.count <= room ? writer.bytes : nil
  }

  /// The least key that is greater than all that begin with a prefix; nil if there is none.
  private static func end(of prefix: [UInt8]) -> [UInt8]? {
    guard let last = prefix.lastIndex(where: { $0 != 0xFF }) else { return nil }
    return prefix[..<last] + [prefix[last] + 1]
  }
}

extension FilterComparator {
  /// The operator with its sides exchanged; nil if it has none.
  fileprivate var mirrored: FilterComparator? {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: nil
    }
  }
}
