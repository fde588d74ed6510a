// Stores whose derived indexes are not there: what has to wait until they are built, and what goes on meanwhile.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct UnbuiltIndexTests {
  private static let path = "/store"
  private static let layout = StoreLayout(root: path)
  private static let segmentCount = 12

  private static func options() -> StoreOptions {
    var options = FaultStore.options(segmentSizeTarget: 1)
    options.writesInStep = false
    return options
  }

  private static func draft(
    _ stream: String, id: String? = nil, expecting: ExpectedVersion? = nil
  ) -> AppendDraft {
    ModelAppend([ModelEvent(stream: stream, type: "t")], id: id)
      .draft(expecting: expecting.map { [(stream: stream, version: $0)] } ?? [])
  }

  /// A closed store with a segment for each append and no index. The streams go round in threes, the last segment
  /// has one of its own, and each append has an id.
  private static func disk() throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let log = try Log.openWriter(disk, path: path, options: options())
    for number in 1..<segmentCount {
      _ = try log.appendBlocking(draft("s/\(number % 3)", id: "id-\(number)"))
    }
    _ = try log.appendBlocking(draft("busy", id: "id-\(segmentCount)"))
    try log.close()
    for name in disk.paths where name.hasPrefix(layout.derived + "/") { disk.delete(name) }
    return disk
  }

  private static func open(_ disk: SimulatedDisk) throws -> Log {
    var options = options()
    options.segmentSizeTarget = 1 << 20
    return try Log.openWriter(disk, path: path, options: options)
  }

  /// A segment that cannot be read until it is let go.
  private struct HeldSegment {
    private enum Phase { case free, reached, letGo, inTheWay }
    private let gate = Gate(Phase.free)

    init(_ first: SegmentName, of disk: SimulatedDisk) {
      disk.onOperation { [gate] call in
        guard call.operation == .open, call.path == UnbuiltIndexTests.layout.segment(first) else {
          return .proceed
        }
        gate.withLock { if $0 == .free { $0 = .reached } }
        gate.signalAll()
        // Whoever waits for this although it need not would wait for ever.
        if !gate.wait(timeout: .seconds(240), until: { $0 != .reached }) { gate.withLock { $0 = .inTheWay } }
        return .proceed
      }
    }

    func waitUntilReached() { gate.wait { $0 != .free } }

    /// - Returns: false where somebody waited for this who should not.
    func letGo() -> Bool {
      defer { gate.signalAll() }
      return gate.withLock { phase in
        defer { phase = .letGo }
        return phase != .inTheWay
      }
    }
  }

  /// Appends on a thread of its own.
  private struct Appending {
    private let gate = Gate<AppendResult?>(nil)

    init(_ log: Log, _ draft: AppendDraft) throws {
      _ = try DedicatedThread(name: "append") { [gate] in
        let result = Result { () throws(StoreError) in try log.appendBlocking(draft) }
        gate.withLock { $0 = result }
        gate.signalAll()
      }
    }

    var isDone: Bool { gate.withLock { $0 != nil } }
    func outcome() throws -> AppendOutcome { try gate.wait { $0 }.get() }
  }

  @Test func `an append waits for the indexes that it needs, and no other append or look-up waits with it`()
    throws
  {
    let disk = try Self.disk()
    let log = try Self.open(disk)
    let held = HeldSegment(1, of: disk)
    let waiting = try Appending(log, Self.draft("new", id: "new", expecting: .exactly(0)))
    held.waitUntilReached()
    // In the active segment, in closed ones that were looked through on the way to the first, and both.
    #expect(try log.appendBlocking(Self.draft("busy", expecting: .exactly(1))).first == 13)
    #expect(try log.appendBlocking(Self.draft("s/1")).first == 14)
    #expect(try log.appendBlocking(Self.draft("s/2", expecting: .exactly(4))).first == 15)
    #expect(throws: StoreError.conflict(stream: "s/0", expected: .exactly(1), actual: 3)) {
      try log.appendBlocking(Self.draft("s/0", expecting: .exactly(1)))
    }
    #expect(try log.appendBlocking(Self.draft("s/1", id: "id-7", expecting: .exactly(0))).first == 7)
    #expect(throws: StoreError.idReused(id: "id-8", sequences: 8...8)) {
      try log.appendBlocking(Self.draft("s/1", id: "id-8"))
    }
    #expect(try log.index.revision(of: Array("busy".utf8)) == 2)
    #expect(!waiting.isDone)
    #expect(held.letGo())
    #expect(try waiting.outcome().first == 16)
    #expect(try log.appendBlocking(Self.draft("new", id: "new")).isKnown)
    #expect(try log.modelAppends().map(\.revisions).suffix(4) == [[2], [5], [5], [1]])
    try log.close()
  }

  @Test func `an append of a run that needs less than those after it stays before them`() throws {
    let disk = try Self.disk()
    let log = try Self.open(disk)
    let held = HeldSegment(1, of: disk)
    let run = try log.run()
    // The index that the first needs is built first; the one after it waits for the first segment's.
    let streams = ["s/2", "new", "s/1", "s/0"]
    for (label, stream) in streams.enumerated() {
      #expect(try run.add(Self.draft(stream), label: UInt64(label)))
    }
    held.waitUntilReached()
    #expect(try log.appendBlocking(Self.draft("busy")).first > 0)
    #expect(held.letGo())
    let progress = run.drain()
    #expect(progress.appended == 4 && progress.failure == nil)
    let appended = try log.modelAppends(after: 12).map { $0.append.events[0].stream }
    #expect(appended.filter { $0 != "busy" } == streams)
    try log.close()
  }

  @Test
  func `appends of one run, or handed over together, keep their order where the first waits for an index`()
    throws
  {
    let disk = try Self.disk()
    let log = try Self.open(disk)
    let held = HeldSegment(1, of: disk)
    let run = try log.run()
    for (label, stream) in ["new", "busy", "s/1", "newer"].enumerated() {
      #expect(try run.add(Self.draft(stream), label: UInt64(label)))
    }
    held.waitUntilReached()
    let together = Gate<[AppendResult]?>(nil)
    _ = try DedicatedThread(name: "append") {
      let results = try? log.appendBlocking(["newest", "busy", "s/2"].map { Self.draft($0) })
      together.withLock { $0 = results ?? [] }
      together.signalAll()
    }
    #expect(try log.appendBlocking(Self.draft("busy")).first == 13)
    #expect(run.progress.appended == 0)
    #expect(try run.add(Self.draft("s/0"), label: 9))
    #expect(held.letGo())
    let progress = run.drain()
    #expect(progress.appended == 5 && progress.failure == nil)
    let results = try together.wait { $0 }.map { try $0.get().first }
    #expect(results == results.sorted() && results.count == 3)
    let streams = try log.modelAppends(after: 13).map { $0.append.events[0].stream }
    let ofRun = streams.filter { ["new", "s/1", "newer", "s/0"].contains($0) }
    #expect(ofRun == ["new", "s/1", "newer", "s/0"] && streams.count == 8)
    try log.close()
  }

  @Test
  func `an append that waits for an index can be taken back, and counts for what may be pending`()
    async throws
  {
    let disk = try Self.disk()
    let log = try Self.open(disk)
    let held = HeldSegment(1, of: disk)
    let task = Task { try await log.append(Self.draft("new")) }
    await IOThreads(name: "test", threadCountMax: 1).run { held.waitUntilReached() }
    // Set aside only after its group was written, which another group is a sign of.
    _ = try await log.append(Self.draft("busy"))
    #expect(log.pendingBytes > 0)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(log.pendingBytes == 0)
    #expect(held.letGo())
    #expect(try log.modelAppends().count == Self.segmentCount + 1)
    try log.close()
  }

  @Test func `a log that is closed while an append waits for an index commits it first`() throws {
    for suspends in [false, true] {
      let disk = try Self.disk()
      let log = try Self.open(disk)
      let held = HeldSegment(1, of: disk)
      let waiting = try Appending(log, Self.draft("new"))
      held.waitUntilReached()
      let ended = Gate(false)
      _ = try DedicatedThread(name: "close") {
        do { if suspends { try log.suspend() } else { try log.close() } } catch { Issue.record("\(error)") }
        ended.withLock { $0 = true }
        ended.signalAll()
      }
      #expect(held.letGo())
      #expect(try waiting.outcome().first == 13)
      ended.wait { $0 }
      if suspends {
        try log.resume()
        #expect(try log.appendBlocking(Self.draft("newer")).first == 14)
        try log.close()
      }
      #expect(try disk.findings(inStore: Self.path) == [])
    }
  }

  @Test func `an append whose look-up meets damage is refused, and others go on`() throws {
    let disk = try Self.disk()
    let log = try Self.open(disk)
    disk.flipBit(Self.layout.segment(3), (SegmentHeader.length + BlockHeader.length) * 8 + 3)
    let refusal = #expect(throws: StoreError.self) { try log.appendBlocking(Self.draft("new")) }
    guard case .damaged(let finding) = refusal else {
      Issue.record("\(refusal as Any)")
      return
    }
    #expect(finding.file == SegmentName(3).path)
    #expect(try log.appendBlocking(Self.draft("busy")).first == 13)
    #expect(try log.appendBlocking(Self.draft("s/1")).first == 14)
    try log.close()
  }
}
