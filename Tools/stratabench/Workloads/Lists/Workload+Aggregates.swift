// Measures aggregates: what they add to one change of a list, and making them of all rows.

internal import StrataLists
internal import StrataSimulation
internal import StrataTables

extension Workload {
  /// One change of a row, applied and compared, in a list of 200 sections: without aggregates, with a sum by section, and
  /// with a sum and a greatest value.
  static func aggregates(_ bench: Bench) throws {
    let size = min(bench.corpus.count, 1_000_000)
    let rows = ListCorpus.rows(size)
    var (random, plain) = (SeededGenerator(seed: 3), 0.0)
    let variants: [(name: String, aggregates: [String])] = [
      ("no aggregate", []), ("sum:note", ["sum:note"]), ("sum:note, max:time", ["sum:note", "max:time"]),
    ]
    for (name, texts) in variants {
      var list = try MeasuredList(rows, aggregates: texts)
      var shown = list.version()
      let made = seconds { shown.totals?.make() }
      var times: [Double] = []
      for round in 0..<max(2_000, bench.rounds * 200) {
        var row = rows[Int.random(in: rows.indices, using: &random)]
        (row.note, row.time) = (round + 1, row.time + round)
        let change = row.put
        let start = now()
        list.apply(change)
        let new = list.version()
        let batch = ListDiff(from: shown, to: new)
        times.append(now() - start)
        precondition(!batch.isEmpty && batch.sectionUpdates.isEmpty == texts.isEmpty)
        shown = new
      }
      let whole = median(times)
      if texts.isEmpty { plain = whole }
      report(
        "one change among \(size), \(name)",
        texts.isEmpty
          ? microseconds(whole)
          : "\(microseconds(whole)), \(microseconds(whole - plain)) more; made of all rows: \(milliseconds(made))"
      )
    }
  }
}
