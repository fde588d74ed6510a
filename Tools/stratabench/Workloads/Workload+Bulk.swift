// Measures writing many events, reading them all back, and their size on disk.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

extension Workload {
  static let appendSize = 1000

  /// The events of the corpus, encoded back to back as they are in blocks, for the raw limit.
  static func rawBytes(_ corpus: Corpus) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(corpus.payloadBytes + corpus.count * 64)
    for start in stride(from: 0, to: corpus.count, by: appendSize) {
      let draft = corpus.draft(start..<min(start + appendSize, corpus.count))
      bytes.append(contentsOf: draft.events.bytes)
    }
    return bytes
  }

  static func fill(_ store: EventStore, _ corpus: Corpus, tasks: Int = 4, streams: Int? = nil) async throws {
    let appends = (corpus.count + appendSize - 1) / appendSize
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask {
          for number in stride(from: task, to: appends, by: tasks) {
            let start = number * appendSize
            let draft = corpus.draft(start..<min(start + appendSize, corpus.count), streams: streams)
            _ = try await store.append(draft)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  static func bulk(_ bench: Bench) async throws {
    let raw = rawBytes(bench.corpus)
    var times: [String: [Double]] = [:]
    var limits: [Double] = []
    var chainedLimits: [Double] = []
    for _ in 0..<bench.rounds {
      limits.append(RawLimits.compressAndWrite(raw, path: bench.scratch.fresh("raw")))
      chainedLimits.append(limits[limits.count - 1] + chainSeconds(bench.corpus))
      for durability in [Durability.synced, .buffered] {
        for tasks in [1, 4, 16] {
          let name = "\(durability), \(tasks) task\(tasks > 1 ? "s" : "")"
          guard bench.question.map({ name.contains($0) }) ?? true else { continue }
          var options = StoreOptions()
          options.durability = durability
          let path = bench.scratch.fresh("bulk")
          let time = try await seconds {
            let store = try await EventStore.open(at: path, options: options)
            try await fill(store, bench.corpus, tasks: tasks)
            try await store.close()
          }
          times[name, default: []].append(time)
        }
      }
    }
    for (name, times) in times.sorted(by: { $0.key < $1.key }) {
      report(name, times, limit: limits, count: bench.corpus.count, limitName: "LZ4+write+sync")
      report("", times, limit: chainedLimits, count: bench.corpus.count, limitName: "… and a chain")
    }
  }

  /// The seconds to hash each event's content and name, and to link them, on one thread: what the chain alone costs.
  private static func chainSeconds(_ corpus: Corpus) -> Double {
    var chain: UInt64 = 0
    let time = seconds {
      for index in 0..<corpus.count {
        let line = corpus.lines[index % corpus.lines.count]
        chain = Chain.next(
          after: chain, sequence: UInt64(index), revision: 1, head: 0,
          names: XXH64.of(line.stream), content: XXH64.of(line.payload))
      }
    }
    precondition(chain != 0, "the chain is of events")
    return time
  }

  static func replay(_ bench: Bench) async throws {
    let path = bench.scratch.fresh("replay")
    let store = try await EventStore.open(at: path)
    try await fill(store, bench.corpus)
    let raw = rawBytes(bench.corpus)
    let table = RawLimits.compressed(raw, path: bench.scratch.fresh("raw"))
    var limits: [Double] = []
    var rawTimes: [Double] = []
    var feedTimes: [Double] = []
    var typedTimes: [Double] = []
    for _ in 0..<bench.rounds {
      limits.append(RawLimits.readAndDecompress(table, path: "\(bench.scratch.path)/raw"))
      rawTimes.append(try seconds { try rawReplay(store, count: bench.corpus.count) })
      feedTimes.append(try await seconds { try await feedReplay(store, count: bench.corpus.count) })
      typedTimes.append(try await seconds { try await typedReplay(store, count: bench.corpus.count) })
    }
    let count = bench.corpus.count
    report("raw views", rawTimes, limit: limits, count: count, limitName: "read+LZ4")
    report("feed of recorded appends", feedTimes, limit: limits, count: count, limitName: "read+LZ4")
    report(
      "feed, documents decoded to a type", typedTimes, limit: limits, count: count, limitName: "read+LZ4")
    try await store.close()
  }

  private static func rawReplay(_ store: EventStore, count: Int) throws {
    var cursor = store.log.cursor(after: 0)
    var seen = 0
    var bytes = 0
    while let block = try cursor.next() {
      try block.forEachEvent { event, _, _ in
        seen += 1
        bytes &+= event.payload.count
      }
    }
    precondition(seen == count && bytes > 0, "the replay lost events")
  }

  private static func feedReplay(_ store: EventStore, count: Int) async throws {
    var seen = 0
    var feed = store.feed(until: .caughtUp).makeAsyncIterator()
    while let batch = try await feed.nextBatch() {
      for append in batch { seen += append.events.count }
    }
    precondition(seen == count, "the replay lost events")
  }

  private struct Incident: Codable {
    var time: String
    var incident: String
    var status: String
    var substatus: String
    var impact: String
    var product: String
    var group: String
    var role: String?
    var country: String?
  }

  private static func typedReplay(_ store: EventStore, count: Int) async throws {
    var seen = 0
    let decoder = CBORDecoder()
    var feed = store.feed(until: .caughtUp).makeAsyncIterator()
    while let batch = try await feed.nextBatch() {
      for append in batch {
        for event in append.events {
          _ = try decoder.decode(Incident.self, from: event.payload.bytes)
          seen += 1
        }
      }
    }
    precondition(seen == count, "the replay lost events")
  }

  static func size(_ bench: Bench) async throws {
    let path = bench.scratch.fresh("size")
    let store = try await EventStore.open(at: path)
    try await fill(store, bench.corpus)
    try await store.close()
    let count = bench.corpus.count
    let log = bytesOnDisk("\(path)/log")
    let derived = bytesOnDisk("\(path)/derived")
    report("log", "\(log / 1024) KiB, \(log / count) bytes an event of \(bench.corpus.payloadBytes / count)")
    report("derived", "\(derived / 1024) KiB, \(derived / count) bytes an event")
  }
}
