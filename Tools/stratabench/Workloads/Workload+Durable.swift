// Measures appends of one event, each on disk before its caller continues.

internal import Foundation
internal import StrataBase
internal import StrataEvents
internal import StrataLog

extension Workload {
  /// Measures in each round, with a new store: one task, the raw limit, one blocking thread, 64 tasks and 512 tasks.
  static func durable(_ bench: Bench) async throws {
    let events = DurableEvents()
    var limit = Lane("pwrite + fdatasync over zeros")
    var single = Lane("one task through await")
    var blocking = Lane("one thread, blocking")
    var some = Lane("64 tasks")
    var many = Lane("512 tasks")
    var idle = 0
    var peak = 0
    for _ in 0..<bench.rounds {
      let store = try await EventStore.open(at: bench.scratch.fresh("durable"))
      _ = try await store.append(events.draft(for: 0))
      let begin = store.log.mark.visible.offset
      if idle == 0 { idle = residentBytes() }
      try await single.measure { try await events.append(to: store, tasks: 1, each: 1_000).times }
      // The same size as the log writes for one event.
      let size = Int(store.log.mark.visible.offset - begin) / 1_000
      let times = RawLimits.writeAndSync(1_000, size: size, path: bench.scratch.fresh("raw"))
      limit.add(times, taken: Double(times.reduce(0, +)) / 1e9)
      try await blocking.measure { try events.appendBlocking(to: store, count: 1_000) }
      try await some.measure { try await events.append(to: store, tasks: 64, each: 300).times }
      try await many.measure {
        let (times, resident) = try await events.append(to: store, tasks: 512, each: 100)
        peak = max(peak, resident)
        return times
      }
      try await store.close()
    }
    report(limit.name, limit.figures)
    for lane in [single, blocking, some, many] {
      report(lane.name, "\(lane.figures)   \(lane.ratio(to: limit))")
    }
    report(
      "resident memory",
      String(format: "%.1f MB idle, at most %.1f MB with 512 tasks", megabytes(idle), megabytes(peak)))
  }

  private static func megabytes(_ bytes: Int) -> Double { Double(bytes) / Double(1 << 20) }
}

/// The results of one way of writing, round by round.
private struct Lane {
  let name: String
  /// Seconds for one event, in each round.
  private var costs: [Double] = []
  /// The nanoseconds that each event's caller waited, in all rounds.
  private var times: [Int64] = []

  init(_ name: String) { self.name = name }

  /// Adds a round: the body writes events and returns the time of each.
  mutating func measure(_ body: () async throws -> [Int64]) async throws {
    var round: [Int64] = []
    let taken = try await seconds { round = try await body() }
    add(round, taken: taken)
  }

  /// Adds a round that took `taken` seconds.
  mutating func add(_ round: [Int64], taken: Double) {
    costs.append(taken / Double(round.count))
    times += round
  }

  /// Events per second in the median round, and the 50th and 99th percentile of the callers' waits.
  var figures: String {
    let sorted = times.sorted()
    let half = Double(sorted[sorted.count / 2]) / 1e3
    let most = Double(sorted[sorted.count * 99 / 100]) / 1e3
    return rate(1, median(costs)).padding(toLength: 10, withPad: " ", startingAt: 0)
      + String(format: "p50 %5.0f us  p99 %5.0f us", half, most)
  }

  /// The rate relative to the limit, as the median of the ratios of each round.
  func ratio(to limit: Lane) -> String {
    let ratios = zip(costs, limit.costs).map { $1 / $0 }
    return String(
      format: "%.2f x limit (%.2f…%.2f)", median(ratios), ratios.min() ?? .nan, ratios.max() ?? .nan)
  }
}

/// Prepared events with payloads of 200 bytes, and the ways to append them one by one.
private struct DurableEvents: Sendable {
  private let payload: [UInt8]
  private let type = Array("measured".utf8)

  init() {
    // Without repetitions, so that LZ4 cannot compress a single event.
    var state: UInt64 = 7
    payload = (0..<200).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(state >> 60)
    }
  }

  /// The next append of a task: one event for its stream.
  func draft(for task: Int) -> AppendDraft {
    let draft = AppendDraft(bytesHint: 320)
    Array("task/\(task)".utf8).withUnsafeBytes { stream in
      type.withUnsafeBytes { type in
        payload.withUnsafeBytes { payload in
          draft.add(
            stream: stream, type: type, codec: PayloadCodec.bytes.rawValue,
            metadata: UnsafeRawBufferPointer(start: nil, count: 0), payload: payload)
        }
      }
    }
    return draft
  }

  /// Appends from several tasks, each of which waits for one append before the next. Returns the time of each append,
  /// and the most resident memory that was measured.
  func append(to store: EventStore, tasks: Int, each: Int) async throws -> (times: [Int64], resident: Int) {
    try await withThrowingTaskGroup(of: ([Int64], Int).self) { group in
      for task in 0..<tasks {
        group.addTask {
          var times: [Int64] = []
          var resident = 0
          times.reserveCapacity(each)
          for number in 0..<each {
            let start = MonotonicTime.now()
            _ = try await store.append(draft(for: task))
            times.append(MonotonicTime.now().nanoseconds - start.nanoseconds)
            if task == 0, number % 10 == 0 { resident = max(resident, residentBytes()) }
          }
          return (times, resident)
        }
      }
      var all: [Int64] = []
      var peak = 0
      for try await (times, resident) in group {
        all += times
        peak = max(peak, resident)
      }
      return (all, peak)
    }
  }

  /// Appends from one thread that blocks.
  func appendBlocking(to store: EventStore, count: Int) throws -> [Int64] {
    let result = Lock<Result<[Int64], any Error>>(.success([]))
    let thread = try DedicatedThread(name: "bench") {
      let times = Result {
        try (0..<count).map { _ in
          let start = MonotonicTime.now()
          _ = try store.log.appendBlocking(draft(for: 0))
          return MonotonicTime.now().nanoseconds - start.nanoseconds
        }
      }
      result.withLock { $0 = times }
    }
    thread.join()
    return try result.withLock { $0 }.get()
  }
}
