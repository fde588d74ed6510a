// Readers beside a writer in another process: a prefix, never an error, nothing twice and nothing missed.

import Foundation
import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

/// How long the tests of this file read beside a writer; a longer run says so by `READ_SECONDS`.
private let readSeconds = ProcessInfo.processInfo.environment["READ_SECONDS"].flatMap { Int($0) } ?? 1

/// Threads that the waiting is done on: the pool belongs to the code under test.
private let threads = IOThreads(name: "two-process", threadCountMax: 4)

/// A store in a folder of its own, and a process that appends to it.
private final class Writer: Sendable {
  let path = NSTemporaryDirectory() + "strata-two-\(UUID().uuidString)"
  private let process = Lock<Process?>(nil)

  init() throws { try EventStore.openBlocking(at: path).closeBlocking() }

  deinit {
    stop()
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Starts appending at a pace. The lines come when the process has ended.
  func start(
    count: Int, microseconds: Int, segmentSize: Int, _ durability: Durability = .synced
  ) throws -> Pipe {
    let (started, pipe) = try CrashWriter.start(
      [path, "pace", "\(count)", "\(microseconds)", "\(segmentSize)", "\(durability.rawValue)"])
    process.withLock { $0 = started }
    return pipe
  }

  func stop() {
    guard let running = process.withLock({ $0 }), running.isRunning else { return }
    kill(running.processIdentifier, SIGKILL)
    running.waitUntilExit()
  }

  /// The sequences that were acknowledged, and when, in nanoseconds of the monotonic clock.
  static func lines(_ pipe: Pipe) async -> [(sequence: UInt64, time: Int64)] {
    await threads.run {
      String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        .split(separator: "\n").map { line in
          let numbers = line.split(separator: " ")
          return (UInt64(numbers[0]) ?? 0, Int64(numbers[1]) ?? 0)
        }
    }
  }
}

@Suite(.serialized) struct TwoProcessTests {
  @Test(arguments: [(1_500, 600, Durability.synced), (6_000, 0, .buffered)])
  func `a feed in another process delivers every append once and in order, soon after its acknowledgement`(
    count: Int, microseconds: Int, durability: Durability
  ) async throws {
    let writer = try Writer()
    let reader = try EventStore.openBlocking(at: writer.path, .readOnly)
    let pipe = try writer.start(count: count, microseconds: microseconds, segmentSize: 100_000, durability)
    async let said = Writer.lines(pipe)
    var delivered: [Int64] = [0]
    var feed = reader.feed().makeAsyncIterator()
    while delivered.count <= count, let batch = try await feed.nextBatch() {
      let now = MonotonicTime.now().nanoseconds
      for append in batch {
        try #require(append.sequences == UInt64(delivered.count)...UInt64(delivered.count))
        #expect(append.events[0].payload.bytes == Array("\(delivered.count - 1)".utf8))
        delivered.append(now)
      }
    }
    let lines = await said
    #expect(lines.map(\.sequence) == (1...UInt64(count)).map { $0 })
    try #require(delivered.count == count + 1, "the feed ended before everything was delivered")
    let latencies = lines.map { Double(delivered[Int($0.sequence)] - $0.time) / 1e6 }.sorted()
    print(
      "delivered after the acknowledgement, in ms, one append each \(microseconds) µs: p50",
      latencies[count / 2], "p99", latencies[count * 99 / 100], "max", latencies[count - 1])
    try reader.closeBlocking()
  }

  @Test
  func `readers and checks beside a writer that appends and rolls see a prefix, and never an error`()
    async throws
  {
    let writer = try Writer()
    let pipe = try writer.start(count: 10_000_000, microseconds: 40, segmentSize: 8_000, .buffered)
    defer { withExtendedLifetime(pipe) {} }
    let (opens, checks, events) = try await threads.run { () throws(any Error) in
      // The pipe is read, or the writer would stand still once it is full.
      let drain = try DedicatedThread(name: "drain") { _ = try? pipe.fileHandleForReading.readToEnd() }
      defer {
        writer.stop()
        drain.join()
      }
      let deadline = MonotonicTime.now().advanced(by: .seconds(readSeconds))
      var (opens, checks, last) = (0, 0, UInt64(0))
      let long = try EventStore.openBlocking(at: writer.path, .readOnly)
      var behind = long.log.cursor(after: 0)
      while MonotonicTime.now() < deadline {
        let reader = try EventStore.openBlocking(at: writer.path, .readOnly)
        let head = reader.head
        #expect(head.sequence >= last, "an acknowledged append went away")
        last = head.sequence
        var cursor = reader.log.cursor(after: head.sequence > 300 ? head.sequence - 300 : 0)
        var end = cursor.nextSequence
        while let block = try cursor.next() {
          try block.verifyContent()
          end = block.header.nextSequence
        }
        // Reading may come to a segment that was closed since, and then looks again where the end is.
        #expect(end == reader.head.sequence + 1 && end > head.sequence)
        try reader.closeBlocking()
        try long.log.refresh()
        while let block = try behind.next() { try block.verifyContent() }
        #expect(behind.nextSequence == long.head.sequence + 1)
        opens += 1
        var verifier = LogVerifier(
          PosixFileSystem(), path: writer.path, depth: opens % 8 == 0 ? .full : .quick)
        let report = try verifier.run()
        #expect(report.findings == [])
        #expect(report.end.sequence >= last)
        checks += 1
      }
      try long.closeBlocking()
      return (opens, checks, last)
    }
    print("\(opens) readers and \(checks) checks beside a writer of \(events) events")
    #expect(opens > 5 && events > 100)
    #expect(try FileManager.default.contentsOfDirectory(atPath: writer.path + "/log").count > 3)
  }

  @Test
  func `a consumer that is slower than the writer misses nothing, and its memory is bounded`() async throws {
    let writer = try Writer()
    let count = 20_000
    let lines = try writer.start(count: count, microseconds: 0, segmentSize: 100_000, .buffered)
    // In a process of its own, whose memory no other test uses.
    let (reader, output) = try CrashWriter.start([writer.path, "rest", "\(count)"])
    #expect(await Writer.lines(lines).count == count)
    let found = await Writer.lines(output)
    await threads.run { reader.waitUntilExit() }
    try #require(found.count == 1 && reader.terminationStatus == 0)
    #expect(found[0].sequence == count)
    #expect(found[0].time < 24 << 20, "the memory grew by \(found[0].time) bytes")
  }

  @Test
  func `a position that another process was told of is known here, however late this reader looks`()
    async throws
  {
    let writer = try Writer()
    let reader = try EventStore.openBlocking(at: writer.path, .readOnly)
    let lines = await Writer.lines(try writer.start(count: 30, microseconds: 0, segmentSize: 8_000))
    #expect(reader.head.sequence == 0 && lines.last?.sequence == 30, "nobody has asked yet")
    let position = try EventStore.openBlocking(at: writer.path, .readOnly).head
    var seen = 0
    for try await _ in reader.feed(from: .position(position), until: .caughtUp) { seen += 1 }
    #expect(seen == 0 && reader.head == position)
    var other = position
    other.chain ^= 1
    await #expect(throws: StoreError.diverged(sequence: 30)) {
      for try await _ in reader.feed(from: .position(other), until: .caughtUp) {}
    }
    await #expect(throws: StoreError.diverged(sequence: 31)) {
      for try await _ in reader.feed(from: .position(.init(sequence: 31, chain: 0)), until: .caughtUp) {}
    }
    try reader.closeBlocking()
  }

  @Test
  func `a feed from the future of another process's log waits, and delivers nothing older`() async throws {
    let writer = try Writer()
    let reader = try EventStore.openBlocking(at: writer.path, .readOnly)
    let future = Task {
      var seen: [UInt64] = []
      for try await append in reader.feed(from: .sequence(25)) {
        seen += append.sequences
        if seen.count == 5 { break }
      }
      return seen
    }
    while !reader.log.tail.hasWaiters { await Task.yield() }
    _ = await Writer.lines(try writer.start(count: 20, microseconds: 0, segmentSize: 8_000))
    _ = await Writer.lines(try writer.start(count: 10, microseconds: 2_000, segmentSize: 8_000))
    #expect(try await future.value == [26, 27, 28, 29, 30])
    try reader.closeBlocking()
  }

  @Test
  func `a suspended store is another process's to write to, and its feeds go on with what that appended`()
    async throws
  {
    let path = NSTemporaryDirectory() + "strata-two-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try await EventStore.open(at: path)
    let feed = Task {
      var seen: [UInt64] = []
      for try await append in store.feed() {
        seen += append.sequences
        if seen.count == 22 { break }
      }
      return seen
    }
    let event = NewEvent("t", in: "s/1", payload: .opaque([1]))
    try await store.append([event])
    try await store.suspend()
    await #expect(throws: StoreError.suspended) { try await store.append([event]) }
    let (process, pipe) = try CrashWriter.start([path, "pace", "20", "0", "8000", "2"])
    #expect(await Writer.lines(pipe).count == 20)
    await threads.run { process.waitUntilExit() }
    try await store.resume()
    #expect(store.head.sequence == 21)
    #expect(try await store.append([event], expecting: ["s/1": .exactly(1)]).sequences == 22...22)
    #expect(try await feed.value == Array(1...22))
    try await store.close()
  }

  @Test func `a child process has no part in its parent's lock`() async throws {
    let path = NSTemporaryDirectory() + "strata-two-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try EventStore.openBlocking(at: path)
    let child = Process()
    child.executableURL = URL(fileURLWithPath: "/bin/sleep")
    child.arguments = ["60"]
    try child.run()
    defer {
      kill(child.processIdentifier, SIGKILL)
      child.waitUntilExit()
    }
    try store.closeBlocking()
    // The child lives and has no descriptor of LOCK.
    try EventStore.openBlocking(at: path).closeBlocking()
    #expect(child.isRunning)
  }
}
