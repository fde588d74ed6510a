// Measures states on disk: what a start costs without one and with one, how large it is, and what changes of it cost.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataTables

extension Workload {
  /// A store of many events over a tenth as many rows, and one of as many events as rows.
  static func states(_ bench: Bench) async throws {
    let rowCount = max(1, bench.corpus.count / 10)
    for eventCount in [rowCount, bench.corpus.count] {
      let path = bench.scratch.fresh("states")
      try await fill(path, eventCount: eventCount, rowCount: rowCount)
      try await start(path, "\(eventCount) events, \(rowCount) rows", bench.rounds)
      try await list(path, "\(eventCount) events, \(rowCount) rows", bench.rounds)
      try await change(path, rowCount: rowCount)
    }
  }

  private static func fill(_ path: String, eventCount: Int, rowCount: Int) async throws {
    var options = StoreOptions()
    options.savesStates = false
    options.durability = .buffered
    let store = try await EventStore.open(at: path, options: options)
    var rows = ListCorpus.rows(rowCount)
    var random = SystemRandomNumberGenerator()
    for start in stride(from: 0, to: eventCount, by: 1000) {
      var events: [NewEvent] = []
      for number in start..<min(start + 1000, eventCount) {
        let place = number < rowCount ? number : Int.random(in: 0..<rowCount, using: &random)
        rows[place].note += number < rowCount ? 0 : 1
        events.append(rows[place].event)
      }
      try await store.append(events)
    }
    try await store.close()
  }

  /// One row, after the folder was opened: everything must be known that the row may depend on.
  private static func firstRow(_ path: String, _ options: StoreOptions) async throws -> Double {
    try await seconds {
      let store = try await EventStore.open(at: path, .readOnly, options: options)
      let row = try await store.documents("incident")["1-000000000"]
      precondition(row != nil, "the store has its rows")
    }
  }

  private static func start(_ path: String, _ name: String, _ rounds: Int) async throws {
    var plain = StoreOptions()
    plain.savesStates = false
    let folded = try await firstRow(path, plain)
    let store = try await EventStore.open(at: path)
    let written = try await store.checkpoint()
    let rewritten = try await seconds { _ = try await store.checkpoint() }
    try await store.close()
    let bytes = bytesOnDisk(StoreLayout(root: path).states)
    let log = bytesOnDisk(StoreLayout(root: path).log)
    var times: [Double] = []
    for _ in 0..<rounds { times.append(try await firstRow(path, StoreOptions())) }
    report("\(name): folded at the start", milliseconds(folded))
    report(
      "\(name): with a state",
      "\(milliseconds(median(times)))   ratio \(ratio(median(times), folded))")
    report(
      "\(name): bytes of the state",
      "\(bytes), \(ratio(Double(bytes), Double(log))) of the log, \(written.map(\.pageCount).reduce(0, +)) pages"
    )
    report("\(name): a checkpoint of nothing new", milliseconds(rewritten))
  }

  /// The first page of a list, from the opening of the folder: built from the rows, and kept.
  private static func list(_ path: String, _ name: String, _ rounds: Int) async throws {
    let request = ListRequest(DocumentRow.self).sectioned(byField: FieldPath(names: ["product"]))
      .sorted(byField: FieldPath(names: ["time"]), .reverse)
    for (what, request) in [("built", request), ("kept", request.kept(as: "by product"))] {
      let store = try await EventStore.open(at: path)
      try await firstPage(store, request)
      try await store.close()
      var times: [Double] = []
      for _ in 0..<rounds {
        times.append(
          try await seconds {
            let store = try await EventStore.open(at: path, .readOnly)
            try await firstPage(store, request)
          })
      }
      report("\(name): first page of a list, \(what)", milliseconds(median(times)))
    }
  }

  private static func firstPage<Section>(
    _ store: EventStore, _ request: ListRequest<DocumentRow, Section>
  ) async throws {
    let list = FetchController(request, from: store.documents("incident"))
    let snapshot = try await list.performFetch()
    let count = min(20, snapshot.numberOfItems(inSectionAt: 0))
    for item in 0..<count {
      precondition(snapshot.row(at: ListIndex(section: 0, item: item)) != nil, "the row of an item is there")
    }
  }

  /// Random changes, and the checkpoint after them.
  private static func change(_ path: String, rowCount: Int) async throws {
    let store = try await EventStore.open(at: path)
    _ = try await store.documents("incident")["1-000000000"]
    var rows = ListCorpus.rows(rowCount)
    var random = SystemRandomNumberGenerator()
    for count in [100, 1000, 10_000] {
      var events: [NewEvent] = []
      for _ in 0..<count {
        let place = Int.random(in: 0..<rowCount, using: &random)
        rows[place].note = Int.random(in: 0..<1_000_000, using: &random)
        events.append(rows[place].event)
      }
      try await store.append(events)
      _ = try await store.documents("incident")["1-000000000"]
      var written: [StateCheckpoint] = []
      let time = try await seconds { written = try await store.checkpoint() }
      let bytes = written.map(\.byteCount).reduce(0, +)
      report("a checkpoint after \(count) random changes", "\(milliseconds(time)), \(bytes) bytes")
    }
    try await store.close()
  }
}
