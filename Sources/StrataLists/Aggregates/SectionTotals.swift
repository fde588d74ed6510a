// The totals of one section, and how a tree holds them.

internal import StrataTables

/// What is counted and summed of one field in one section.
struct FieldTotals {
  /// The rows with a value, of any kind.
  var count = 0
  /// Those of them that are NaN.
  var notANumberCount = 0
  /// Those of them that have no place in an order.
  var unorderedCount = 0
  /// Of the numbers; nothing if no function needs it.
  var sum = ExactSum()

  var isNothing: Bool { count == 0 && sum.isNothing }

  mutating func add(_ value: AggregatedValue) { change(value, by: 1) }
  mutating func remove(_ value: AggregatedValue) { change(value, by: -1) }

  private mutating func change(_ value: AggregatedValue, by difference: Int) {
    switch value.kind {
    case .nothing: return
    case .ordered: break
    case .notANumber: notANumberCount += difference
    case .unordered: unorderedCount += difference
    }
    count += difference
    if difference > 0 { sum.add(value.number) } else { sum.remove(value.number) }
  }

  mutating func add(_ other: FieldTotals) {
    count += other.count
    notANumberCount += other.notANumberCount
    unorderedCount += other.unorderedCount
    sum.add(other.sum)
  }
}

/// The totals of one section: one for each field.
struct SectionTotals {
  var fields: [FieldTotals]

  init(_ plan: AggregatePlan) { fields = Array(repeating: FieldTotals(), count: plan.fields.count) }

  /// Reads what `bytes` made.
  init(_ bytes: UnsafeRawBufferPointer, _ plan: AggregatePlan) {
    self.init(plan)
    var offset = 0
    for index in fields.indices {
      fields[index].count = Int(bytes.number(at: &offset) as Int64)
      fields[index].notANumberCount = Int(bytes.number(at: &offset) as Int64)
      fields[index].unorderedCount = Int(bytes.number(at: &offset) as Int64)
      if plan.fields[index].needsSum { fields[index].sum = ExactSum(bytes, at: &offset) }
    }
  }

  func bytes(_ plan: AggregatePlan) -> [UInt8] {
    var bytes: [UInt8] = []
    for (index, field) in fields.enumerated() {
      for count in [field.count, field.notANumberCount, field.unorderedCount] {
        bytes.append(number: Int64(count))
      }
      if plan.fields[index].needsSum { field.sum.append(to: &bytes) }
    }
    return bytes
  }

  var isNothing: Bool { fields.allSatisfy(\.isNothing) }

  mutating func add(_ other: SectionTotals) {
    for index in fields.indices { fields[index].add(other.fields[index]) }
  }
}
