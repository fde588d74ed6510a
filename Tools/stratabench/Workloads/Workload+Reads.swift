// Reads of single events and of streams, anywhere in the log.

internal import Foundation
internal import StrataEvents
internal import StrataLog

extension Workload {
  /// Reads events in a fixed random order, first of a log that is not sealed and then of one that is. The old way is a
  /// cursor for each event, which decodes the whole block.
  static func reads(_ bench: Bench) async throws {
    var options = StoreOptions()
    options.durability = .buffered
    options.sealsInBackground = false
    options.pageCacheSize = 64 << 20
    let path = bench.scratch.fresh("reads")
    var store = try await EventStore.open(at: path, options: options)
    try await fill(store, bench.corpus)
    try await store.close()
    for isSealed in [false, true] {
      store = try await EventStore.open(at: path, options: options)
      if isSealed {
        _ = try store.log.seal()
        try await store.close()
        store = try await EventStore.open(at: path, options: options)
      }
      let bytes = try folderBytes("\(path)/log")
      print(
        isSealed ? "sealed" : "not sealed", "\(bytes) bytes of log,", bytes / bench.corpus.count, "an event")
      try await reads(store, bench)
      try await store.close()
    }
    try await scattered(bench, options)
  }

  /// Reads streams of ten events that are as far from each other as the log is long.
  private static func scattered(_ bench: Bench, _ options: StoreOptions) async throws {
    let store = try await EventStore.open(at: bench.scratch.fresh("scattered"), options: options)
    let streamCount = max(1, bench.corpus.count / 10)
    try await fill(store, bench.corpus, streams: streamCount)
    _ = try store.log.seal()
    var random = FixedGenerator(seed: 58)
    var times = ReadTimes()
    var eventCount = 0
    for round in 0...bench.rounds {
      let names = (0..<2_000).map { _ in
        StreamName("incident/\(Int.random(in: 0..<streamCount, using: &random))")
      }
      // The first round makes the indexes.
      try times.add(round == 0 ? "the first round of them" : "ten scattered events", names.count) {
        for name in names { eventCount += try store.eventsBlocking(in: name).count }
      }
    }
    precondition(eventCount >= 10 * 2_000 * (bench.rounds + 1), "each stream has ten events or more")
    times.report()
    try await store.close()
  }

  private static func folderBytes(_ path: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { sum, name in
      let size = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.size] as? Int
      return sum + (size ?? 0)
    }
  }

  private static func reads(_ store: EventStore, _ bench: Bench) async throws {
    var random = FixedGenerator(seed: 57)
    let last = store.head.sequence
    let count = min(200_000, 4 * Int(last))
    let anywhere = (0..<count).map { _ in UInt64.random(in: 1...last, using: &random) }
    let hot = (0..<count).map { _ in UInt64.random(in: 1...min(last, 30_000), using: &random) }
    let streams = (0..<500).map { _ in
      let line = bench.corpus[Int.random(in: 0..<bench.corpus.count, using: &random)]
      return StreamName(String(decoding: line.stream, as: UTF8.self))
    }
    // Makes the indexes, and what reads of the first round would make.
    for name in streams { _ = try store.eventsBlocking(in: name) }
    for number in anywhere { _ = try read(store, number) }
    for number in hot { _ = try read(store, number) }
    var times = ReadTimes()
    var sums: Set<UInt64> = []
    for _ in 0..<bench.rounds {
      var (sum, old, awaited): (UInt64, UInt64, UInt64) = (0, 0, 0)
      let few = anywhere.prefix(5_000)
      try times.add("the old way, anywhere", few.count) {
        for number in few { old &+= try oldRead(store, number) }
      }
      try times.add("blocking, anywhere", count) {
        for number in anywhere { sum &+= try read(store, number) }
      }
      try times.add("blocking, a hot set", count) { for number in hot { sum &+= try read(store, number) } }
      let (some, someHot) = (anywhere.prefix(50_000), hot.prefix(50_000))
      try await times.add("await, anywhere", some.count) {
        for number in some {
          awaited &+= try await store.event(at: number)?.payload.bytes.withUnsafeBytes(eventSum) ?? 0
        }
      }
      try await times.add("await, a hot set", someHot.count) {
        for number in someHot {
          awaited &+= try await store.event(at: number)?.payload.bytes.withUnsafeBytes(eventSum) ?? 0
        }
      }
      var eventCount = 0
      try times.add("a stream", streams.count) {
        for name in streams { eventCount += try store.eventsBlocking(in: name).count }
      }
      sums.insert(sum)
      precondition(old > 0 && awaited > 0 && eventCount > 0, "the reads found nothing")
      times.note = "of \(eventCount / streams.count) events"
    }
    precondition(sums.count == 1, "each round reads the same events")
    times.report()
    let (parts, limit) = (store.log.source.catalog.parts.statistics, store.log.source.catalog.parts.limit)
    report("in the cache", "\(parts.partCount) parts, \(parts.byteCount >> 10) KiB of \(limit >> 10)")
  }

  private static func read(_ store: EventStore, _ sequence: UInt64) throws -> UInt64 {
    try store.withEventBlocking(at: sequence) { _, payload in payload.withUnsafeBytes { eventSum($0) } } ?? 0
  }

  /// A cursor to the block, which is decoded, and a walk to the event.
  private static func oldRead(_ store: EventStore, _ sequence: UInt64) throws -> UInt64 {
    var sum: UInt64 = 0
    guard let block = try store.log.block(holding: sequence) else { return 0 }
    try block.forEachEvent { event, _, number in
      if number == sequence { sum = eventSum(event.payload) }
    }
    return sum
  }
}

/// The times of kinds of reads, in rounds.
private struct ReadTimes {
  private var rows: [(name: String, count: Int, seconds: [Double], processor: [Double])] = []
  /// What the last row is of.
  var note = ""

  private mutating func add(_ name: String, _ count: Int, _ seconds: Double, _ processor: Double) {
    if let index = rows.firstIndex(where: { $0.name == name }) {
      rows[index].seconds.append(seconds)
      rows[index].processor.append(processor)
    } else {
      rows.append((name, count, [seconds], [processor]))
    }
  }

  mutating func add(_ name: String, _ count: Int, _ body: () throws -> Void) rethrows {
    let start = ProcessorTime.now()
    let time = try seconds(body)
    add(name, count, time, start.seconds)
  }

  mutating func add(_ name: String, _ count: Int, _ body: () async throws -> Void) async rethrows {
    let start = ProcessorTime.now()
    let time = try await seconds(body)
    add(name, count, time, start.seconds)
  }

  func report() {
    for row in rows {
      let (time, processor) = (median(row.seconds), median(row.processor))
      let figures = [time, processor].map { $0 / Double(row.count) * 1e6 }
      let text = String(
        format: "%.2f µs, %.2f of processor time, %.0f k/s", figures[0], figures[1], 1e3 / figures[0])
      stratabench.report(row.name, row.name == rows.last?.name ? "\(text) \(note)" : text)
    }
  }
}
