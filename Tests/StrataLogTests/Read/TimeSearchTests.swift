// Points by time against a scan of all appends, with clocks that jump both ways.

import StrataBase
import StrataSimulation
import Testing

@testable import StrataLog

/// A store whose appends have times of every kind, and what each of them was recorded with.
private struct TimedStore {
  static let path = "/store"
  static let layout = StoreLayout(root: path)

  /// An append as it was acknowledged.
  struct Known {
    var first: UInt64
    var last: UInt64
    var ownTime: Int64
  }

  let disk = SimulatedDisk()
  let clock = SimulatedClock(1_000_000)
  var options: StoreOptions
  var log: Log
  var known: [Known] = []
  var random: SeededGenerator

  init(seed: UInt64) throws {
    random = SeededGenerator(seed: seed)
    options = StoreOptions.still(
      segmentSize: [2_000, 8_000, 30_000, 1 << 20].randomElement(using: &random)!,
      blockSize: [100, 400, 4_000].randomElement(using: &random)!)
    options.clock = clock.storeClock
    options.savedIndexEventsMin = [8, 4_096].randomElement(using: &random)!
    options.writesInStep = true
    options.preallocationStep = 0
    log = try Log.openWriter(disk, path: Self.path, options: options)
  }

  /// An append at a time that the clock, or its caller, says.
  private mutating func draft() -> AppendDraft {
    switch Int.random(in: 0..<8, using: &random) {
    case 0: clock.set(to: Int64.random(in: 0...2_000_000, using: &random))
    case 1: clock.advance(by: .nanoseconds(Int64.random(in: -5_000...20_000, using: &random)))
    case 2...6: clock.advance(by: .nanoseconds(Int64.random(in: 0...3, using: &random)))
    default: break
    }
    let length = Int.random(in: 0..<60, using: &random) == 0 ? 30_000 : Int.random(in: 0...20, using: &random)
    let events = (0..<Int.random(in: 1...3, using: &random)).map { number in
      ModelEvent(stream: "s/\(number)", type: "t", payload: Bytes(repeating: 7, count: length))
    }
    let given: Int64? =
      Int.random(in: 0..<10, using: &random) == 0
      ? [.min + 1, .max - 1, 0, Int64.random(in: 0...2_000_000, using: &random)].randomElement(using: &random)
      : nil
    return ModelAppend(events, given: given).draft()
  }

  mutating func append(_ count: Int) throws {
    let results =
      Bool.random(using: &random)
      ? try log.appendBlocking((0..<count).map { _ in draft() })
      : try (0..<count).map { _ in .success(try log.appendBlocking(draft())) }
    for result in results {
      let outcome = try result.get()
      known.append(
        Known(first: outcome.first, last: outcome.last, ownTime: outcome.given ?? outcome.time))
    }
  }

  /// Something that changes files and no answer.
  mutating func disturb() throws {
    let indexes = disk.paths.filter { $0.hasSuffix(".idx") }.sorted()
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      try log.close()
      log = try Log.openWriter(disk, path: Self.path, options: options)
    case 1: _ = try log.seal()
    case 2: for path in indexes { try disk.remove(path) }
    case 3:
      if let path = indexes.randomElement(using: &random) {
        let file = try disk.open(path, .readWrite)
        defer { file.close() }
        let offset = Int64.random(in: 0..<(try file.size()), using: &random)
        let byte = try file.bytes(at: offset, count: 1)[0]
        try file.write([byte ^ 0x10], at: offset)
      }
      // What is in memory of the file is not read again.
      log.index.closed.withLock { $0 = ClosedIndexCache() }
      log.index.leastTimes.withLock { $0 = [:] }
    default: break
    }
  }

  /// Compares what a log says of some times with a scan.
  mutating func check(_ log: Log, _ who: String) throws {
    var times: [Int64] = [.min + 1, .max, .max - 1]
    let blocks = try log.blockCount()
    for _ in 0..<6 {
      guard let time = known.randomElement(using: &random)?.ownTime else { break }
      times += [time, time &- 1]
    }
    for time in times {
      var search = TimeSearch(log, notAfter: time)
      let found = try search.last()
      let place = known.lastIndex { $0.ownTime <= time }
      #expect(found?.last == place.map { known[$0].last }, "\(who) at \(time)")
      #expect(found.map(\.ownTime) == place.map { known[$0].ownTime }, "\(who) at \(time)")
      let later = place.map { known[..<$0].filter { $0.ownTime > time } } ?? []
      let readCount = search.blocksRead
      let passed = try search.passed(before: found)
      // Each of the two reads no block twice.
      #expect(max(readCount, search.blocksRead - readCount) <= blocks, "\(who) at \(time)")
      #expect(passed?.count ?? 0 == later.count, "\(who) at \(time)")
      #expect(passed?.first.first == later.first?.first, "\(who) at \(time)")
    }
  }
}

extension Log {
  /// How many blocks of events are visible.
  fileprivate func blockCount() throws -> Int {
    var cursor = cursor(after: mark.logBegin - 1)
    var count = 0
    while try cursor.next() != nil { count += 1 }
    return count
  }
}

@Suite struct TimeSearchTests {
  @Test(arguments: SeededGenerator.historySeeds(500))
  func `a point by time is what a scan of all appends finds, however the clocks jump`(seed: UInt64) throws {
    var store = try TimedStore(seed: seed)
    let reader = try Log.openReader(store.disk, path: TimedStore.path, options: store.options)
    for _ in 0..<Int.random(in: 1...4, using: &store.random) {
      try store.append(Int.random(in: 1...40, using: &store.random))
      try store.disturb()
      try store.check(store.log, "the writer")
      try reader.refresh()
      try store.check(reader, "a reader beside it")
    }
    try reader.close()
    try store.log.close()
    let last = try Log.openReader(store.disk, path: TimedStore.path, options: store.options)
    try store.check(last, "a reader afterwards")
    try last.close()
  }

  /// A store of many segments with appends a second apart, of which one has another time.
  private static func store(_ count: Int, odd: Int, at time: Int64) throws -> Log {
    let disk = SimulatedDisk()
    var options = StoreOptions.still(segmentSize: 20_000, blockSize: 1_000)
    options.writesInStep = true
    let log = try Log.openWriter(disk, path: TimedStore.path, options: options)
    for number in 0..<count {
      let event = ModelEvent(stream: "s/\(number % 9)", type: "t", payload: Bytes(repeating: 1, count: 40))
      let given = number == odd ? time : Int64(number + 1) * 1_000
      _ = try log.appendBlocking(ModelAppend([event], given: given).draft())
    }
    return log
  }

  @Test func `fault 111: a clock that was ahead for one append hides nothing that came after it`() throws {
    let log = try Self.store(2_000, odd: 99, at: 9_000_000)
    for number in [1, 50, 99, 101, 150, 1_999, 2_000] {
      let place = try log.lastAppend(notAfter: Int64(number) * 1_000)
      #expect(place?.last == UInt64(number))
      #expect(place?.ownTime == Int64(number) * 1_000)
    }
    var search = TimeSearch(log, notAfter: 1_500_000)
    let passed = try search.passed(before: try search.last())
    #expect(passed?.count == 1 && passed?.first.last == 100 && passed?.first.ownTime == 9_000_000)
    // The append itself is found at its own time, and everything that came after it is before that.
    #expect(try log.lastAppend(notAfter: 9_000_000)?.last == 2_000)
    #expect(try log.lastAppend(notAfter: 8_999_999)?.last == 2_000)
    try log.close()
  }

  @Test func `fault 111: an append of a clock that was behind belongs to all that was before it`() throws {
    let log = try Self.store(2_000, odd: 1_499, at: 500)
    #expect(try log.lastAppend(notAfter: 499) == nil)
    // What was appended before it is in the state after it.
    #expect(try log.lastAppend(notAfter: 500)?.last == 1_500)
    #expect(try log.lastAppend(notAfter: 1_000_000)?.last == 1_500)
    #expect(try log.lastAppend(notAfter: 1_501_000)?.last == 1_501)
    var search = TimeSearch(log, notAfter: 1_000_000)
    let passed = try search.passed(before: try search.last())
    #expect(passed?.count == 499 && passed?.first.last == 1_001)
    try log.close()
  }

  @Test func `an answer of before an append with an earlier time does not outlive it`() throws {
    let log = try Self.store(300, odd: 0, at: 1_000)
    #expect(try log.lastAppend(notAfter: 150_000)?.last == 150)
    let event = ModelEvent(stream: "s/0", type: "t")
    _ = try log.appendBlocking(ModelAppend([event], given: 149_000).draft())
    #expect(try log.lastAppend(notAfter: 150_000)?.last == 301)
    try log.close()
  }

  @Test(arguments: [(0, 1_000), (99, 9_000_000), (1_499, 500)] as [(Int, Int64)])
  func `a search reads a span or two, however long the log is`(odd: Int, time: Int64) throws {
    let log = try Self.store(2_000, odd: odd, at: time)
    for number in stride(from: 1, through: 2_000, by: 37) {
      var search = TimeSearch(log, notAfter: Int64(number) * 1_000)
      let place = try search.last()
      // Each append is a block. A span has 16 of them.
      #expect(search.blocksRead <= 32, "at \(number)")
      _ = try search.passed(before: place)
      #expect(search.blocksRead <= 80, "at \(number)")
    }
    var search = TimeSearch(log, notAfter: 2_000_000)
    #expect(try search.last()?.last == 2_000)
    #expect(search.blocksRead <= 16)
    try log.close()
  }

  @Test func `a block is read once, however many spans of mixed times are in it`() throws {
    var options = StoreOptions.still(segmentSize: 1 << 20, blockSize: 20_000)
    options.writesInStep = true
    let log = try Log.openWriter(SimulatedDisk(), path: TimedStore.path, options: options)
    // Every second append is dated later than the time that is asked for.
    let drafts = (0..<4_000).map { number in
      let event = ModelEvent(stream: "s/0", type: "t", payload: [UInt8(number & 255)])
      return ModelAppend([event], given: number % 2 == 0 ? 1_000 : 3_000).draft()
    }
    for result in try log.appendBlocking(drafts) { _ = try result.get() }
    let blocks = try log.blockCount()
    let spans = 4_000 / 16
    try #require(blocks > 3 && blocks * 5 < spans)
    var search = TimeSearch(log, notAfter: 2_000)
    let place = try search.last()
    #expect(place?.last == 3_999)
    let passed = try search.passed(before: place)
    #expect(passed?.count == 1_999 && passed?.first.first == 2)
    #expect(search.blocksRead <= blocks + 1)
    try log.close()
  }

  @Test func `the spans of an index are those of the appends, whichever blocks hold them`() throws {
    var store = try TimedStore(seed: 7)
    store.options.segmentSizeTarget = 8_000
    try store.append(400)
    try store.append(400)
    let parts = store.log.source.catalog.names.dropLast()
    try #require(!parts.isEmpty)
    let before = try parts.map { try store.log.index.closedIndex($0).timeSpans() }
    for spans in before {
      #expect(spans.allSatisfy { $0.appends <= AppendTimes.appendsMax && $0.least <= $0.greatest })
    }
    _ = try store.log.seal()
    for path in store.disk.paths where path.hasSuffix(".idx") { try store.disk.remove(path) }
    store.log.index.closed.withLock { $0 = ClosedIndexCache() }
    #expect(try parts.map { try store.log.index.closedIndex($0).timeSpans() } == before)
    #expect(try IndexVerifier(store.disk, path: TimedStore.path).run(skipping: []) == [])
    try store.log.close()
  }

  @Test func `bytes that are no spans of a range are refused`() {
    var value = RawBuffer(capacity: 64)
    let spans = [
      TimeSpan(first: 5, last: 9, appends: 2, least: .min, greatest: .max),
      TimeSpan(first: 10, last: 10, appends: 1, least: 3, greatest: 3),
    ]
    spans.encode(to: &value)
    let bytes = Array(value.bytes)
    #expect([TimeSpan](decoding: bytes, in: 5...10) == spans)
    #expect([TimeSpan](decoding: bytes, in: 5...11) == nil && [TimeSpan](decoding: bytes, in: 5...9) == nil)
    for length in 0..<bytes.count {
      #expect([TimeSpan](decoding: Array(bytes[..<length]), in: 5...10) == nil)
    }
    // More appends than events, and a greatest time after the last that there is.
    #expect([TimeSpan](decoding: [0, 1, 0, 0], in: 5...5) == nil)
    #expect([TimeSpan](decoding: [0, 0, 2] + [UInt8](repeating: 0xFF, count: 9) + [1], in: 5...5) == nil)
  }
}
