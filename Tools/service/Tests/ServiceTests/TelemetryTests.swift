// What reaches the logs, metrics and traces of a service.

import Foundation
import InMemoryLogging
import InMemoryTracing
import Logging
import Metrics
import MetricsTestKit
import Strata
import StrataObservability
import StrataTesting
import Testing
import Tracing

private struct Ticket: Codable, Identifiable, Sendable, Hashable {
  var id: String
  var title: String
}

@Suite struct TelemetryTests {
  /// All that one store sends.
  private struct Backend {
    let metrics = TestMetrics()
    let tracer = InMemoryTracer()
    let lines = InMemoryLogHandler()

    func telemetry(store: String? = nil, logsContents: Bool = false, background: Bool = false)
      -> StoreTelemetry
    {
      var logger = Logger(label: "strata") { _ in lines }
      logger.logLevel = .trace
      return StoreTelemetry(
        store: store, logger: logger, metrics: metrics, tracer: tracer, logsContents: logsContents,
        tracesBackground: background)
    }

    /// Waits until something comes true that the store's thread for its observer does.
    func wait(_ condition: () -> Bool) async {
      while !condition() { try? await Task.sleep(for: .milliseconds(1)) }
    }
  }

  private static func options(_ telemetry: StoreTelemetry) -> StoreOptions {
    var options = StoreOptions()
    options.observer = telemetry
    return options
  }

  // MARK: Metrics

  @Test func `counters add up to the statistics, and gauges are those of the store`() async throws {
    let backend = Backend()
    let telemetry = backend.telemetry(store: "desk")
    let store = EventStore.inMemory(options: Self.options(telemetry))
    let label = [("strata.store", "desk")]
    for round in 0..<3 {
      for number in 0..<10 {
        try await store.append([NewEvent("opened", in: "ticket/\(number)", .int(Int64(round)))])
      }
      await telemetry.reportNow(store)
      let counted = store.statistics
      func total(_ metric: String) -> Int64 {
        backend.metrics.counterTotal(label: metric, dimensions: label)
      }
      #expect(
        total("strata.append.written") == Int64(counted.appendCount)
          && counted.appendCount == UInt64(10 * round + 10))
      #expect(total("strata.event.written") == Int64(counted.eventCount))
      #expect(total("strata.log.written") == Int64(counted.byteCount))
      #expect(total("strata.log.syncs") == Int64(counted.syncCount))
    }
    let gauges = try await store.gauges()
    let size = try backend.metrics.expectMeter("strata.log.size", label)
    #expect(size.lastValue == Double(gauges.logByteCount))
    await backend.wait {
      backend.metrics.timers(label: "strata.commit.duration").first?.values.count == 30
    }
    try await store.close()
  }

  @Test func `every metric that is sent is one of the list, with its kind, and every one is sent`()
    async throws
  {
    let backend = Backend()
    let telemetry = backend.telemetry()
    var options = Self.options(telemetry)
    options.history = .all
    let store = EventStore.inMemory(options: options)
    let tickets = store.collection("ticket", of: Ticket.self)
    try await tickets.put(Ticket(id: "1", title: "one"))
    _ = try await tickets["1"]
    let list = FetchController(ListRequest(Ticket.self), from: tickets)
    _ = try await list.performFetch()
    _ = try await list.snapshot(at: .sequence(1))
    telemetry.store(did: .damage(try await Self.finding()))
    telemetry.store(did: .poisoned(.full(path: "/store")))
    telemetry.store(did: .discarded(.state, projection: "p", why: "w"))
    telemetry.store(did: .halted(.consumer, name: "c", sequence: 1, what: "w"))
    await telemetry.reportNow(store)
    await backend.wait {
      !backend.metrics.timers(label: "strata.past.duration").isEmpty
        && !backend.metrics.timers(label: "strata.fold.duration").isEmpty
    }
    var sent: [String: String] = [:]
    for counter in backend.metrics.counters { sent[counter.label] = "counter" }
    for meter in backend.metrics.meters { sent[meter.label] = "gauge" }
    for timer in backend.metrics.timers { sent[timer.label] = "histogram" }
    for recorder in backend.metrics.recorders { sent[recorder.label] = "histogram" }
    #expect(try sent == Self.listed())
    try await store.close()
  }

  /// The names of the page's table of metrics, and their kinds.
  private static func listed() throws -> [String: String] {
    let page = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(
        path: "../../../../Sources/StrataObservability/StrataObservability.docc/StrataObservability.md")
    var listed: [String: String] = [:]
    for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count > 3, cells[0].hasPrefix("`strata."),
        ["counter", "gauge", "histogram"].contains(cells[1])
      else { continue }
      listed[cells[0].trimmingCharacters(in: ["`"])] = cells[1]
    }
    return listed
  }

  /// The finding of a real store, a byte of which was changed.
  private static func finding() async throws -> StoreFinding {
    let path = FileManager.default.temporaryDirectory.appending(path: "strata-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try await EventStore.open(at: path)
    for number in 0..<20 { try await store.append([NewEvent("a", in: "s/1", .int(Int64(number)))]) }
    try await store.close()
    let folder = path + "/log"
    let name = try #require(
      try FileManager.default.contentsOfDirectory(atPath: folder).first { $0.hasSuffix(".seg") })
    var bytes = try Data(contentsOf: URL(filePath: folder + "/" + name))
    bytes[bytes.count / 2] ^= 1
    try bytes.write(to: URL(filePath: folder + "/" + name))
    var options = StoreOptions()
    options.readsDamaged = true
    let reader = try await EventStore.open(at: path, .readOnly, options: options)
    let finding = try #require(reader.knownDamage.first)
    try await reader.close()
    return finding
  }

  @Test func `reports end when the store is closed, with what was counted last`() async throws {
    let backend = Backend()
    let telemetry = backend.telemetry()
    let store = EventStore.inMemory(options: Self.options(telemetry))
    let reports = Task { await telemetry.report(store, every: .seconds(3_600)) }
    await backend.wait { !backend.metrics.meters.isEmpty }
    try await store.append([NewEvent("a", in: "s/1", .null)])
    try await store.close()
    await reports.value
    #expect(backend.metrics.counterTotal(label: "strata.append.written") == 1)
  }

  // MARK: Logs

  @Test(arguments: [false, true])
  func `contents and streams are in no line unless they are asked for`(logsContents: Bool) async throws {
    let backend = Backend()
    let telemetry = backend.telemetry(logsContents: logsContents)
    let finding = try await Self.finding()
    let activities: [StoreActivity] = [
      .slowSync(.milliseconds(1_500)), .stateSaved(projection: "board", sequence: 4, byteCount: 5),
      .stateFailed(projection: "board", error: .conflict(stream: "secret/1", expected: .any, actual: 2)),
      .discarded(.state, projection: "board", why: "other code has made it"),
      .halted(.projection, name: "board", sequence: 7, what: "secret"), .damage(finding),
      .poisoned(.idReused(id: "secret", sequences: 1...2)), .missed(3),
    ]
    for activity in activities { telemetry.store(did: activity) }
    let text = backend.lines.entries.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n")
    #expect(text.contains("secret") == logsContents)
    #expect(
      backend.lines.entries.map(\.level) == [
        .warning, .debug, .warning, .notice, .error, .critical, .critical, .warning,
      ])
    #expect(backend.lines.entries[0].metadata["strata.duration"] == "1.5")
    #expect(backend.lines.entries[4].metadata["strata.sequence"] == "7")
    let damage = backend.lines.entries[5].metadata
    #expect(damage["strata.file"] == "\(finding.file)" && damage["strata.first"] == "\(finding.first)")
    #expect((damage["strata.error"] == nil) != logsContents)
  }

  @Test func `a torn tail of a real open is a line, and so is that it was cut off`() async throws {
    let disk = SimulatedDisk()
    let first = try await disk.open(at: "/store")
    try await first.append([NewEvent("a", in: "s/1", .null)])
    disk.cutPower(atOperation: disk.operationCount + 2, partOfWrite: 0.5)
    let long = NewEvent("a", in: "s/1", .string(String(repeating: "x", count: 20_000)))
    await #expect(throws: StoreError.self) { while true { try await first.append([long]) } }
    for seed in 0..<100 {
      let backend = Backend()
      let store = try await disk.afterPowerCut(seed: UInt64(seed)).open(
        at: "/store", options: Self.options(backend.telemetry(store: "desk")))
      guard let found = store.recovery else {
        try await store.close()
        continue
      }
      try await store.append([NewEvent("a", in: "s/1", .null)])
      await backend.wait { backend.lines.entries.count >= 2 }
      let metadata = backend.lines.entries.map(\.metadata)
      #expect(
        metadata.allSatisfy { $0["strata.bytes"] == "\(found.byteCount)" && $0["strata.store"] == "desk" })
      #expect(metadata[0]["strata.kept"] == nil && metadata[1]["strata.kept"] != nil)
      return try await store.close()
    }
    Issue.record("no power cut has left a torn tail")
  }

  // MARK: Traces

  @Test func `a request, its append and the consumer that handles it are one tree`() async throws {
    let backend = Backend()
    let tracer = backend.tracer
    let store = EventStore.inMemory(options: Self.options(backend.telemetry()))
    try await tracer.withSpan("request") { _ in
      try await EventStore.withTrace(by: tracer) {
        _ = try await store.append([NewEvent("opened", in: "ticket/1", .null)])
      }
    }
    // Of no trace.
    try await store.append([NewEvent("opened", in: "ticket/2", .null)])
    try await store.consumer("mailer").run(until: .caughtUp) { append, batch in
      let context = append.traceContext(by: tracer)
      #expect((context == nil) == (append.events[0].stream == "ticket/2"))
      guard let context else { return }
      try tracer.withSpan("mail", context: context, ofKind: .consumer) { _ in
        try batch.append(
          NewEvent("sent", in: "outbox/1", .null, metadata: EventStore.traceMetadata(by: tracer)))
      }
    }
    await backend.wait { tracer.finishedSpans.count == 3 }
    let spans = tracer.finishedSpans
    let request = try #require(spans.first { $0.operationName == "request" })
    #expect(request.parentSpanID == nil)
    for name in ["strata append", "mail"] {
      let span = try #require(spans.first { $0.operationName == name })
      #expect(span.traceID == request.traceID && span.parentSpanID == request.spanID, "\(name)")
    }
    let append = try #require(spans.first { $0.operationName == "strata append" })
    #expect(append.attributes.get("strata.events") == .int64(1))
    #expect(append.startInstant.nanosecondsSinceEpoch <= append.endInstant.nanosecondsSinceEpoch)
    // The effect goes on with the consumer's span.
    let effect = try #require(try await store.events(in: "outbox/1").first)
    let mail = try #require(spans.first { $0.operationName == "mail" })
    #expect(effect.traceContext(by: tracer)?.inMemorySpanContext?.spanID == mail.spanID)
    try await store.close()
  }

  @Test func `fetches and reads of the past are spans of the task that asked, folds have no parent`()
    async throws
  {
    let backend = Backend()
    let tracer = backend.tracer
    let store = EventStore.inMemory(options: Self.options(backend.telemetry(background: true)))
    let tickets = store.collection("ticket", of: Ticket.self)
    try await tickets.put(Ticket(id: "1", title: "one"))
    let list = FetchController(ListRequest(Ticket.self), from: tickets)
    try await tracer.withSpan("request") { _ in
      _ = try await list.performFetch()
      _ = try await list.snapshot(at: .sequence(1))
    }
    let names = ["request", "strata commit", "strata fold", "strata fetch", "strata past"]
    await backend.wait { Set(names).isSubset(of: tracer.finishedSpans.map(\.operationName)) }
    let spans = tracer.finishedSpans
    let request = try #require(spans.first { $0.operationName == "request" })
    for span in spans where span.operationName != "request" {
      let isCall = ["strata fetch", "strata past"].contains(span.operationName)
      #expect((span.parentSpanID == request.spanID) == isCall, "\(span.operationName)")
    }
    try await store.close()
  }
}
