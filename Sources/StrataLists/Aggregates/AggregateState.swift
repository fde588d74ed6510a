// The aggregates of one state of a list: a value that shares what did not change with those of other states.

internal import StrataTables

/// Totals by section, and the values of each ordered field by section.
struct AggregateState: Sendable {
  /// Section → `SectionTotals`. A section without a value has none.
  var totals = Tree(pageSize: TreePages.sections)
  /// For each ordered field: section ‖ value ‖ id → the lengths of section and id. So the least and the greatest value
  /// are the first and the last entry of a section, whichever values are removed.
  var orders: [Tree]

  init(_ plan: AggregatePlan) {
    orders = Array(repeating: Tree(pageSize: TreePages.view), count: plan.orderCount)
  }

  func totals(of section: UnsafeRawBufferPointer, _ plan: AggregatePlan) -> SectionTotals {
    totals.withValue(of: section) { $0.map { SectionTotals($0, plan) } } ?? SectionTotals(plan)
  }

  /// The totals of all sections. O(sections).
  func totals(_ plan: AggregatePlan) -> SectionTotals {
    var sum = SectionTotals(plan)
    totals.forEach(in: 0..<totals.count) { _, bytes in sum.add(SectionTotals(bytes, plan)) }
    return sum
  }

  /// The least or the greatest entry of a section, as value ‖ id, with the length of the id. O(log n).
  func extreme(isLast: Bool, order: Int, of section: UnsafeRawBufferPointer) -> Extreme? {
    let ranks = orders[order].ranks(withPrefix: section)
    return ranks.isEmpty ? nil : entry(at: isLast ? ranks.upperBound - 1 : ranks.lowerBound, order)
  }

  /// The least or the greatest entry of all sections. O(sections · log n).
  func extreme(isLast: Bool, order: Int) -> Extreme? {
    var (best, rank): (Extreme?, Int) = (nil, 0)
    while rank < orders[order].count {
      let section = orders[order].withEntry(at: rank) { key, lengths in Array(ItemKey(key, lengths).section) }
      let end = section.withUnsafeBytes { orders[order].ranks(withPrefix: $0).upperBound }
      let found = entry(at: isLast ? end - 1 : rank, order)
      if best.map({ $0.bytes.lexicographicallyPrecedes(found.bytes) == isLast }) ?? true { best = found }
      rank = end
    }
    return best
  }

  private func entry(at rank: Int, _ order: Int) -> Extreme {
    orders[order].withEntry(at: rank) { key, lengths in
      let item = ItemKey(key, lengths)
      return Extreme(bytes: Array(key[item.sectionLength...]), idLength: item.idLength)
    }
  }

  /// Lends each section whose totals or ordered values differ, some of them more than once. Costs what the two states do
  /// not share.
  static func forEachDifference(
    from old: AggregateState, to new: AggregateState, _ body: (UnsafeRawBufferPointer) -> Void
  ) {
    Tree.forEachDifference(from: old.totals, to: new.totals) { body($0.key) }
    for (old, new) in zip(old.orders, new.orders) {
      Tree.forEachDifference(from: old, to: new) { difference in
        if let lengths = difference.oldValue ?? difference.newValue {
          body(ItemKey(difference.key, lengths).section)
        }
      }
    }
  }
}

/// The least or the greatest value of a field.
struct Extreme: Equatable {
  /// Value ‖ id.
  var bytes: [UInt8]
  var idLength: Int

  var key: [UInt8] { Array(bytes.dropLast(idLength)) }
  var id: String { String(decoding: bytes.suffix(idLength), as: UTF8.self) }
}

/// A change of a state by rows that come and go.
struct AggregateEdit {
  private let plan: AggregatePlan
  private var state: AggregateState
  private var open: [[UInt8]: SectionTotals] = [:]

  init(_ state: AggregateState, _ plan: AggregatePlan) {
    self.state = state
    self.plan = plan
  }

  mutating func add(_ values: [AggregatedValue], _ section: [UInt8], _ id: UnsafeRawBufferPointer) {
    change(section) { totals in
      for (index, value) in values.enumerated() { totals.fields[index].add(value) }
    }
    forEachOrdered(values, section, id) { tree, key, lengths in
      let isNew = tree.set(key, lengths)
      assert(isNew, "the value of a row is in an aggregate twice")
    }
  }

  mutating func remove(_ values: [AggregatedValue], _ section: [UInt8], _ id: UnsafeRawBufferPointer) {
    change(section) { totals in
      for (index, value) in values.enumerated() { totals.fields[index].remove(value) }
    }
    forEachOrdered(values, section, id) { tree, key, _ in
      let exists = tree.remove(key)
      assert(exists, "the value of a row is not in an aggregate")
    }
  }

  private mutating func change(_ section: [UInt8], _ body: (inout SectionTotals) -> Void) {
    let (state, plan) = (state, plan)
    body(&open[section, default: section.withUnsafeBytes { state.totals(of: $0, plan) }])
  }

  private mutating func forEachOrdered(
    _ values: [AggregatedValue], _ section: [UInt8], _ id: UnsafeRawBufferPointer,
    _ body: (inout Tree, _ key: UnsafeRawBufferPointer, _ lengths: UnsafeRawBufferPointer) -> Void
  ) {
    for (index, value) in values.enumerated() {
      guard let order = plan.fields[index].order, let key = value.orderKey(section, id) else { continue }
      var lengths = ItemKey.lengths(section: section.count, id: id.count)
      key.withUnsafeBytes { key in
        withUnsafeBytes(of: &lengths) { body(&state.orders[order], key, $0) }
      }
    }
  }

  /// The state with all changes.
  consuming func finish() -> AggregateState {
    var state = state
    for (section, totals) in open {
      section.withUnsafeBytes { section in
        if totals.isNothing {
          state.totals.remove(section)
        } else {
          totals.bytes(plan).withUnsafeBytes { _ = state.totals.set(section, $0) }
        }
      }
    }
    return state
  }
}

extension AggregatedValue {
  /// Section ‖ value ‖ id; nil if the value has no place in the order. Of a value that is longer than sort keys may be, the
  /// beginning counts.
  func orderKey(_ section: [UInt8], _ id: UnsafeRawBufferPointer) -> [UInt8]? {
    guard case .ordered(let key) = kind else { return nil }
    return section + PlacedKey.cut(key, idLength: id.count) + id
  }
}
