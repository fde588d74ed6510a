// The counters of a log, against what its answers say.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct StatisticsTests {
  private static let path = "/store"
  private static let layout = StoreLayout(root: path)

  /// What a log should have counted, by the answers that it gave.
  private struct Model {
    let durability: Durability
    var expected = StoreStatistics()

    mutating func add(_ results: [AppendResult]) {
      var isWritten = false
      for result in results {
        switch result {
        case .success(let outcome) where outcome.isKnown: expected.knownCount += 1
        case .success(let outcome):
          isWritten = true
          expected.appendCount += 1
          expected.eventCount += outcome.last - outcome.first + 1
        case .failure(.conflict): expected.conflictCount += 1
        case .failure: break
        }
      }
      guard isWritten else { return }
      expected.groupCount += 1
      if durability != .buffered { expected.syncCount += 1 }
    }
  }

  private static func result(_ body: () throws(StoreError) -> AppendOutcome) -> AppendResult {
    do throws(StoreError) { return .success(try body()) } catch { return .failure(error) }
  }

  private static func end(_ log: Log) -> (segment: SegmentName, offset: UInt64) {
    (log.mark.segment, log.mark.visible.offset)
  }

  @Test(arguments: SeededGenerator.historySeeds(24))
  func `counters are what the answers of random calls add up to`(seed: UInt64) throws {
    var source = RandomAppends(seed: seed, sizeTypical: 200, sizeMax: 1_000)
    let durability = Durability.allCases.randomElement(using: &source.random)!
    var options = StoreOptions.still(durability, segmentSize: 6_000, blockSize: 2_000)
    options.writesInStep = true
    let disk = SimulatedDisk()
    var earlier: [ModelAppend] = []
    for _ in 0..<Int.random(in: 1...3, using: &source.random) {
      let isTorn = !earlier.isEmpty && Bool.random(using: &source.random)
      if isTorn { try Self.tear(disk) }
      let log = try Log.openWriter(disk, path: Self.path, options: options)
      let before = log.source.catalog.names.count
      #expect((log.observation.recovery != nil) == isTorn)
      var model = Model(durability: durability)
      if isTorn {
        model.add([Self.result { () throws(StoreError) in try log.appendBlocking(source.append().draft()) }])
        model.expected.cutTailCount += 1
        // Of the cut, and of the block that says so.
        model.expected.syncCount += durability == .buffered ? 1 : 2
        model.expected.syncCount += UInt64(log.source.catalog.names.count - before)
      }
      for _ in 0..<Int.random(in: 5...25, using: &source.random) {
        let before = (end: Self.end(log), bytes: log.observation.counters.statistics.byteCount)
        let segmentCount = log.source.catalog.names.count
        try Self.step(log, disk, &source, &earlier, &model)
        let after = Self.end(log)
        if after.segment == before.end.segment {
          let written = log.observation.counters.statistics.byteCount - before.bytes
          #expect(written == after.offset - before.end.offset)
        }
        model.expected.syncCount += UInt64(log.source.catalog.names.count - segmentCount)
        model.expected.byteCount = log.observation.counters.statistics.byteCount
        #expect(log.observation.counters.statistics == model.expected)
      }
      try log.close()
      #expect(log.observation.counters.statistics == model.expected)
    }
  }

  private static func step(
    _ log: Log, _ disk: SimulatedDisk, _ source: inout RandomAppends, _ earlier: inout [ModelAppend],
    _ model: inout Model
  ) throws {
    switch Int.random(in: 0..<12, using: &source.random) {
    case 0:
      let repeated = earlier.filter { $0.id != nil }.randomElement(using: &source.random)
      guard let repeated else { return }
      model.add([result { () throws(StoreError) in try log.appendBlocking(repeated.draft()) }])
    case 1, 2:
      let append = source.append()
      let draft = append.draft(expecting: [(append.events[0].stream, .exactly(1_000_000))])
      model.add([result { () throws(StoreError) in try log.appendBlocking(draft) }])
    case 3:
      let active = layout.segment(log.mark.segment)
      disk.onOperation { call in
        call.operation == .write && call.path == active ? .fail(SystemErrorCode.inputOutput) : .proceed
      }
      let append = source.append()
      model.add([result { () throws(StoreError) in try log.appendBlocking(append.draft()) }])
      disk.onOperation(nil)
    case 4: model.expected.sealCount += UInt64(try log.seal().sealed)
    case 5, 6:
      let appends = (0..<Int.random(in: 1...4, using: &source.random)).map { _ in source.append() }
      // The same id twice in a group is known the second time.
      let all = appends + appends.prefix(1).filter { $0.id != nil }
      let results = try log.appendBlocking(all.map { $0.draft() })
      model.add(results)
      for (append, result) in zip(appends, results) { if case .success = result { earlier.append(append) } }
    default:
      let append = source.append()
      let result = result { () throws(StoreError) in try log.appendBlocking(append.draft()) }
      model.add([result])
      if case .success = result { earlier.append(append) }
    }
  }

  /// Leaves what a write that was never finished would.
  private static func tear(_ disk: SimulatedDisk) throws {
    let last = try #require(try SegmentCatalog.names(disk, layout).last)
    let path = layout.segment(last)
    disk.replace(path, disk.contents(path)! + Array(repeating: 7, count: 99))
    disk.delete(layout.head)
  }

  @Test func `a torn tail is known from the open on, and where its copy is once it was cut off`() throws {
    let disk = SimulatedDisk()
    let options = StoreOptions.still()
    let first = try Log.openWriter(disk, path: Self.path, options: options)
    _ = try first.appendBlocking(ModelAppend([ModelEvent(stream: "a", type: "t")]).draft())
    let end = first.mark.visible.offset
    #expect(first.observation.recovery == nil)
    try first.close()
    try Self.tear(disk)

    let reader = try Log.openReader(disk, path: Self.path, options: options)
    let file = SegmentName(1).path
    let found = TailRecovery(file: file, offset: end, byteCount: 99)
    #expect(reader.observation.recovery == found)
    let log = try Log.openWriter(disk, path: Self.path, options: options)
    #expect(log.observation.recovery == found)
    _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "a", type: "t")]).draft())
    let cut = try #require(log.observation.recovery)
    let path = try #require(cut.keptPath)
    #expect(cut == TailRecovery(file: file, offset: end, byteCount: 99, keptPath: path))
    #expect(disk.contents("\(Self.path)/\(path)") == Array(repeating: 7, count: 99))
    #expect(log.observation.counters.statistics.cutTailCount == 1)
    // A file of somebody else there is no tail.
    try disk.open("\(Self.layout.quarantine)/notes.txt", .create).close()
    #expect(try log.keptTails() == [cut])
    #expect(try reader.keptTails() == [cut])
    try log.close()
  }

  @Test func `no sync is timed unless somebody observes, and every one while somebody does`() throws {
    for isObserved in [false, true] {
      var options = StoreOptions.still()
      if isObserved { options.observer = RecordingObserver() }
      let log = try Log.openWriter(SimulatedDisk(), path: Self.path, options: options)
      for _ in 0..<5 { _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "a", type: "t")]).draft()) }
      let counted = log.observation.counters.statistics
      #expect(counted.syncCount >= 5)
      #expect(counted.timedSyncCount == (isObserved ? counted.syncCount : 0))
      #expect((counted.syncTime > .zero) == isObserved)
      try log.close()
    }
  }

  @Test func `gauges say what waits and what is on disk`() throws {
    let disk = SimulatedDisk()
    let log = try Log.openWriter(disk, path: Self.path, options: .still(segmentSize: 2_000))
    var source = RandomAppends(seed: 2)
    for _ in 0..<40 { _ = try log.appendBlocking(source.append().draft()) }
    _ = try log.seal()
    let gauges = try log.gauges()
    let names = try SegmentCatalog.names(disk, Self.layout)
    #expect(gauges.segmentCount == names.count && names.count > 2)
    let sizes = names.map { disk.contents(Self.layout.segment($0))!.count }
    #expect(gauges.logByteCount == UInt64(sizes.reduce(0, +)))
    let derived = disk.paths.filter { $0.hasPrefix(Self.layout.derived + "/") }
    #expect(gauges.derivedByteCount == UInt64(derived.reduce(0) { $0 + (disk.contents($1)?.count ?? 0) }))
    #expect(gauges.pendingAppendCount == 0 && gauges.pendingByteCount == 0)

    // While the disk does not answer, appends wait.
    let isHeld = Gate(true)
    disk.onOperation { call in
      if call.operation == .syncData { isHeld.wait { !$0 } }
      return .proceed
    }
    let run = try log.run()
    var drafts: [AppendDraft] = []
    for number in 0..<10 {
      let draft = source.append().draft()
      drafts.append(draft)
      _ = try run.add(draft, label: UInt64(number))
    }
    let waiting = try log.gauges()
    // The first group may have some of them.
    #expect((0...10).contains(waiting.pendingAppendCount))
    #expect((waiting.pendingAppendCount == 0) == (waiting.pendingByteCount == 0))
    #expect(waiting.pendingByteCount <= drafts.reduce(0) { $0 + $1.byteCount })
    isHeld.withLock { $0 = false }
    isHeld.signalAll()
    run.drain()
    #expect(try log.gauges().pendingAppendCount == 0)
    try log.close()
  }
}
