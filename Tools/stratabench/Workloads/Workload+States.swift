// Measures states on disk: what a start costs without one and with one, how large it is, and what changes of it cost.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
internal import StrataTables

#if canImport(Glibc)
  internal import Glibc
#endif

extension Workload {
  /// A store of many events over a tenth as many rows, one of as many events as rows, and one with an application's own
  /// projection.
  static func states(_ bench: Bench) async throws {
    let rowCount = max(1, bench.corpus.count / 10)
    var pages: [Double] = []
    for eventCount in [rowCount, bench.corpus.count] {
      let path = bench.scratch.fresh("states")
      try await fill(path, eventCount: eventCount, rowCount: rowCount)
      try await start(path, "\(eventCount) events, \(rowCount) rows", bench.rounds)
      pages.append(try await list(path, "\(eventCount) events, \(rowCount) rows", bench.rounds))
      try await change(path, rowCount: rowCount)
      try await kill(path, rowCount: rowCount, bench)
    }
    report("first page of a kept list, the longer log to the shorter one", ratio(pages[1], pages[0]))
    try await own(bench)
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

  /// The first page of a list, from the opening of the folder: built from the rows, and kept. Returns the time of the
  /// latter.
  private static func list(_ path: String, _ name: String, _ rounds: Int) async throws -> Double {
    var last = 0.0
    for (what, request) in [("built", listRequest), ("kept", listRequest.kept(as: "by product"))] {
      let store = try await EventStore.open(at: path)
      try await firstPage(store, request)
      try await store.close()
      for isCached in what == "kept" ? [true, false] : [true] {
        var times: [Double] = []
        for _ in 0..<rounds {
          if !isCached { dropFromPageCache(path) }
          times.append(
            try await seconds {
              let store = try await EventStore.open(at: path, .readOnly)
              try await firstPage(store, request)
            })
        }
        let files = isCached ? "" : ", files not in the page cache"
        report("\(name): first page of a list, \(what)\(files)", milliseconds(median(times)))
        if isCached { last = median(times) }
      }
    }
    return last
  }

  private static var listRequest: ListRequest<DocumentRow, DocumentValue> {
    ListRequest(DocumentRow.self).sectioned(byField: FieldPath(names: ["product"]))
      .sorted(byField: FieldPath(names: ["time"]), .reverse)
  }

  /// Random changes by a process that is then killed, as far as a copy of its folder shows that.
  private static func kill(_ path: String, rowCount: Int, _ bench: Bench) async throws {
    let request = listRequest.kept(as: "by product")
    let store = try await EventStore.open(at: path)
    let list = FetchController(request, from: store.documents("incident"))
    try await list.performFetch()
    var rows = ListCorpus.rows(rowCount)
    var random = SystemRandomNumberGenerator()
    for _ in 0..<100 {
      var events: [NewEvent] = []
      for _ in 0..<100 {
        let place = Int.random(in: 0..<rowCount, using: &random)
        rows[place].note = Int.random(in: 0..<1_000_000, using: &random)
        events.append(rows[place].event)
      }
      try await store.append(events)
      _ = try await store.documents("incident")["1-000000000"]
    }
    let copy = bench.scratch.fresh("killed")
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let time = try await seconds {
      let store = try await EventStore.open(at: copy)
      try await firstPage(store, request)
    }
    report("first page of a kept list, 10000 changes after a kill", milliseconds(time))
    try await store.close()
  }

  /// The starts of an application's own projection.
  private static func own(_ bench: Bench) async throws {
    let corpus = HelpdeskCorpus(count: bench.corpus.count / 2)
    let path = bench.scratch.fresh("own")
    let store = try await EventStore.open(at: path)
    try await corpus.append(to: store)
    try await store.close()
    for (name, mode) in [
      ("first start", .readWrite), ("second start", .readWrite), ("start for reading", .readOnly),
    ] as [(String, EventStore.Access)] {
      let store = try await EventStore.open(at: path, mode)
      let time = try await seconds {
        _ = try await store.projector(.own(Helpdesk())).state(reaching: .max)
      }
      report("an own projection of \(corpus.events.count) events: \(name)", milliseconds(time))
      try await store.close()
    }
  }

  /// Makes the next reads of a store's files come from the disk, where the system can do that.
  private static func dropFromPageCache(_ path: String) {
    #if canImport(Glibc)
      for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init() {
        let descriptor = Glibc.open("\(path)/\(name)", O_RDONLY)
        guard descriptor >= 0 else { continue }
        fdatasync(descriptor)
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        Glibc.close(descriptor)
      }
    #endif
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
