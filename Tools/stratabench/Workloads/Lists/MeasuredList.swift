// A list that is measured without a fetch controller: a table of incidents with one view, changed row by row.

internal import StrataLists
internal import StrataTables
internal import StrataSimulation

struct MeasuredList {
  private(set) var rows: [Incident]
  private var set = TableSet()
  private var list: CompiledList
  private let scratch = FoldScratch()
  private var sequence: UInt64 = 0

  /// - Parameter aggregates: as text, such as `sum:note`.
  init(_ rows: [Incident], aggregates: [String] = []) throws {
    self.rows = rows
    list = try ListCorpus.list
    list.aggregates =
      try ListRequest(DocumentRow.self)
      .aggregated(aggregates.map { text throws(ListError) in try ListAggregate(text) })
      .compiled { (row) throws(RowProblem) in try DocumentRow(row) }.aggregates
    for row in rows { apply(row.put) }
    set.withTable("incident") { $0.addView(list.definition) }
  }

  mutating func apply(_ change: ListCorpus.Change) {
    sequence += 1
    set.apply(change, sequence, scratch)
  }

  func version() -> ListVersion {
    ListVersion(set, table: "incident", list)
  }

  /// A change, ready to be applied, that makes a random row the newest one.
  mutating func renewal(_ random: inout SeededGenerator) -> ListCorpus.Change {
    let place = Int.random(in: rows.indices, using: &random)
    rows[place].time = 20_000_000 + Int(sequence)
    return rows[place].put
  }
}

/// The state of a program without lists: the rows in a sorted array, and the ids that it showed last.
struct SortedArray {
  private var rows: [Incident]
  private var sorted: [Incident]
  private(set) var ids: [Int]
  private var count = 0

  init(_ rows: [Incident]) {
    self.rows = rows
    sorted = rows.sorted(by: Self.precedes)
    ids = sorted.map(\.number)
  }

  static func precedes(_ a: Incident, _ b: Incident) -> Bool {
    (a.product, b.time, a.number) < (b.product, a.time, b.number)
  }

  /// Makes a random row the newest one, and moves it to its new position.
  mutating func renew(_ random: inout SeededGenerator) {
    let index = Int.random(in: rows.indices, using: &random)
    sorted.remove(at: place(of: rows[index]))
    rows[index].time = 20_000_000 + count
    count += 1
    sorted.insert(rows[index], at: place(of: rows[index]))
  }

  /// The difference of the flat ids since the last call.
  mutating func difference() -> CollectionDifference<Int> {
    let new = sorted.map(\.number)
    defer { ids = new }
    return new.difference(from: ids)
  }

  private func place(of row: Incident) -> Int {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      if Self.precedes(sorted[middle], row) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
