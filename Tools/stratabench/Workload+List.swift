// One change of a list, and many, beside what a program without Strata does.

internal import Foundation
internal import StrataEvents
internal import StrataFetch
internal import StrataTables
internal import StrataTesting

extension Workload {
  static func list(_ bench: Bench) async throws {
    var first = 0.0
    for size in [100, 10_000, 1_000_000] {
      let (change, detail) = try oneChange(in: size)
      if size == 100 { first = change }
      report(
        "one change in \(size)",
        "\(microseconds(change)) to snapshot and batch (\(detail))   \(ratio(change, first)) × of a hundred")
      let peer = sortedArray(size)
      report("  beside it: sorted array", "\(microseconds(peer.array)), \(ratio(peer.array, change)) ×")
      report(
        "  and difference(from:)", "\(microseconds(peer.difference)), \(ratio(peer.difference, change)) ×")
    }
  }

  /// The median time of one change: applied, published, and the batch found.
  private static func oneChange(in size: Int) throws -> (Double, String) {
    let list = try ListCorpus.list
    var set = filled(size, list)
    let scratch = FoldScratch()
    var random = SeededGenerator(seed: 3)
    var rows = ListCorpus.rows(size)
    var shown = version(of: set, list)
    var times: [Double] = []
    var applying: [Double] = []
    var changes = 0
    for round in 0..<2_000 {
      let place = Int.random(in: 0..<size, using: &random)
      rows[place].time = 20_000_000 + round
      let change = rows[place].put
      let start = now()
      set.apply(change, UInt64(size + round + 1), scratch)
      let applied = now()
      let new = version(of: set, list)
      let diff = ListDiff(from: shown, to: new)
      times.append(now() - start)
      applying.append(applied - start)
      changes += diff.moves.count + diff.updates.count
      shown = new
    }
    precondition(changes == 2_000)
    return (median(times), "of it \(microseconds(median(applying))) to apply")
  }

  /// What a program does that keeps its list in an array: finds the place, puts it in, and asks for the difference.
  private static func sortedArray(_ size: Int) -> (array: Double, difference: Double) {
    var random = SeededGenerator(seed: 3)
    var rows = ListCorpus.rows(size)
    func precedes(_ a: Incident, _ b: Incident) -> Bool {
      (a.product, b.time, a.number) < (b.product, a.time, b.number)
    }
    var sorted = rows.sorted(by: precedes)
    var ids = sorted.map(\.number)
    func place(_ row: Incident) -> Int {
      var (low, high) = (0, sorted.count)
      while low < high {
        let middle = (low + high) / 2
        if precedes(sorted[middle], row) { low = middle + 1 } else { high = middle }
      }
      return low
    }
    var array: [Double] = []
    var difference: [Double] = []
    for round in 0..<(size > 100_000 ? 3 : 50) {
      let index = Int.random(in: 0..<size, using: &random)
      let start = now()
      sorted.remove(at: place(rows[index]))
      rows[index].time = 20_000_000 + round
      sorted.insert(rows[index], at: place(rows[index]))
      let middle = now()
      let newIDs = sorted.map(\.number)
      let found = newIDs.difference(from: ids)
      difference.append(now() - middle)
      array.append(middle - start)
      precondition(found.count <= 2)
      ids = newIDs
    }
    return (median(array), median(difference))
  }

  static func diff(_ bench: Bench) async throws {
    let size = 1_000_000
    let list = try ListCorpus.list
    var set = filled(size, list)
    let scratch = FoldScratch()
    for changes in [1, 10, 1_000, 10_000] {
      var rows: [Double] = []
      var whole: [Double] = []
      var random = SeededGenerator(seed: UInt64(changes))
      for round in 0..<max(3, bench.rounds) {
        let old = version(of: set, list)
        for index in 0..<changes {
          // A third each moves, changes its section, and changes something else.
          var row = Incident(
            number: Int.random(in: 0..<size, using: &random), time: index, product: index % 200)
          row.note = round + index
          set.apply(row.put, UInt64(size + index), scratch)
        }
        let new = version(of: set, list)
        rows.append(
          ProcessorTime.of {
            var count = 0
            Table.forEachChange(from: old.table, to: new.table) { _ in count += 1 }
            precondition(count > 0)
          })
        whole.append(ProcessorTime.of { precondition(!ListDiff(from: old, to: new).isEmpty) })
      }
      report(
        "\(changes) changes apart of a million",
        "rows \(microseconds(median(rows))), batch with positions \(microseconds(median(whole)))")
    }
  }

  static func memory(_ bench: Bench) async throws {
    let size = 1_000_000
    let list = try ListCorpus.list
    let rows = ListCorpus.rows(size)
    let documents = rows.reduce(0) { $0 + $1.document.count }
    let start = residentBytes()
    var set = TableSet()
    let scratch = FoldScratch()
    for (index, row) in rows.enumerated() { set.apply(row.put, UInt64(index + 1), scratch) }
    let table = residentBytes()
    set.withTable("incident") { $0.addView(list.definition) }
    let view = residentBytes()
    var versions: [TableSet] = []
    for index in 0..<1_000 {
      versions.append(set)
      var row = rows[index * 997 % size]
      row.time = index
      set.apply(row.put, UInt64(size + index), scratch)
    }
    report("a row of \(documents / size) bytes", "\((table - start) / size) bytes in its table")
    report("a row in a view", "\((view - table) / size) bytes, and as much again while it is built")
    // Counted by pages: what building the view gave back would hide it in the process's memory.
    func bytes(_ sets: [TableSet]) -> Int {
      let tables = sets.map { $0["incident"] }
      return Tree.statistics(
        of: tables.map(\.rows) + tables.flatMap { $0.views.flatMap { [$0.items, $0.sections] } }
      )
      .bytesAllocated
    }
    report("a version kept", "\((bytes(versions + [set]) - bytes([set])) / 1_000) bytes for one change")
  }

  private static func filled(_ size: Int, _ list: CompiledList) -> TableSet {
    var set = TableSet()
    let scratch = FoldScratch()
    for (index, row) in ListCorpus.rows(size).enumerated() {
      set.apply(row.put, UInt64(index + 1), scratch)
    }
    set.withTable("incident") { $0.addView(list.definition) }
    return set
  }

  private static func version(of set: TableSet, _ list: CompiledList) -> ListVersion {
    ListVersion(
      set, table: "incident", view: list.definition.identity, window: list.window,
      isSectioned: list.isSectioned)
  }
}

func microseconds(_ seconds: Double) -> String { String(format: "%.1f µs", seconds * 1e6) }

func ratio(_ a: Double, _ b: Double) -> String { String(format: "%.2f", a / b) }

/// Bytes of memory that the process holds; 0 where the system does not say.
func residentBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
  let fields = text.split(separator: " ")
  return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4_096 : 0
}
