// The aggregates of one version of a list, made when they are first asked for.

package import StrataBase
internal import StrataDocuments
package import StrataTables

/// The aggregates of a list at one moment. They are a function of the table and the view alone: made from those of a state
/// nearby by the rows that differ, O(d log n) for d of them, or from all rows, O(n log n), whichever is less.
package final class ListTotals: Sendable {
  // Sendable by its lock. Two threads that ask at once may both make the state; it is the same.
  package let plan: AggregatePlan
  let sequence: UInt64
  private let table: Table
  private let view: View
  private let made: Lock<Made>

  private struct Made: Sendable {
    var state: AggregateState?
    /// What was begun of it; nil while a thread goes on with it.
    var build: AggregateBuild?
  }

  package init(_ plan: AggregatePlan, table: Table, view: View, sequence: UInt64) {
    self.plan = plan
    self.sequence = sequence
    self.table = table
    self.view = view
    made = Lock(Made())
    plan.remember(self)
  }

  private var known: AggregateState? { made.withLock { $0.state } }

  /// Makes the state for a slice. Returns whether it is there.
  package func resume(_ slice: TimeSlice) -> Bool {
    if prepare() { return true }
    let begun = made.withLock { made in
      defer { made.build = nil }
      return made.build
    }
    var build = begun ?? AggregateBuild(plan)
    repeat {
      guard build.resume(table, view, plan) else { continue }
      let state = build.finish(plan)
      made.withLock { $0.state = $0.state ?? state }
      return true
    } while !slice.isOver
    let left = build
    made.withLock { $0.build = left }
    return false
  }

  /// Makes the state if few rows differ from those of a state that is known. Returns whether it is there.
  ///
  /// - Parameter rowCountMax: how many rows are few in any case.
  package func prepare(rowCountMax: Int = .max) -> Bool {
    if known != nil { return true }
    for other in plan.remembered(near: sequence) where other !== self {
      guard let state = other.known else { continue }
      guard let derived = derived(from: state, of: other, rowCountMax) else { return false }
      made.withLock { $0.state = $0.state ?? derived }
      return true
    }
    return false
  }

  /// Makes the state, however long that takes.
  package func make() { while !resume(TimeSlice()) {} }

  var state: AggregateState {
    make()
    guard let state = known else { preconditionFailure("the aggregates of a list were not made") }
    return state
  }

  /// Lends each section whose aggregates may differ from those of another state. Costs what the two do not share.
  package func forEachChangedSection(since old: ListTotals, _ body: (UnsafeRawBufferPointer) -> Void) {
    // The older one first, so that the newer one is made from it.
    let oldState = old.state
    AggregateState.forEachDifference(from: oldState, to: state, body)
  }

  /// How many rows the list has, shown or hidden by a window.
  var rowCount: Int { view.count }

  /// How many of them are in a section.
  func rowCount(of section: UnsafeRawBufferPointer) -> Int {
    section.isEmpty ? view.count : view.itemCount(of: section)
  }

  // MARK: From another state

  private struct TooMany: Error {}

  /// The fewest rows that may differ, and how many times as many rows a list then has at least, for which going through the
  /// differences takes less than going through the list.
  private static let (differenceCountMin, rowsPerDifference) = (64, 4)

  private func derived(
    from state: AggregateState, of other: ListTotals, _ rowCountMax: Int
  ) -> AggregateState? {
    let (oldView, newView) = (other.view, view)
    guard oldView.definition.identity == newView.definition.identity, !oldView.isApart(from: newView) else {
      return nil
    }
    var left = min(rowCountMax, max(Self.differenceCountMin, newView.count / Self.rowsPerDifference))
    if let cost = Table.changeCost(from: other.table, to: table), cost > left { return nil }
    var edit = AggregateEdit(state, plan)
    var writer = SortKeyWriter()
    do throws(TooMany) {
      try Table.forEachChange(from: other.table, to: table) { (change) throws(TooMany) in
        guard left > 0 else { throw TooMany() }
        left -= 1
        let old = change.old.flatMap { place(of: $0, in: oldView, &writer) }
        let new = change.new.flatMap { place(of: $0, in: newView, &writer) }
        if let old, let new, old.section == new.section, old.values == new.values { return }
        if let old { edit.remove(old.values, old.section, change.id) }
        if let new { edit.add(new.values, new.section, change.id) }
      }
    } catch { return nil }
    return edit.finish()
  }

  /// The section of a row and its values; nil if the list does not have it.
  private func place(
    of row: RowView, in view: View, _ writer: inout SortKeyWriter
  ) -> (section: [UInt8], values: [AggregatedValue])? {
    let key = view.key(of: row)
    guard key.isShown else { return nil }
    return (Array(key.bytes[..<key.sectionLength]), plan.values(of: row, &writer))
  }
}

/// The making of a state from all rows of a list.
struct AggregateBuild: Sendable {
  /// How many rows are read between two looks at the slice.
  private static let stepCount = 256

  private var state: AggregateState
  /// The rank of the next item.
  private var next = 0
  /// The section that is being read, and its totals.
  private var section: [UInt8]?
  private var totals: SectionTotals
  /// The keys of each order in this section, with the lengths of their ids.
  private var keys: [[(key: [UInt8], idLength: Int)]]

  init(_ plan: AggregatePlan) {
    state = AggregateState(plan)
    totals = SectionTotals(plan)
    keys = Array(repeating: [], count: plan.orderCount)
  }

  /// Reads the next rows. Returns whether they were the last ones.
  mutating func resume(_ table: Table, _ view: View, _ plan: AggregatePlan) -> Bool {
    let end = min(next + Self.stepCount, view.count)
    var items: [(section: [UInt8], id: [UInt8])] = []
    view.forEachItem(in: next..<end) { items.append((Array($0.section), Array($0.id))) }
    table.willRead(items.map(\.id))
    var writer = SortKeyWriter()
    for (section, id) in items {
      if section != self.section { endSection(plan) }
      self.section = section
      id.withUnsafeBytes { id in
        table.withRow(id) { row in
          guard let row else { return }
          for (index, value) in plan.values(of: row, &writer).enumerated() {
            totals.fields[index].add(value)
            guard let order = plan.fields[index].order, let key = value.orderKey(section, id) else {
              continue
            }
            keys[order].append((key, id.count))
          }
        }
      }
    }
    next = end
    return end == view.count
  }

  private mutating func endSection(_ plan: AggregatePlan) {
    guard let section else { return }
    if !totals.isNothing {
      section.withUnsafeBytes { section in
        totals.bytes(plan).withUnsafeBytes { _ = state.totals.set(section, $0) }
      }
    }
    totals = SectionTotals(plan)
    for order in keys.indices {
      // In ascending order, so that pages are filled one after the other.
      keys[order].sort { $0.key.lexicographicallyPrecedes($1.key) }
      for (key, idLength) in keys[order] {
        var lengths = ItemKey.lengths(section: section.count, id: idLength)
        key.withUnsafeBytes { key in
          withUnsafeBytes(of: &lengths) { _ = state.orders[order].set(key, $0) }
        }
      }
      keys[order].removeAll(keepingCapacity: true)
    }
  }

  mutating func finish(_ plan: AggregatePlan) -> AggregateState {
    endSection(plan)
    section = nil
    return state
  }
}
