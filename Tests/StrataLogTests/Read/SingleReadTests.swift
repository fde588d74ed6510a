// Reads of single events: the answers and errors of a cursor, whatever is cached, in bounded memory.

import StrataBase
import StrataSimulation
import Testing

@testable import StrataLog

@Suite struct SingleReadTests {
  static let root = "/store"
  static let layout = StoreLayout(root: root)

  /// What a read sees of an event.
  struct Seen: Equatable {
    var kind: UInt8
    var revision: UInt64
    var names: [UInt8]
    var payload: [UInt8]
    var hash: UInt64
    var time: Int64

    init(_ event: borrowing EventView, time: Int64) {
      kind = event.kind
      revision = event.revision
      names = Array(event.names)
      payload = Array(event.payload)
      hash = event.contentHash
      self.time = time
    }
  }

  /// An answer or an error.
  typealias Outcome = Result<Seen?, StoreError>

  static func single(_ log: Log, _ sequence: UInt64) -> Outcome {
    Result { () throws(StoreError) in
      guard let part = try log.part(holding: sequence) else { return nil }
      defer { withExtendedLifetime(part) {} }
      let found = try part.event(sequence)
      return Seen(found.event, time: found.time)
    }
  }

  /// The same by a cursor, which nothing caches.
  static func byCursor(_ log: Log, _ sequence: UInt64) -> Outcome {
    Result { () throws(StoreError) in
      guard let block = try log.block(holding: sequence) else { return nil }
      var seen: Seen?
      do throws(ContentProblem) {
        try block.forEachEvent { event, append, number in
          if number == sequence { seen = Seen(event, time: append.ownTime) }
        }
      } catch { throw error.storeError(of: block.header, through: sequence) }
      return seen
    }
  }

  static func options(cache: Int, blockSize: Int = 4_000) -> StoreOptions {
    var options = StoreOptions.still(segmentSize: 40_000, blockSize: blockSize)
    options.pageCacheSize = cache
    return options
  }

  static func open(_ disk: any FileSystem, _ options: StoreOptions) throws -> Log {
    try Log.openWriter(disk, path: root, options: options, storeID: StoreID(low: 7, high: 9))
  }

  @Test(arguments: [0, 3_000, 40_000, 1 << 20])
  func `reads between appends, rewrites, erasures and opens are those of a cursor`(_ cache: Int) throws {
    let seed = SeededGenerator.testSeed("reads between appends, cache \(cache)")
    var random = SeededGenerator(seed: seed)
    let disk = SimulatedDisk()
    let options = Self.options(cache: cache, blockSize: 24_000)
    var log = try Self.open(disk, options)
    var reader = try Log.openReader(disk, path: Self.root, options: options)
    var appends = RandomAppends(seed: seed, sizeTypical: 300, sizeMax: 9_000, streamCount: 5, eventsMax: 60)
    var (hits, bytesMax) = (0, 0)
    for step in 0..<400 {
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<12: _ = try log.appendBlocking(appends.append().draft())
      case 12: try log.roll()
      case 13: _ = try log.seal()
      case 14:
        let wanted = Set(
          (0..<3).map { _ in UInt64.random(in: 1...max(1, log.mark.sequence), using: &random) })
        _ = try log.erase(in: log.closedSegments) { _, sequence in wanted.contains(sequence) }
      case 15:
        try log.close()
        log = try Self.open(disk, options)
      case 16: reader = try Log.openReader(disk, path: Self.root, options: options)
      default: break
      }
      try reader.refresh()
      for _ in 0..<6 {
        // Some sequences again and again, and some that are not there.
        let end = log.mark.sequence + 2
        let sequence = UInt64.random(
          in: Bool.random(using: &random) ? 0...end : end / 2...min(end, end / 2 + 40), using: &random)
        for store in [log, reader] {
          hits += store.source.partInMemory(holding: sequence) == nil ? 0 : 1
          #expect(
            Self.single(store, sequence) == Self.byCursor(store, sequence),
            "SEED=\(seed), step \(step), event \(sequence)")
          let statistics = store.source.catalog.parts.statistics
          #expect(statistics.byteCount <= cache, "SEED=\(seed), step \(step)")
          bytesMax = max(bytesMax, statistics.byteCount)
        }
      }
    }
    #expect(cache == 0 ? hits == 0 : hits > (cache < 40_000 ? 0 : 20), "SEED=\(seed)")
    #expect(bytesMax > 0 || cache == 0, "SEED=\(seed)")
    try log.close()
  }

  /// A store of some segments, the first two of them sealed, that nobody has open.
  static func closedStore(_ seed: UInt64) throws -> (disk: SimulatedDisk, last: UInt64) {
    let disk = SimulatedDisk()
    let log = try open(disk, options(cache: 0))
    var appends = RandomAppends(seed: seed, sizeTypical: 300, sizeMax: 3_000, streamCount: 5, eventsMax: 12)
    for number in 0..<40 {
      _ = try log.appendBlocking(appends.append().draft())
      if number == 20 { _ = try log.seal() }
    }
    try log.roll()
    _ = try log.appendBlocking(appends.append().draft())
    try log.close()
    return (disk, log.mark.sequence)
  }

  @Test func `reads of damaged, cut and unreadable segments are those of a cursor`() throws {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    let (whole, last) = try Self.closedStore(seed)
    let names = try SegmentCatalog.names(whole, Self.layout).dropLast()
    var (failures, answers) = (0, 0)
    for round in 0..<60 {
      let disk = whole.clone()
      let options = Self.options(cache: 1 << 20)
      let log = try Log.openReader(disk, path: Self.root, options: options)
      // What was read before is in the cache, and is right.
      for _ in 0..<3 { _ = Self.single(log, UInt64.random(in: 1...last, using: &random)) }
      let path = Self.layout.segment(names.randomElement(using: &random)!)
      let bytes = disk.contents(path)!
      let place = Int.random(in: SegmentHeader.length..<bytes.count, using: &random)
      switch round % 3 {
      case 0: disk.flipBit(path, 8 * place)
      case 1: disk.makeUnreadable(path, place..<min(bytes.count, place + 600))
      default: disk.replace(path, Array(bytes[..<place]))
      }
      let other = try Log.openReader(disk, path: Self.root, options: options)
      for _ in 0..<30 {
        let sequence = UInt64.random(in: 1...last, using: &random)
        let expected = Self.byCursor(other, sequence)
        switch expected {
        case .success: answers += 1
        case .failure: failures += 1
        }
        #expect(Self.single(other, sequence) == expected, "SEED=\(seed), round \(round), event \(sequence)")
        #expect(
          Self.single(other, sequence) == expected, "again, SEED=\(seed), round \(round), event \(sequence)")
        if log.source.partInMemory(holding: sequence) != nil {
          #expect(try Self.single(log, sequence).get() != nil, "SEED=\(seed), round \(round)")
        }
      }
    }
    #expect(failures > 10 && answers > 10, "SEED=\(seed)")
  }

  @Test func `a block whose checksums hold and that does not decode is damaged for single reads, too`() throws
  {
    let (disk, last) = try Self.closedStore(5)
    let name = try #require(try SegmentCatalog.names(disk, Self.layout).first)
    let path = Self.layout.segment(name)
    let block = try #require(try disk.blocks(of: name, in: Self.layout).first { $0.codec == BlockCodec.lz4 })
    var bytes = disk.contents(path)!
    let payload = Int(block.ownOffset) + Int(block.headerLength)
    for index in 0..<40 { bytes[payload + index] = 0xFF }
    var header = block
    header.payloadChecksum = bytes[payload..<payload + Int(block.storedLength)].withUnsafeBytes {
      CRC32C.of($0)
    }
    bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress! + Int(block.ownOffset)) }
    disk.replace(path, bytes)
    let log = try Log.openReader(disk, path: Self.root, options: Self.options(cache: 1 << 20))
    #expect(block.nextSequence <= last)
    for sequence in block.firstSequence..<block.nextSequence {
      let outcome = Self.single(log, sequence)
      guard case .failure(.damaged) = outcome else {
        Issue.record("event \(sequence) was read: \(outcome)")
        continue
      }
      #expect(outcome == Self.byCursor(log, sequence))
    }
  }

  @Test func `what is erased is not read from the cache, also if the read began before`() throws {
    let disk = SimulatedDisk()
    let options = Self.options(cache: 1 << 20)
    let log = try Self.open(disk, options)
    for number in 0..<30 {
      let event = ModelEvent(stream: "s", type: "t", payload: [UInt8](repeating: UInt8(number), count: 200))
      _ = try log.appendBlocking(ModelAppend([event]).draft())
    }
    _ = try log.seal()
    #expect(try Self.single(log, 7).get()?.payload == [UInt8](repeating: 6, count: 200))
    #expect(log.source.partInMemory(holding: 7) != nil)
    #expect(try log.erase(in: log.closedSegments) { _, sequence in sequence == 7 } == 1)
    #expect(log.source.partInMemory(holding: 7) == nil)
    #expect(log.source.catalog.parts.statistics.partCount == 0, "the content is in memory")
    #expect(try Self.single(log, 7).get()?.kind == EventKind.erased)
    // The same, and the erasure happens while another read has the old file open.
    _ = try log.erase(in: log.closedSegments) { _, sequence in sequence == 20 }
    _ = Self.byCursor(log, 9)
    let path = Self.layout.segment(try #require(log.closedSegments.first))
    let isErased = Lock(false)
    disk.onOperation { call in
      guard call.path == path, call.operation == .read else { return .proceed }
      let isFirst = isErased.withLock { isErased in
        defer { isErased = true }
        return !isErased
      }
      if isFirst { _ = try? log.erase(in: log.closedSegments) { _, sequence in sequence == 9 } }
      return .proceed
    }
    #expect(try Self.single(log, 9).get()?.payload == [UInt8](repeating: 8, count: 200))
    #expect(isErased.withLock { $0 })
    disk.onOperation(nil)
    #expect(log.source.partInMemory(holding: 9) == nil)
    #expect(log.source.catalog.parts.statistics.partCount == 0, "a part of the old file is in memory")
    #expect(try Self.single(log, 9).get()?.kind == EventKind.erased)
    try log.close()
  }

  @Test func `a long block is packed when it is read twice, and its parts are kept when they are read often`()
    throws
  {
    let disk = SimulatedDisk()
    var options = Self.options(cache: 1 << 20, blockSize: 64_000)
    options.segmentSizeTarget = 1 << 20
    let log = try Self.open(disk, options)
    var random = SeededGenerator(seed: 4)
    // One event is longer than a part.
    let events = (0..<200).map { number in
      // A tenth of it is random, so that no part is like another.
      let payload = (0..<(number == 77 ? 20_000 : 300)).map { index in
        index % 300 < 30 ? UInt8.random(in: 0...255, using: &random) : UInt8(index % 7)
      }
      return ModelEvent(stream: "s", type: "t", payload: payload)
    }
    _ = try log.appendBlocking(ModelAppend(Array(events.prefix(155))).draft())
    _ = try log.appendBlocking(ModelAppend(Array(events.dropFirst(155))).draft())
    _ = try log.seal()
    let parts = log.source.catalog.parts
    let blocks = try disk.blocks(of: 1, in: Self.layout).filter { $0.kind == BlockKind.events }
    try #require(blocks.count == 2)
    let (long, short) = (blocks[0], blocks[1])
    try #require(long.rawLength > 60_000 && short.rawLength < 16_384)
    #expect(try Self.single(log, 3).get() != nil)
    #expect(parts.statistics.partCount == 0 && log.source.partInMemory(holding: 3) == nil)
    #expect(try Self.single(log, 190).get() != nil)
    #expect(
      parts.statistics.partCount == 1 && log.source.partInMemory(holding: 156) != nil, "a short block is kept"
    )
    #expect(try Self.single(log, 140).get() != nil)
    #expect(parts.statistics.partCount == 2 && log.source.partInMemory(holding: 3) != nil)
    let packed = parts.statistics.byteCount
    #expect(packed < Int(long.rawLength + short.rawLength) / 2, "\(packed) bytes")
    // A table of blocks that was forged may say that a block has other events.
    for block in blocks {
      let handle = try #require(log.source.catalog.openSegment(containing: 1))
      let place = try #require(handle.knownPlace(holding: block.firstSequence))
      let key = PartCache.Key(file: handle.number, offset: place.offset)
      for sequence in [0, block.firstSequence - 1, block.nextSequence, .max] {
        #expect(parts.part(key, holding: sequence) == nil, "event \(sequence) is not there")
      }
    }
    for _ in 0..<9 {
      for sequence in UInt64(1)...200 {
        let seen = try Self.single(log, sequence).get()
        #expect(try seen == Self.byCursor(log, sequence).get() && seen != nil, "event \(sequence)")
      }
    }
    // By now each part was decoded whole: some eight of 8 KiB, the longest with the event before it.
    #expect(parts.statistics.partCount > 6 && parts.statistics.byteCount > packed + 60_000)
    try log.close()
  }

  @Test func `parts that were asked for twice outlast those that were asked for once`() throws {
    let disk = SimulatedDisk()
    var options = Self.options(cache: 60_000, blockSize: 4_000)
    options.segmentSizeTarget = 1 << 20
    let log = try Self.open(disk, options)
    for number in 0..<400 {
      let event = ModelEvent(
        stream: "s", type: "t", payload: [UInt8](repeating: UInt8(number & 255), count: 2_000))
      _ = try log.appendBlocking(ModelAppend([event]).draft())
    }
    for _ in 0..<2 { for sequence in 1...5 { _ = Self.single(log, UInt64(sequence)) } }
    var kept = 0
    for sequence in UInt64(6)...400 {
      _ = Self.single(log, sequence)
      // Asked for now and then, as what is hot is.
      if sequence % 10 == 0 {
        for hot in UInt64(1)...5 {
          kept += log.source.partInMemory(holding: hot) == nil ? 0 : 1
          _ = Self.single(log, hot)
        }
      }
    }
    #expect(kept > 180, "\(kept) of 200 reads of what is hot were in memory")
    #expect(log.source.catalog.parts.statistics.evictedCount > 300)
    try log.close()
  }

  @Test func `scans add nothing to the cache`() throws {
    let disk = SimulatedDisk()
    let log = try Self.open(disk, Self.options(cache: 1 << 20))
    for _ in 0..<50 {
      _ = try log.appendBlocking(
        ModelAppend([ModelEvent(stream: "s", type: "t", payload: [1, 2, 3])]).draft())
    }
    var cursor = log.cursor(after: 0)
    while try cursor.next() != nil {}
    #expect(log.source.catalog.parts.statistics.partCount == 0)
    try log.close()
  }
}
