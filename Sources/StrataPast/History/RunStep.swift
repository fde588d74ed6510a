// A state that is made from another one, by the rows in which they differ.

internal import StrataBase
internal import StrataTables

/// Takes a state to another moment, later or earlier, in slices. Belongs to one thread at a time.
///
/// Only the rows that an event in between changed are read, as they were at the new moment, and put into the tables and
/// their views: what a row was does not depend on the direction from which it is reached. The two states share all other
/// pages. O(changes in between · log n).
final class RunStep {
  /// Rows between two looks at the slice.
  private static let stepCount = 64

  private let set: RunSet
  private let target: UInt64
  private let moment: RunSet.Moment
  private let failures: ProjectionFailures
  /// Whether the rows of a table are wanted, by its number.
  private let isWanted: [Bool]
  private let changed: RunChangedKeys
  private let rows: RunRows
  private var state: TableSet
  private var stored: [UInt8] = []
  private let scratch = FoldScratch()

  /// - Parameters:
  ///   - state: a state that the runs have.
  ///   - target: an event that they have.
  ///   - names: the tables that are wanted, nil for all. The others stay as they are.
  init(
    _ set: RunSet, from state: TableSet, to target: UInt64, only names: Set<String>?
  ) throws(PageDamage) {
    self.set = set
    self.target = target
    self.state = state
    moment = try set.moment(target)
    failures = try set.allFailures(at: target, count: moment.failures)
    isWanted = set.tables.map { names?.contains($0.name) ?? true }
    changed = try RunChangedKeys(
      set, after: min(state.sequence, target), through: max(state.sequence, target))
    rows = RunRows(set, at: target)
    for table in set.tables where table.first > state.sequence && table.first <= target {
      if isWanted[Int(table.number)] { self.state.withTable(table.name) { $0.noteWritten() } }
    }
  }

  /// Goes on for a slice. Returns the state once it is complete, and nil before that.
  func resume(_ slice: TimeSlice?) throws(PageDamage) -> TableSet? {
    while true {
      for _ in 0..<Self.stepCount {
        guard try changed.next() else { return finish() }
        try takeRow()
      }
      if let slice, slice.isOver { return nil }
    }
  }

  private func takeRow() throws(PageDamage) {
    let key = changed.key
    let number = Int(key.withUnsafeBytes { RunKey.table($0) })
    guard number < set.tables.count else { throw PageDamage("a row is of a table that was not there") }
    guard isWanted[number] else { return }
    let new = try rows.version(of: key)
    guard key.count - RunKey.tableLength <= Tree.keyLengthMax,
      new?.bytes.count ?? 0 <= Tree.valueLengthMax - StoredRow.headLength
    else { throw PageDamage("a row of a run is too long") }
    key.withUnsafeBytes { key in
      let id = RunKey.id(key)
      state.withTable(set.tables[number].name) { table in
        guard let new, new.version.kind != .gone else { return table.remove(id: id, scratch) }
        if new.version.kind == .problem {
          return table.refuse(id: id, because: String(decoding: new.bytes, as: UTF8.self), scratch)
        }
        let row = RowView(
          id: id, revision: new.version.sequence, created: new.version.created, time: new.version.time,
          document: new.bytes)
        StoredRow.write(row, to: &stored)
        stored.withUnsafeMutableBytes { table.put(id: id, stored: $0, .created, scratch) }
      }
    }
  }

  private func finish() -> TableSet {
    let later = Set(
      set.tables.filter { $0.first > target && isWanted[Int($0.number)] }.map { Array($0.name.utf8) })
    if target < state.sequence { state.takeBackWrites { later.contains($0.nameBytes) } }
    (state.sequence, state.time, state.chain) = (target, moment.time, nil)
    (state.appendCount, state.failures) = (moment.appends, failures)
    return state
  }
}

extension RunSet {
  /// The failures up to an event.
  ///
  /// - Parameter count: how many there are, of which the first are listed.
  func allFailures(at sequence: UInt64, count: UInt64) throws(PageDamage) -> ProjectionFailures {
    let listed = try failures(at: sequence)
    guard let count = Int(exactly: count), listed.count == min(count, ProjectionFailures.listedCountMax)
    else { throw PageDamage("the runs have other failures than they count") }
    return ProjectionFailures(listed: listed, count: count)
  }
}
