// Measures folding events into a table with one view, compared with a dictionary, in processor time.

internal import StrataBase
internal import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataTables

extension Workload {
  static func fold(_ bench: Bench) async throws {
    let count = bench.corpus.count
    let corpus = ListCorpus(count: count)
    let store = EventStore.inMemory()
    try await store.append(corpus)
    let list = try ListCorpus.list
    var times: [String: [Double]] = [:]
    for _ in 0..<bench.rounds {
      times["log", default: []].append(
        try ProcessorTime.of {
          let fold = Fold(store.log, .documents(only: ["nothing"]))
          try fold.run(through: UInt64(count))
        })
      times["table", default: []].append(
        try ProcessorTime.of {
          let fold = Fold(store.log, .documents(only: nil))
          try fold.run(through: UInt64(count))
        })
      times["table and view", default: []].append(
        try ProcessorTime.of {
          let fold = Fold(store.log, .documents(only: nil))
          fold.state.withTable("incident") { $0.addView(list.definition) }
          try fold.run(through: UInt64(count))
        })
      for isParallel in [false, true] {
        times["from nothing, \(isParallel ? "all" : "one")", default: []].append(
          try seconds {
            let fold = Fold(store.log, .documents(only: nil))
            try fold.run(through: UInt64(count))
            if isParallel {
              fold.addView(list.definition, of: "incident")
            } else {
              fold.state.withTable("incident") { $0.addView(list.definition) }
            }
          })
      }
      times["published each append", default: []].append(
        try ProcessorTime.of {
          let fold = Fold(store.log, .documents(only: nil))
          fold.state.withTable("incident") { $0.addView(list.definition) }
          var published = fold.state
          try fold.runByAppend(through: UInt64(count)) { published = $0 }
          withExtendedLifetime(published) {}
        })
      times["one event", default: []].append(try await foldOneEvent())
      times["applied alone", default: []].append(apply(corpus, list, isPublished: false))
      times["applied and published", default: []].append(apply(corpus, list, isPublished: true))
      times["dictionary", default: []].append(foldIntoDictionary(corpus))
    }
    func line(_ name: String, _ key: String) {
      let limit = median(times["dictionary"] ?? [])
      let time = median(times[key] ?? [])
      report(
        name, "\(rate(count, time))   dictionary only \(rate(count, limit))   ratio \(ratio(limit, time))")
    }
    line("reading the log, one event per append", "log")
    line("log → table", "table")
    line("log → table and view", "table and view")
    for processors in ["one", "all"] {
      let time = median(times["from nothing, \(processors)"] ?? [])
      report("  the table first, then the view, on \(processors)", "\(rate(count, time)) by the clock")
    }
    line("log → both, published per append", "published each append")
    let fanned = median(times["one event"] ?? [])
    report("one event that writes \(Fanning.rowCount) rows of a projection", rate(Fanning.rowCount, fanned))
    line("table and view without the log", "applied alone")
    line("the same, published per change", "applied and published")
    try await updatesOfOneDocument(rounds: bench.rounds)
    try await helpdesk(bench)
  }

  /// The time for one event whose projection writes a large number of rows.
  private static func foldOneEvent() async throws -> Double {
    let store = EventStore.inMemory()
    try await store.append([NewEvent("imported", in: "import/1", .null)])
    return try ProcessorTime.of {
      let fold = Fold(store.log, .own(Fanning()))
      try fold.run(through: 1)
      precondition(fold.state[Fanning.rows.name].count == Fanning.rowCount)
    }
  }

  private static func apply(_ corpus: ListCorpus, _ list: CompiledList, isPublished: Bool) -> Double {
    var set = TableSet()
    let scratch = FoldScratch()
    set.withTable("incident") { $0.addView(list.definition) }
    var published = set
    return ProcessorTime.of {
      for (index, change) in corpus.changes.enumerated() {
        set.apply(change, UInt64(index + 1), scratch)
        if isPublished { published = set }
      }
      withExtendedLifetime(published) {}
    }
  }

  /// The time for a fold without order, versions and positions.
  private static func foldIntoDictionary(_ corpus: ListCorpus) -> Double {
    var rows: [[UInt8]: [UInt8]] = [:]
    let time = ProcessorTime.of {
      for change in corpus.changes {
        switch change {
        case .put(let id, let document): rows[id] = document
        case .delete(let id): rows[id] = nil
        }
      }
    }
    precondition(!rows.isEmpty)
    return time
  }
}

/// Writes a large number of rows for one event, as an import does.
private struct Fanning: Projection {
  struct Row: Codable, Sendable { var number: Int }

  static let name = "fanning"
  static let version = 1
  static let rows = TableKey<Row>("row")
  static let rowCount = 100_000

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    for number in 0..<Self.rowCount { tables[Self.rows, "\(number)"] = Row(number: number) }
  }
}

extension EventStore {
  /// Appends each change as one append.
  func append(_ corpus: ListCorpus) async throws {
    let changes = corpus.changes
    try await StoreMachine.process.reads.run { [self] in
      var start = 0
      while start < changes.count {
        let drafts = try changes[start..<min(start + 4_096, changes.count)].map { change in
          switch change {
          case .put(let id, let document):
            try draft(
              [
                NewEvent(
                  DocumentEvent.put,
                  in: StreamName(category: "incident", id: String(decoding: id, as: UTF8.self)),
                  payload: EventPayload(codec: .cbor, bytes: document))
              ], id: nil, time: nil, expecting: [:], isOwn: false)
          case .delete(let id):
            try draft(
              [
                NewEvent(
                  DocumentEvent.delete,
                  in: StreamName(category: "incident", id: String(decoding: id, as: UTF8.self)),
                  payload: EventPayload(.null))
              ], id: nil, time: nil, expecting: [:], isOwn: false)
          }
        }
        for result in try log.appendBlocking(drafts) { _ = try result.get() }
        start += drafts.count
      }
    }
  }
}
