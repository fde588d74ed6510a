// Measures questions about rows: with an index and without one, and what the index costs.

internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataSimulation
internal import StrataTables

extension Workload {
  /// Prints the time of a question, its rows decoded, by an index over section and time, beside reading all rows.
  static func ask(_ bench: Bench) async throws {
    try aggregates(bench)
    let count = bench.corpus.count
    let path = bench.scratch.fresh("ask")
    let rows = StateRow.rows(count)
    var store = try await EventStore.open(at: path)
    for start in stride(from: 0, to: count, by: 10_000) {
      _ = try await store.append(rows[start..<min(start + 10_000, count)].map(\.event))
    }
    report("rows", "\(count)")
    let folded = try await seconds {
      _ = try await store.documents("incident").count(where: "$id != null")
    }
    report("folding them", milliseconds(folded))
    let scans = try await bench.medians(of: [.one, .hundred, .count], rows, store, rounds: 20)
    let incidents = store.documents("incident")
    let fields = [FieldPath(names: ["product"]), FieldPath(names: ["time"])]
    let built = try await seconds {
      try await incidents.index("by product and time", on: fields[0], fields[1]).ready()
    }
    report("building the index", milliseconds(built))
    for (question, scan) in zip([Question.one, .hundred, .count], scans) {
      let times = try await bench.medians(of: [question], rows, store, rounds: 20_000)
      report(question.rawValue, "\(microseconds(times[0])), all rows read: \(milliseconds(scan))")
    }
    let plain = try await changes(rows, store)
    try await store.close()
    report("bytes of states, with the index", "\(bytesOnDisk("\(path)/derived"))")
    store = try await EventStore.open(at: path)
    let again = try await seconds {
      try await store.documents("incident").index("by product and time", on: fields[0], fields[1]).ready()
    }
    report("the index in the next process", milliseconds(again))
    report("an append of a change and a question about it", microseconds(plain))
    try await store.close()
  }

  fileprivate enum Question: String {
    case one = "the rows of one product at one time"
    case hundred = "about a hundred rows of one product"
    case count = "the number of rows of one product"
  }

  private static func changes(_ rows: [StateRow], _ store: EventStore) async throws -> Double {
    var random = SeededGenerator(seed: 4)
    var times: [Double] = []
    for number in 0..<200 {
      var row = rows.randomElement(using: &random)!
      row.note = number
      times.append(
        try await seconds {
          _ = try await store.append([row.event])
          _ = try await store.documents("incident").count(where: "product == 'PROD101'")
        })
    }
    return median(times)
  }
}

extension Bench {
  /// The median time of each question about random rows.
  fileprivate func medians(
    of questions: [Workload.Question], _ rows: [StateRow], _ store: EventStore, rounds: Int
  ) async throws -> [Double] {
    var random = SeededGenerator(seed: 3)
    let incidents = store.documents("incident")
    var medians: [Double] = []
    for question in questions {
      var times: [Double] = []
      for _ in 0..<rounds {
        let row = rows.randomElement(using: &random)!
        let (product, time) = ("PROD\(100 + row.product)", 1_300_000_000 + row.time)
        // The rows of a product are spread evenly over ten million seconds.
        let span = 10_000_000 / max(1, rows.count / StateRow.sectionCount) * 100
        let filter: RowFilter =
          switch question {
          case .one: try RowFilter("product == \(product) && time == \(time)")
          case .hundred: try RowFilter("product == \(product) && time >= \(time) && time < \(time + span)")
          case .count: try RowFilter("product == \(product)")
          }
        times.append(
          try await seconds {
            if question == .count {
              _ = try await incidents.count(where: filter)
            } else {
              _ = try await incidents.all(where: filter)
            }
          })
      }
      medians.append(median(times))
    }
    return medians
  }
}
