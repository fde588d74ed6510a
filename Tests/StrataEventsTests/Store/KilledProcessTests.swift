// Processes that are killed while they write: what they acknowledged is there, and who follows sees a prefix.

import Foundation
import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

/// The program that the tests kill, beside the test's own binary.
enum CrashWriter {
  /// - Parameter point: a call of the file system at which the process ends itself, and the how manieth.
  static func start(
    _ store: String, round: Int, tasks: Int, dyingAt point: (call: String, count: Int)? = nil
  ) throws -> (Process, Pipe) {
    try start([store, "\(round)", "\(tasks)"] + (point.map { [$0.call, "\($0.count)"] } ?? []))
  }

  static func start(_ arguments: [String]) throws -> (Process, Pipe) {
    let process = Process()
    process.executableURL = try executable()
    process.arguments = arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.standardError
    try process.run()
    return (process, pipe)
  }

  private static func executable() throws -> URL {
    let name = "strata-crashwriter"
    var folder = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    for _ in 0..<5 {
      folder.deleteLastPathComponent()
      let candidate = folder.appendingPathComponent(name)
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
    }
    throw StoreError.invalid(what: "\(name) is not beside the tests")
  }
}

/// What an event of the crash writer says of itself.
private struct Made: Equatable {
  var round: Int, task: Int, number: Int, count: Int, index: Int

  init(_ event: RecordedEvent) throws {
    let numbers = String(decoding: event.payload.bytes, as: UTF8.self).split(separator: " ").prefix(5)
      .compactMap { Int($0) }
    try #require(numbers.count == 5)
    (round, task, number, count, index) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
  }
}

/// Holds a feed to the law: whole appends, in order, without gaps, each task's own in order.
private struct FeedCheck: Sendable {
  private(set) var head: UInt64 = 0
  /// Over everything taken in, in order.
  private(set) var digest: UInt64 = 0
  private var numbers: [String: Int] = [:]

  mutating func take(_ append: RecordedAppend) throws {
    try #require(append.sequences.lowerBound == head + 1, "a gap or a repetition at \(head + 1)")
    head = append.sequences.upperBound
    let made = try append.events.map(Made.init)
    try #require(
      made.count == made[0].count && made.map(\.index) == Array(0..<made[0].count), "a partial append")
    let stream = append.events[0].stream.text
    try #require(made[0].number == numbers[stream, default: 0], "\(stream) is out of order")
    numbers[stream] = made[0].number + 1
    for event in append.events {
      digest = withUnsafeBytes(of: (digest, event.sequence, XXH64.of(event.payload.bytes))) { XXH64.of($0) }
    }
  }
}

@Suite(.serialized) struct KilledProcessTests {
  /// Writers that are killed: so many, or `STRATA_KILLS` of them.
  private static let rounds = ProcessInfo.processInfo.environment["STRATA_KILLS"].flatMap { Int($0) } ?? 20

  /// Calls at which every third writer ends itself, each after so many of its kind.
  private static let points: [(call: String, counts: ClosedRange<Int>)] = [
    ("write segment", 1...60), ("sync segment", 1...60), ("write HEAD", 1...60), ("sync HEAD", 1...12),
    ("rename", 1...3), ("sync folder", 1...6), ("write temporary", 1...3), ("sync temporary", 1...3),
    ("write quarantine", 1...1), ("sync quarantine", 1...1), ("cut segment", 1...3), ("write index", 1...4),
  ]

  /// Opens the store after a kill, and looks at what was appended since the last time. Blocks.
  private static func look(_ path: String, round: Int, lines: [String], _ before: FeedCheck) throws
    -> FeedCheck
  {
    var check = before
    var options = StoreOptions()
    options.segmentSizeTarget = 40_000
    let store = try EventStore.openBlocking(
      at: path, round % 4 == 0 ? .readWrite : .readOnly, options: options)
    defer { try? store.closeBlocking() }
    var cursor = store.log.cursor(after: check.head)
    while let block = try cursor.next() {
      for append in try RecordedAppend.appends(in: block, after: check.head) { try check.take(append) }
    }
    #expect(check.head == store.head.sequence)
    for line in lines {
      let said = line.split(separator: " ").compactMap { UInt64($0) }
      let append = try #require(try store.appendBlocking(holding: said[0]), "round \(round): \(line) is lost")
      let made = try Made(append.events[0])
      #expect(
        made.round == round && made.task == said[1] && made.number == said[2], "round \(round): \(line)")
      #expect(
        append.sequences.lowerBound == said[0] && append.events.count == said[3], "round \(round): \(line)")
    }
    return check
  }

  @Test
  func
    `fault 01: nothing acknowledged is lost when a writer is killed, and who follows only sees whole appends`()
    async throws
  {
    let path = NSTemporaryDirectory() + "strata-kill-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    var random = StrataSimulation.SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    try EventStore.openBlocking(at: path).closeBlocking()
    let reader = try EventStore.openBlocking(at: path, .readOnly)
    let follower = Task {
      var check = FeedCheck()
      for try await append in reader.feed() { try check.take(append) }
      return (head: check.head, digest: check.digest)
    }
    // Nothing here may hold a thread of the cooperative pool: a writer that is killed late writes too much.
    let threads = IOThreads(name: "kill", threadCountMax: 2)
    var acknowledged = 0
    var check = FeedCheck()
    var deaths: [String: Int] = [:]
    for round in 0..<Self.rounds {
      let choice = Self.points[round / 3 % Self.points.count]
      let point =
        round % 3 == 2 ? (call: choice.call, count: Int.random(in: choice.counts, using: &random)) : nil
      let (process, pipe) = try CrashWriter.start(path, round: round, tasks: 8, dyingAt: point)
      let hasBegun = Gate(false)
      async let said = threads.run { () -> [String] in
        var data = Data()
        while case let part = pipe.fileHandleForReading.availableData, !part.isEmpty {
          data += part
          hasBegun.withLock { $0 = true }
          hasBegun.signalAll()
        }
        // One that ended at its point may have said nothing.
        hasBegun.withLock { $0 = true }
        hasBegun.signalAll()
        let text = String(decoding: data, as: UTF8.self)
        // A line that the kill cut short was not said.
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
      }
      let pause = Int.random(in: 5...70, using: &random)
      let isAtPoint = await threads.run { () -> Bool in
        // Most are killed while they write, some while they open.
        if round % 5 > 0 { _ = hasBegun.wait(timeout: .seconds(10)) { $0 } }
        // One that does not come by its point is killed like the others.
        for _ in 0..<(point == nil ? 0 : 100) where process.isRunning { pauseThread(nanoseconds: 5_000_000) }
        if !process.isRunning {
          process.waitUntilExit()
          return true
        }
        pauseThread(nanoseconds: pause * 1_000_000)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return false
      }
      let lines = await said
      try #require(process.terminationReason == .uncaughtSignal, "round \(round): the writer ended by itself")
      if isAtPoint, let point { deaths[point.call, default: 0] += 1 }
      let before = check
      check = try await threads.result { try Self.look(path, round: round, lines: lines, before) }.get()
      acknowledged += lines.count
    }
    let head = check.head
    // The follower looks at LOCK once a second where no writer moves HEAD.
    let deadline = ContinuousClock.now + .seconds(5)
    while reader.head.sequence < head, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(20))
    }
    try reader.closeBlocking()
    let followed = try await follower.value
    #expect(followed.head == head)
    let segments = try SegmentCatalog.names(PosixFileSystem(), StoreLayout(root: path)).count
    let ends = deaths.sorted { $0.key < $1.key }.map { "\($0.value) at \($0.key)" }.joined(separator: ", ")
    print(
      "\(Self.rounds) kills: \(acknowledged) appends acknowledged, \(head) events, \(segments) segments; \(ends)"
    )
    #expect(acknowledged > Self.rounds)
    let whole = try await threads.result { try Self.look(path, round: 0, lines: [], FeedCheck()) }.get()
    #expect(whole.head == head)
    #expect(whole.digest == followed.digest, "what was followed is not what is there")
    #expect(try PosixFileSystem().findings(inStore: path).allSatisfy { $0.class == .torn })
  }
}
