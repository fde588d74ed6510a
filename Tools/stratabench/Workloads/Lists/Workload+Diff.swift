// Measures the difference of two versions of a large list, and the memory of rows, views and versions.

internal import Foundation
internal import StrataLists
internal import StrataTables
internal import StrataSimulation

extension Workload {
  static func diff(_ bench: Bench) async throws {
    let size = 1_000_000
    var list = try MeasuredList(ListCorpus.rows(size))
    for changes in [1, 10, 1_000, 10_000] {
      var rows: [Double] = []
      var whole: [Double] = []
      var random = SeededGenerator(seed: UInt64(changes))
      for round in 0..<max(3, bench.rounds) {
        let old = list.version()
        for index in 0..<changes {
          // Every change sets the row's time, section and note.
          var row = Incident(
            number: Int.random(in: 0..<size, using: &random), time: index, product: index % 200)
          row.note = round + index
          list.apply(row.put)
        }
        let new = list.version()
        rows.append(
          ProcessorTime.of {
            var count = 0
            Table.forEachChange(from: old.table, to: new.table) { _ in count += 1 }
            precondition(count > 0)
          })
        whole.append(ProcessorTime.of { precondition(!ListDiff(from: old, to: new).isEmpty) })
      }
      report(
        "\(changes) changes in a million",
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
    // Counted in pages, because memory that was freed after building the view would hide the cost in the process's
    // resident memory.
    func bytes(_ sets: [TableSet]) -> Int {
      let tables = sets.map { $0["incident"] }
      return Tree.statistics(
        of: tables.map(\.rows) + tables.flatMap { $0.views.flatMap { [$0.items, $0.sections] } }
      )
      .bytesAllocated
    }
    report("a version kept", "\((bytes(versions + [set]) - bytes([set])) / 1_000) bytes for one change")
  }
}

/// The resident memory of the process in bytes; 0 if the system does not report it.
func residentBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
  let fields = text.split(separator: " ")
  return fields.count > 1 ? (Int(fields[1]) ?? 0) * 4_096 : 0
}
