// A sealed segment says what it said before, in fewer bytes, and a crash at any call leaves one of the two.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct SealTests {
  static let root = "/store"
  static let layout = StoreLayout(root: root)

  static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.segmentSizeTarget = 9_000
    options.blockSizeTarget = 4_000
    options.writesInStep = true
    return options
  }

  static func open(_ disk: SimulatedDisk, _ options: StoreOptions = options()) throws -> Log {
    try Log.openWriter(disk, path: root, options: options, storeID: StoreID(low: 7, high: 9))
  }

  /// A store of some segments, each append a block of its own.
  static func store(appends: Int = 60, seed: UInt64 = 3) throws -> (SimulatedDisk, LogModel, Log) {
    let disk = SimulatedDisk()
    let log = try open(disk)
    var model = LogModel()
    var source = RandomAppends(seed: seed, sizeTypical: 300, sizeMax: 2_000, streamCount: 5, eventsMax: 3)
    for _ in 0..<appends {
      let append = source.append()
      model.add(append, time: try log.appendBlocking(append.draft()).time)
    }
    return (disk, model, log)
  }

  static func findings(_ disk: SimulatedDisk) throws -> [StoreFinding] {
    try disk.findings(inStore: root)
  }

  static func headers(_ disk: SimulatedDisk) throws -> [SegmentHeader] {
    try SegmentCatalog.names(disk, layout).map { first in
      let file = try disk.open(layout.segment(first), .read)
      defer { file.close() }
      return try SegmentHandle.readHeader(of: file, first: first, storeID: nil)
    }
  }

  @Test func `sealing leaves every event, every chain and every seek as it was, in fewer bytes`() throws {
    let (disk, model, log) = try Self.store()
    let chain = log.mark.visible.chain
    let sums = try (0...model.head).map { try log.chain(after: $0) }
    let outcome = try log.seal()
    #expect(outcome.sealed >= 3 && outcome.kept.isEmpty)
    #expect(outcome.bytesAfter < outcome.bytesBefore)
    #expect(model.difference(from: log, countMin: model.appends.count) == nil)
    #expect(log.mark.visible.chain == chain)
    #expect(try (0...model.head).map { try log.chain(after: $0) } == sums)
    for append in model.appends {
      #expect(try log.append(holding: append.last)?.first == append.first)
      let time = try #require(append.time)
      #expect(try log.lastAppend(notAfter: time)?.first == model.lastAppend(notAfter: time)?.first)
    }
    let headers = try Self.headers(disk)
    #expect(headers.dropLast().allSatisfy { $0.revision == 1 } && headers.last?.revision == 0)
    #expect(try Self.findings(disk).isEmpty)
    #expect(try log.seal().sealed == 0)
    try log.close()
    let reader = try Log.openReader(disk, path: Self.root, options: StoreOptions())
    #expect(model.difference(from: reader, countMin: model.appends.count) == nil)
    let again = try Self.open(disk)
    #expect(model.difference(from: again, countMin: model.appends.count) == nil)
    try again.close()
    #expect(!disk.paths.contains { $0.hasSuffix(".tmp") })
  }

  @Test
  func `damage that sealing in the background finds is said at once and known from then on`() throws {
    let (disk, _, log) = try Self.store()
    try log.close()
    let first = try #require(log.closedSegments.dropFirst().first)
    let file = try disk.open(Self.layout.segment(first), .readWrite)
    var byte = try file.bytes(at: 5_000, count: 1)
    byte[0] ^= 1
    try file.write(byte, at: 5_000)
    file.close()

    let found = Gate<[StoreFinding]>([])
    var options = Self.options()
    options.writesInStep = false
    options.damageFound = { finding in
      found.withLock { $0.append(finding) }
      found.signalAll()
    }
    let again = try Self.open(disk, options)
    found.wait { !$0.isEmpty }
    let finding = try #require(found.withLock { $0.first })
    #expect(finding.file == first.path && finding.class == .corrupt)
    #expect(again.knownDamage == [finding])
    try again.close()
    #expect(found.withLock { $0.count } == 1)
    #expect(try Self.findings(disk).map(\.file) == [finding.file])
  }

  @Test func `a cursor that is in a segment while it is sealed goes on without a gap`() throws {
    let (_, model, log) = try Self.store()
    var cursor = log.cursor(after: 0)
    var sequences: [UInt64] = []
    var isSealed = false
    while let block = try cursor.next() {
      sequences += block.header.firstSequence..<block.header.nextSequence
      if !isSealed, sequences.count > 2 {
        #expect(try log.seal().sealed > 0)
        isSealed = true
      }
    }
    #expect(sequences == Array(1...model.head))
    try log.close()
  }

  @Test func `a torn tail's RECOVERY block is kept by a rewrite`() throws {
    let (disk, model, log) = try Self.store(appends: 4)
    try log.close()
    let path = Self.layout.segment(log.mark.segment)
    disk.replace(path, disk.contents(path)! + Array("torn".utf8))
    disk.delete(Self.layout.head)
    let opened = try Self.open(disk)
    var all = model
    let append = ModelAppend([ModelEvent(stream: "s/1", type: "t", payload: [1])])
    all.add(append, time: try opened.appendBlocking(append.draft()).time)
    _ = try opened.seal()
    #expect(all.difference(from: opened, countMin: all.appends.count) == nil)
    let first = try #require(opened.closedSegments.last)
    let kinds = try disk.blocks(of: first, in: Self.layout).map(\.kind)
    #expect(kinds.contains(BlockKind.recovery) && kinds.last == BlockKind.footer)
    try opened.close()
    #expect(try Self.findings(disk).isEmpty)
  }

  @Test func `a damaged segment is not sealed, and stays as it is`() throws {
    let (disk, _, log) = try Self.store()
    let first = try #require(log.closedSegments.first)
    let path = Self.layout.segment(first)
    disk.flipBit(path, 8 * 5_000)
    let bytes = disk.contents(path)
    let error = #expect(throws: StoreError.self) { try log.seal() }
    guard case .damaged(let finding) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(finding.file == first.path)
    #expect(disk.contents(path) == bytes && !disk.paths.contains { $0.hasSuffix(".tmp") })
    try log.close()
  }

  @Test func `a rewrite that the disk got wrong never takes the place of what was right`() throws {
    let (disk, model, log) = try Self.store()
    try log.roll()
    // The first sync is that of the new file: what was written is lost, and nobody is told.
    disk.inject(SimulatedSyncFailure(keepsData: false, isReported: false))
    #expect(throws: StoreError.self) { try log.seal() }
    #expect(try Self.headers(disk).allSatisfy { $0.revision == 0 })
    #expect(model.difference(from: log, countMin: model.appends.count) == nil)
    try log.close()
  }

  @Test func `a full disk fails a seal and nothing else`() throws {
    let (disk, model, log) = try Self.store()
    try log.roll()
    for extra in stride(from: 0, to: 6_000, by: 700) {
      disk.capacity = disk.namedSize + extra
      #expect(throws: StoreError.self) { try log.seal() }
      #expect(!disk.paths.contains { $0.hasSuffix(".tmp") })
      #expect(model.difference(from: log, countMin: model.appends.count) == nil)
    }
    disk.capacity = nil
    #expect(try log.seal().sealed > 0)
    #expect(model.difference(from: log, countMin: model.appends.count) == nil)
    try log.close()
  }

  @Test func `what a newer version wrote is not lost by a seal: the segment stays as it is`() throws {
    let (disk, _, log) = try Self.store()
    try log.roll()
    try log.close()
    let first = try #require(try SegmentCatalog.names(disk, Self.layout).first)
    let path = Self.layout.segment(first)
    var bytes = disk.contents(path)!
    // A compatible feature bit: readers ignore it, and a rewrite would have to understand it.
    bytes[SegmentHeader.Offset.compatibleFeatures] = 1
    let crc = bytes.withUnsafeBytes {
      CRC32C.of(UnsafeRawBufferPointer(rebasing: $0[..<SegmentHeader.Offset.checksum]))
    }
    withUnsafeBytes(of: crc.littleEndian) {
      bytes.replaceSubrange(SegmentHeader.Offset.checksum..<4096, with: $0)
    }
    disk.replace(path, bytes)
    let opened = try Self.open(disk)
    let outcome = try opened.seal()
    #expect(outcome.kept.map(\.file) == [first.path])
    #expect(disk.contents(path) == bytes)
    try opened.close()
    #expect(try Self.findings(disk).isEmpty)
  }

  @Test
  func `in the background every closed segment is sealed, and a close waits for nothing that is not begun`()
    throws
  {
    let disk = SimulatedDisk()
    var options = Self.options()
    options.writesInStep = false
    let log = try Self.open(disk, options)
    var model = LogModel()
    var source = RandomAppends(seed: 5, sizeTypical: 300, sizeMax: 2_000, streamCount: 5, eventsMax: 3)
    for _ in 0..<80 {
      let append = source.append()
      model.add(append, time: try log.appendBlocking(append.draft()).time)
    }
    #expect(model.difference(from: log, countMin: model.appends.count) == nil)
    try log.close()
    let opened = try Self.open(disk, options)
    #expect(opened.closedSegments.count >= 3)
    while try Self.headers(disk).dropLast().contains(where: { $0.revision == 0 }) {
      pauseThread(nanoseconds: 1_000_000)
    }
    #expect(model.difference(from: opened, countMin: model.appends.count) == nil)
    try opened.close()
    #expect(try Self.findings(disk).isEmpty)
  }

  @Test
  func
    `fault 25: after a power cut at any call of a seal every segment is the old one or the new one, whole`()
    throws
  {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    let (prepared, _, first) = try Self.store(appends: 40)
    try first.close()
    let appends = try Self.appends(of: prepared)
    let options = Self.options()
    let counted = prepared.clone()
    let whole = try Self.open(counted, options)
    let callCount = try counted.changeCount { _ = try whole.seal() }
    try whole.close()
    #expect(callCount > 30)
    var isSealed: Set<Bool> = []
    for number in 1...callCount {
      for model in CrashModel.allCases where model != .garbage {
        let disk = prepared.clone()
        let log = try Self.open(disk, options)
        disk.cutPower(atChange: number)
        #expect(throws: StoreError.self) { try log.seal() }
        try? log.close()
        let after = disk.crash(seed: random.next(), model: model)
        try Self.expectWhole(after, holds: appends, &isSealed, "call \(number), \(model), SEED=\(seed)")
      }
    }
    #expect(isSealed == [true, false])
  }

  /// What a store holds, as the reader has it.
  private static func appends(of disk: SimulatedDisk) throws -> [ModelAppend] {
    let log = try Log.openReader(disk, path: root, options: options())
    defer { try? log.close() }
    return try log.modelAppends().map(\.append)
  }

  private static func expectWhole(
    _ disk: SimulatedDisk, holds appends: [ModelAppend], _ isSealed: inout Set<Bool>, _ place: Comment
  ) throws {
    let log = try open(disk)
    #expect(try log.modelAppends().map(\.append) == appends, place)
    isSealed.formUnion(try headers(disk).dropLast().map(\.isRewritten))
    #expect(!disk.paths.contains { $0.hasSuffix(".tmp") }, place)
    try log.close()
    #expect(try findings(disk).isEmpty, place)
  }

  @Test func `a writer whose LOCK was replaced replaces no segment of another writer`() throws {
    let (disk, _, log) = try Self.store()
    try log.roll()
    disk.delete(Self.layout.lock)
    let other = try Self.open(disk)
    let before = try Self.headers(disk).map(\.revision)
    let first = try #require(log.closedSegments.first)
    #expect(throws: StoreError.self) {
      try log.erase(in: [first]) { _, _ in true }
    }
    #expect(try Self.headers(disk).map(\.revision) == before)
    try other.close()
    try? log.close()
  }

  @Test func `a reader of another process goes on where a segment was closed and sealed under it`() throws {
    let (disk, model, log) = try Self.store()
    let reader = try Log.openReader(disk, path: Self.root, options: Self.options())
    // It has the active segment's mark; the segment goes on behind that, and is closed and sealed.
    var all = model
    for number in 0..<6 {
      let append = ModelAppend([ModelEvent(stream: "late", type: "t", payload: [UInt8(number)])])
      all.add(append, time: try log.appendBlocking(append.draft()).time)
    }
    _ = try log.seal()
    let found = try reader.modelAppends().map(\.append)
    #expect(found.count >= model.appends.count && found.last?.last == reader.mark.sequence)
    #expect(zip(found, all.appends).allSatisfy { $0.hasSameContent(as: $1) })
    #expect(try reader.append(holding: model.head)?.last == model.head)
    try reader.close()
    try log.close()
  }
}
