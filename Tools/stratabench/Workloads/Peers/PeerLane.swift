// What `Tools/bench` runs of Strata, once in each turn, in a process of its own: `stratabench peer-lane`.

internal import ArgumentParser
internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataLog

/// One measured piece of work. The programs of the other libraries have the same options and print the same line.
struct PeerLane: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peer-lane", abstract: "What Tools/bench runs of Strata, in a process of its own.")

  enum Work: String, ExpressibleByArgument {
    /// Writes the events of a corpus to a file.
    case export
    /// Makes the store that is read: all events, closed segments rewritten.
    case fill
    /// Appends of 1,000 events.
    case bulk
    /// Appends of one event, each on disk before its writer continues.
    case durable
    /// Events by sequence, anywhere in the store or in its last part.
    case read
    /// All events of a stream.
    case stream
    /// Every event of the store.
    case scan
    /// The limit of `bulk`: LZ4 of blocks, their writes, and one sync, in one thread.
    case bulkLimit = "bulk-limit"
    /// The limit of `durable`: a write over zeros, and its sync.
    case durableLimit = "durable-limit"
    /// The limit of `scan`: reads, and LZ4 of blocks.
    case scanLimit = "scan-limit"
  }

  @Argument var work: Work
  @Option(help: "The file of events.") var events: String
  @Option(help: "A corpus to export.") var input: String?
  @Option(help: "The number of events of the store.") var count = 1_000_000
  @Option(help: "The store.") var store: String
  @Option(help: "The number of tasks or threads that write.") var writers = 1
  @Option(help: "The number of appends of each writer, or of reads.") var each = 1_000
  @Option(help: "Seconds after which writers of single events stop.") var atMost = 10.0
  @Option(help: "Only the last events are read, this many.") var hot = 0
  @Flag(help: "Each append is on disk when it returns.") var synced = false
  @Flag(help: "A thread that blocks, instead of a task.") var blocking = false

  func run() async throws {
    if work == .export {
      let corpus = try Corpus(path: input, count: count)
      try EventFile.write(corpus.lines.map { .init(stream: $0.stream, payload: $0.payload) }, to: events)
      return
    }
    let lines = try EventFile.read(events).map { Corpus.Line(stream: $0.stream, payload: $0.payload) }
    let result = try await measured(Corpus(lines: lines, count: count))
    print(#"{"seconds": \#(result.seconds), "count": \#(result.count), "sum": \#(result.sum)}"#)
  }

  /// The seconds of the work, how many events it wrote or read, and the sum of what it read.
  private typealias Result = (seconds: Double, count: Int, sum: UInt64)

  private func measured(_ corpus: Corpus) async throws -> Result {
    switch work {
    case .export: preconditionFailure("is done before")
    case .fill: return try await fill(corpus)
    case .bulk: return try await bulk(corpus)
    case .durable: return try await durable(corpus)
    case .read: return try await onStore { try read($0) }
    case .stream: return try await onStore { try readStreams($0, corpus) }
    case .scan: return try await onStore { try scan($0) }
    case .bulkLimit:
      return (RawLimits.compressAndWrite(Workload.rawBytes(corpus), path: store), corpus.count, 0)
    case .durableLimit:
      let nanoseconds = RawLimits.writeAndSync(each, size: 512, path: store).reduce(0, +)
      return (Double(nanoseconds) / 1e9, each, 0)
    case .scanLimit:
      let table = RawLimits.compressed(Workload.rawBytes(corpus), path: store)
      return (RawLimits.readAndDecompress(table, path: store), corpus.count, 0)
    }
  }

  // MARK: Writes

  private func fill(_ corpus: Corpus) async throws -> Result {
    let time = try await seconds {
      let store = try await EventStore.open(at: store)
      // One task, so that event n is line n in every library.
      try await Workload.fill(store, corpus, tasks: 1)
      try await store.seal()
      try await store.close()
    }
    return (time, corpus.count, 0)
  }

  private func bulk(_ corpus: Corpus) async throws -> Result {
    var options = StoreOptions()
    options.durability = synced ? .synced : .buffered
    let time = try await seconds {
      let store = try await EventStore.open(at: store, options: options)
      try await Workload.fill(store, corpus, tasks: writers)
      try await store.close()
    }
    return (time, corpus.count, 0)
  }

  private func durable(_ corpus: Corpus) async throws -> Result {
    let store = try await EventStore.open(at: store)
    // The first append makes the files.
    _ = try await store.append(corpus.draft(0..<1))
    let before = store.head.sequence
    let time = try await seconds {
      let start = MonotonicTime.now()
      if blocking { return try await appendBlocking(store, corpus) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<writers {
          group.addTask {
            for number in 0..<each where start.seconds < atMost {
              let index = writer * each + number
              _ = try await store.append(corpus.draft(index..<index + 1))
            }
          }
        }
        try await group.waitForAll()
      }
    }
    let count = Int(store.head.sequence - before)
    try await store.close()
    return (time, count, 0)
  }

  private func appendBlocking(_ store: EventStore, _ corpus: Corpus) async throws {
    let (each, atMost) = (each, atMost)
    let start = MonotonicTime.now()
    try await store.machine.thread("bench").run {
      for number in 0..<each where start.seconds < atMost {
        _ = try store.log.appendBlocking(corpus.draft(number..<number + 1))
      }
    }
  }

  // MARK: Reads

  private func onStore(_ body: (EventStore) throws -> Result) async throws -> Result {
    let store = try await EventStore.open(at: store, .readOnly)
    let result = try body(store)
    try await store.close()
    return result
  }

  /// Reads a fifth as many events before, so that caches have what they will have.
  private func read(_ store: EventStore) throws -> Result {
    let range = hot > 0 ? min(hot, count) : count
    let before = count - range
    func sum(_ reads: Int, seed: Int) throws -> UInt64 {
      var numbers = FixedGenerator(seed: seed)
      var sum: UInt64 = 0
      for _ in 0..<reads {
        sum &+= try Self.event(UInt64(before) + numbers.next() % UInt64(range) + 1, store)
      }
      return sum
    }
    _ = try sum(each / 5, seed: 2)
    var found: UInt64 = 0
    let time = try seconds { found = try sum(each, seed: 1) }
    return (time, each, found)
  }

  /// The sum of one event.
  private static func event(_ sequence: UInt64, _ store: EventStore) throws -> UInt64 {
    let sum = try store.withEventBlocking(at: sequence) { _, payload in
      payload.withUnsafeBytes { eventSum($0) }
    }
    guard let sum else { throw StoreError.invalid(what: "event \(sequence) is not in the store") }
    return sum
  }

  private func readStreams(_ store: EventStore, _ corpus: Corpus) throws -> Result {
    func sum(_ reads: Int, seed: Int) throws -> (count: Int, sum: UInt64) {
      var numbers = FixedGenerator(seed: seed)
      var (count, sum) = (0, UInt64(0))
      for _ in 0..<reads {
        let line = corpus[Int(numbers.next() % UInt64(corpus.count))]
        let stream = StreamName(String(decoding: line.stream, as: UTF8.self))
        for event in try store.eventsBlocking(in: stream, limit: .max) {
          count += 1
          sum &+= event.payload.bytes.withUnsafeBytes(eventSum)
        }
      }
      return (count, sum)
    }
    _ = try sum(each / 5, seed: 2)
    var found = (count: 0, sum: UInt64(0))
    let time = try seconds { found = try sum(each, seed: 1) }
    return (time, found.count, found.sum)
  }

  private func scan(_ store: EventStore) throws -> Result {
    var (seen, sum) = (0, UInt64(0))
    let time = try seconds {
      var cursor = store.log.cursor(after: 0)
      while let block = try cursor.next() {
        try block.forEachEvent { event, _, _ in
          seen += 1
          sum &+= eventSum(event.payload)
        }
      }
    }
    return (time, seen, sum)
  }
}
