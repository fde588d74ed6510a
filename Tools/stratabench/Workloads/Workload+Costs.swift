// Measures what an application pays for: a start, an append, a list, a past state and an index, by number of rows.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// One line of the page of costs: a figure for each number of rows.
private struct CostLine {
  var name: String
  var figures: [String] = []
}

extension Workload {
  /// Prints a table of what things cost, one column for each number of rows. Every document was written twice.
  static func costs(_ bench: Bench) async throws {
    let sizes = [10_000, 100_000, 1_000_000].filter { $0 <= max(10_000, bench.corpus.count) }
    var lines: [CostLine] = []
    for size in sizes {
      for (place, entry) in try await costs(of: size, bench).enumerated() {
        if place == lines.count { lines.append(CostLine(name: entry.name)) }
        lines[place].figures.append(entry.figure)
      }
    }
    report("rows", sizes.map { "\($0)" }.joined(separator: " | "))
    for line in lines { report(line.name, line.figures.joined(separator: " | ")) }
  }

  private static func costs(of size: Int, _ bench: Bench) async throws -> [(name: String, figure: String)] {
    let path = bench.scratch.fresh("costs")
    var rows = ListedEvent.rows(size)
    let idle = residentBytes()
    var store = try await ListedEvent.store(of: size, at: path)
    for index in rows.indices { rows[index].isUninteresting = false }
    for start in stride(from: 0, to: size, by: 10_000) {
      let part = Array(rows[start..<min(start + 10_000, size)])
      try await store.collection("event", of: ListedEvent.self).put(part)
    }
    try await store.seal()
    try await store.close()
    var figures: [(String, String)] = []
    func bytes(_ name: String) -> String {
      String(format: "%.0f", Double(bytesOnDisk("\(path)/\(name)")) / Double(2 * size))
    }
    figures.append(("log/, bytes an event", bytes("log")))
    figures.append(("derived/, bytes an event", bytes("derived")))

    var (open, byFields, typed): ([Double], [Double], [Double]) = ([], [], [])
    for _ in 0..<bench.rounds {
      open.append(
        try await seconds {
          store = try await EventStore.open(at: path)
        })
      let fields = FetchController(ListedEvent.requestByFields, from: store.documents("event"))
      byFields.append(try await seconds { _ = try await fields.performFetch() })
      try await store.close()
      store = try await EventStore.open(at: path)
      let list = FetchController(ListedEvent.request, from: store.collection("event", of: ListedEvent.self))
      typed.append(try await seconds { _ = try await list.performFetch() })
      try await store.close()
    }
    figures.append(("open for writing", milliseconds(median(open))))
    figures.append(("then the first list, by fields", milliseconds(median(byFields))))
    figures.append(("then the first list, of a type", milliseconds(median(typed))))

    store = try await EventStore.open(at: path)
    let events = store.collection("event", of: ListedEvent.self)
    let list = FetchController(ListedEvent.request, from: events)
    _ = try await list.performFetch()
    figures.append(("memory with one list, MB", "\((residentBytes() - idle) >> 20)"))
    figures.append(("a durable change, shown", microseconds(try await changes(list, events, rows))))
    figures.append(("the append of it alone", microseconds(try await appends(store))))
    try await figures.append(contentsOf: past(list, events, rows, size))
    try await store.close()
    return figures.map { (name: $0.0, figure: $0.1) }
  }

  /// The time from a change to its update, with the change synced to disk.
  private static func changes(
    _ list: FetchController<ListedEvent, String>, _ events: DocumentCollection<ListedEvent>,
    _ rows: [ListedEvent]
  ) async throws -> Double {
    var updates = list.updates.makeAsyncIterator()
    _ = try await updates.next()
    var times: [Double] = []
    for number in 0..<200 {
      var row = rows[number * 37 % rows.count]
      row.timestamp += Double(number + 1)
      times.append(
        try await seconds {
          try await events.put(row)
          _ = try await updates.next()
        })
    }
    return median(times)
  }

  private static func appends(_ store: EventStore) async throws -> Double {
    var times: [Double] = []
    for _ in 0..<200 {
      times.append(try await seconds { try await store.append([NewEvent("t", in: "other/1", .null)]) })
    }
    return median(times)
  }

  private static func past(
    _ list: FetchController<ListedEvent, String>, _ events: DocumentCollection<ListedEvent>,
    _ rows: [ListedEvent], _ size: Int
  ) async throws -> [(String, String)] {
    let middle = LogPoint.sequence(UInt64(size))
    let whole = try await seconds { _ = try await list.snapshot(at: middle) }
    var (ofOne, byID, streams): ([Double], [Double], [Double]) = ([], [], [])
    for number in 0..<200 {
      let row = rows[number * 91 % rows.count]
      ofOne.append(try await seconds { _ = try await events[row.id, at: middle] })
      byID.append(try await seconds { _ = try await events[row.id] })
      let stream = try events.stream(of: row.id)
      streams.append(try await seconds { _ = try await events.store.events(in: stream) })
    }
    return [
      ("the list at half of the log", milliseconds(whole)),
      ("a document at half of the log", microseconds(median(ofOne))),
      ("a document now", microseconds(median(byID))),
      ("the events of one stream", microseconds(median(streams))),
    ]
  }
}
