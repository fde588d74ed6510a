// The result of one aggregate.

public import StrataDocuments
public import StrataTables

/// What a function gave for some rows of a list, exactly, as if it were computed again from all of them.
public struct AggregateValue: Hashable, Sendable {
  /// The result.
  ///
  /// - A count is an integer.
  /// - A sum is an integer if all numbers are integers, otherwise the double that is nearest to the exact sum; 0 of no
  ///   numbers. A decimal is what its text says, so 0.1 is a tenth. An average is the nearest double.
  /// - A least or greatest value is in the form in which keys keep it: a number that is whole is an integer, and of a
  ///   property of a type of yours that has several components it is the first one. `read(as:)` gives the value itself.
  /// - Of the first or the last row it is the id, as text.
  ///
  /// Null if there is no value: an average, a least or greatest value, or a row, where no row has a value that counts. Also
  /// null for a sum or an average that is too large for a double.
  public var value: DocumentValue
  /// How many values are left out because they are not finite: for a sum or an average NaN and infinities, for the others,
  /// but for counts, NaN alone.
  public var notFiniteCount = 0
  /// How many values are left out because they are of another kind: for a sum or an average those that are no numbers, for
  /// the others, but for counts, arrays, objects and tagged values. Null and missing values are not among them.
  public var otherKindCount = 0
  /// The bytes of the value as a key; nil for the id of a row, and where there is none.
  private var key: [UInt8]?

  init(_ value: DocumentValue) { self.value = value }

  /// A value that was read from a key.
  init(key: [UInt8]) {
    value = key.withUnsafeBytes { bytes in
      var reader = SortKeyReader(bytes)
      return (try? reader.readAnything()) ?? .null
    }
    self.key = key
  }

  /// A number, or a least or greatest value, as the type of its property: `read(as: Date.self)`. Nil if there is no value,
  /// or if the type does not have it; a property that is an optional is read as what it wraps.
  public func read<Value: SortKey>(as type: Value.Type = Value.self) -> Value? {
    if value.isNull { return nil }
    let key = key ?? value.sortKey
    return key?.withUnsafeBytes { bytes in
      var reader = SortKeyReader(bytes)
      return try? reader.read(Value.self)
    }
  }
}

extension DocumentValue {
  /// The value as a component of a key.
  fileprivate var sortKey: [UInt8]? {
    var writer = SortKeyWriter()
    let isKey = cbor().withUnsafeBytes { bytes in
      do throws(SortKeyError) { try writer.append(documentValue: bytes) } catch { return false }
      return true
    }
    return isKey ? writer.bytes : nil
  }
}

extension ListTotals {
  /// The result of a part for one section, shown or not. O(log n).
  package func value(ofPart index: Int, in section: UnsafeRawBufferPointer) -> AggregateValue {
    let (part, state) = (plan.parts[index], state)
    guard let field = part.field else { return AggregateValue(DocumentValue(rowCount(of: section))) }
    return value(
      part, state.totals(of: section, plan).fields[field],
      extreme: plan.fields[field].order.flatMap { order in
        state.extreme(isLast: part.function.isLast, order: order, of: section)
      })
  }

  /// The result of a part for all rows of the list, shown or not. O(sections · log n).
  package func value(ofPart index: Int) -> AggregateValue {
    let (part, state) = (plan.parts[index], state)
    guard let field = part.field else { return AggregateValue(DocumentValue(rowCount)) }
    return value(
      part, state.totals(plan).fields[field],
      extreme: plan.fields[field].order.flatMap { order in
        state.extreme(isLast: part.function.isLast, order: order)
      })
  }

  /// The results of all parts for one section.
  package func values(in section: UnsafeRawBufferPointer) -> [AggregateValue] {
    plan.parts.indices.map { value(ofPart: $0, in: section) }
  }

  private func value(
    _ part: AggregatePlan.Part, _ totals: FieldTotals, extreme: @autoclosure () -> Extreme?
  ) -> AggregateValue {
    let numberCount = totals.count - totals.sum.notFiniteCount - totals.sum.notNumberCount
    var result: AggregateValue
    switch part.function {
    case .count: return AggregateValue(DocumentValue(totals.count))
    case .sum: result = AggregateValue(totals.sum.value ?? .null)
    case .average:
      let average = numberCount == 0 ? nil : totals.sum.average(of: numberCount)
      result = AggregateValue(average.map { .double($0) } ?? .null)
    case .minimum, .maximum: result = extreme().map { AggregateValue(key: $0.key) } ?? AggregateValue(.null)
    case .first, .last: result = AggregateValue(extreme().map { .string($0.id) } ?? .null)
    }
    let isSum = part.function.needsSum
    result.notFiniteCount = isSum ? totals.sum.notFiniteCount : totals.notANumberCount
    result.otherKindCount = isSum ? totals.sum.notNumberCount : totals.unorderedCount
    return result
  }
}

extension AggregateFunction {
  /// Whether it is about the greatest value, and not about the least.
  fileprivate var isLast: Bool { self == .maximum || self == .last }
}
