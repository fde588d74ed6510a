// Bytes whose checksums hold and that lie: about their place, their store, their order, or their length.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct ForgedBlockTests {
  private static let root = "/store"
  private static let layout = StoreLayout(root: root)

  /// A store of single-event appends whose payloads follow from the seed and do not compress.
  private static func store(
    seed: UInt64, appends: Int, segmentSizeTarget: Int = 1 << 20
  ) throws -> SimulatedDisk {
    let disk = SimulatedDisk()
    let options = StoreOptions.still(segmentSize: segmentSizeTarget)
    let log = try Log.openWriter(disk, path: root, options: options, storeID: StoreID(low: 1, high: 2))
    var random = SeededGenerator(seed: seed)
    for number in 0..<appends {
      let payload = (0..<301).map { _ in UInt8.random(in: 0...255, using: &random) }
      let append = ModelAppend([ModelEvent(stream: "s", type: "t", payload: payload)], id: "id-\(number)")
      _ = try log.appendBlocking(append.draft())
    }
    try log.close()
    return disk
  }

  /// The first segment's bytes, and its blocks.
  private static func blocks(_ disk: SimulatedDisk) throws -> (bytes: [UInt8], blocks: [BlockHeader]) {
    (disk.contents(layout.segment(1))!, try disk.blocks(of: 1, in: layout))
  }

  /// What the rule says of a segment with these bytes, without HEAD.
  private static func assess(_ bytes: [UInt8]) throws -> TailAssessment {
    let disk = SimulatedDisk()
    disk.add(layout.segment(1), bytes)
    let file = try disk.open(layout.segment(1), .read)
    defer { file.close() }
    return try TailRule.assess(
      file: file, name: "s", segment: try SegmentHandle.readHeader(of: file, first: 1, storeID: nil),
      head: nil)
  }

  private static func write(_ header: BlockHeader, to bytes: inout [UInt8], at offset: Int) {
    bytes.withUnsafeMutableBytes { header.write(to: $0.baseAddress! + offset) }
  }

  enum Lie: CaseIterable {
    case ownOffset, segment, store
    case epoch, syncedAhead, syncedBack, sequence, appends, chain, noEvents, time
    case overlap, short, long, rawLength, otherLength

    /// Changes a header, and says what class of damage that is.
    func tell(_ header: inout BlockHeader) -> StoreFinding.Class {
      switch self {
      case .ownOffset: header.ownOffset += 8
      case .segment: header.segment = SegmentName(header.segment.firstSequence + 1)
      case .store: header.storeID = StoreID(low: 1, high: 3)
      case .epoch: header.epoch -= 1
      case .syncedAhead: header.syncedThrough = header.ownOffset + 8
      case .syncedBack: header.syncedThrough = UInt64(SegmentHeader.length) - 8
      case .sequence: header.firstSequence += 1
      case .appends: header.appendsBefore += 1
      case .chain: header.chainBefore ^= 1
      case .noEvents: header.appendCount = 0
      case .time: header.firstTime = 0
      // The next block would stand in the padding.
      case .overlap: header.span += 8
      case .short: header.span -= 8
      case .long: header.span += 1 << 40
      case .rawLength:
        header.codec = BlockCodec.lz4
        header.rawLength = 255 * header.storedLength + 65
      case .otherLength: header.rawLength += 1
      }
      switch self {
      case .ownOffset, .segment, .store: return .misplaced
      case .overlap, .short, .long, .rawLength, .otherLength: return .corrupt
      default: return .stale
      }
    }
  }

  @Test(arguments: Lie.allCases)
  func `a block that lies about itself is not valid though its checksums hold`(lie: Lie) throws {
    var (bytes, blocks) = try Self.blocks(try Self.store(seed: 1, appends: 4))
    try #require(blocks.count == 4)
    var forged = blocks[1]
    let kind = lie.tell(&forged)
    Self.write(forged, to: &bytes, at: Int(blocks[1].ownOffset))
    let assessment = try Self.assess(bytes)
    #expect(assessment.link.offset == blocks[1].ownOffset)
    // The block behind it says that it was synced.
    guard case .corrupt(let finding) = assessment.state else {
      Issue.record("\(lie): \(assessment.state)")
      return
    }
    #expect(finding.class == kind, "\(finding)")
  }

  @Test func `a closed segment whose headers lie about sequences is an error with its place`() throws {
    for first in [0, 1, 2, UInt64.max - 1] {
      let disk = try Self.store(seed: 2, appends: 12, segmentSizeTarget: 6_000)
      var (bytes, blocks) = try Self.blocks(disk)
      try #require(blocks.count > 2)
      // Nothing before the first block, as its header has it, and no block behind it.
      var forged = blocks[0]
      forged.firstSequence = first
      forged.eventCount = 0
      forged.appendCount = 0
      Self.write(forged, to: &bytes, at: Int(forged.ownOffset))
      for place in Int(blocks[1].ownOffset)..<bytes.count { bytes[place] = 0xA5 }
      disk.replace(Self.layout.segment(1), bytes)
      let log = try Log.openReader(disk, path: Self.root, options: StoreOptions())
      for sequence in [0, 1, 3] as [UInt64] {
        #expect(throws: StoreError.self, "\(first), \(sequence)") {
          var cursor = log.cursor(after: sequence)
          while try cursor.next() != nil {}
        }
      }
      try log.close()
    }
  }

  /// A copy of a store in which the last event byte of a block is another one, under checksums that know it.
  private static func rewordingEvent(of block: BlockHeader, in disk: SimulatedDisk) -> SimulatedDisk {
    let path = layout.segment(block.segment)
    var bytes = disk.contents(path)!
    let begin = Int(block.ownOffset) + BlockHeader.length
    let end = begin + Int(block.storedLength)
    bytes[end - 1] ^= 1
    var forged = block
    forged.payloadChecksum = bytes[begin..<end].withUnsafeBytes { CRC32C.of($0) }
    write(forged, to: &bytes, at: Int(block.ownOffset))
    let copy = disk.clone()
    copy.replace(path, bytes)
    return copy
  }

  private static func finding(_ body: () throws(StoreError) -> Void) -> StoreFinding? {
    do throws(StoreError) { try body() } catch {
      if case .damaged(let finding) = error { return finding }
    }
    return nil
  }

  @Test func `a writer refuses an active segment whose events do not make the chain that its blocks say`()
    throws
  {
    let disk = try Self.store(seed: 1, appends: 4)
    for block in try Self.blocks(disk).blocks {
      let forged = Self.rewordingEvent(of: block, in: disk)
      let before = forged.evidence(of: FaultStore.layout)
      let finding = Self.finding { () throws(StoreError) in
        try Log.openWriter(forged, path: Self.root, options: FaultStore.options()).close()
      }
      #expect(finding?.class == .corrupt && finding?.offset == block.ownOffset)
      #expect(finding?.first == block.firstSequence && finding?.file == SegmentName(1).path)
      #expect(forged.evidence(of: FaultStore.layout) == before, "the refusal changed something")
      #expect(try forged.findings(inStore: Self.root).map(\.offset) == [block.ownOffset])
    }
  }

  @Test func `a writer that resumes refuses what does not make the chain that its blocks say`() throws {
    let disk = try Self.store(seed: 1, appends: 2)
    let log = try Log.openWriter(disk, path: Self.root, options: FaultStore.options())
    try log.suspend()
    let other = try Log.openWriter(disk, path: Self.root, options: FaultStore.options())
    let append = ModelAppend([ModelEvent(stream: "s", type: "t", payload: [1, 2, 3])])
    _ = try other.appendBlocking(append.draft())
    try other.close()
    let last = try #require(try Self.blocks(disk).blocks.last)
    let path = Self.layout.segment(1)
    disk.replace(path, Self.rewordingEvent(of: last, in: disk).contents(path)!)
    let finding = Self.finding { () throws(StoreError) in try log.resume() }
    #expect(finding?.class == .corrupt && finding?.offset == last.ownOffset)
    try log.close()
  }

  @Test func `a reader beside a writer refuses a HEAD whose marks are not those of a block`() throws {
    let store = try FaultStore()
    try store.append(3)
    let path = Self.layout.head
    let whole = try #require(store.disk.contents(path))
    let slot = try #require(whole.withUnsafeBytes { HeadSlot.newest(in: $0) })
    let lies: [(String, (inout HeadSlot) -> Void)] = [
      ("nothing", { _ in }), ("visible sequence", { $0.visible.sequence = .max }),
      ("visible chain", { $0.visible.chain ^= 1 }), ("durable sequence", { $0.durable.sequence = .max }),
      ("durable offset", { $0.durable.offset = .max }), ("beginning", { $0.logBegin = .max }),
    ]
    for (what, lie) in lies {
      var forged = slot
      lie(&forged)
      forged.generation += 1
      store.disk.replace(path, forged.encoded() + [UInt8](repeating: 0, count: HeadSlot.fileLength - 512))
      let finding = Self.finding { () throws(StoreError) in
        try Log.openReader(store.disk, path: FaultStore.root, options: store.options).close()
      }
      #expect((finding == nil) == (what == "nothing"), "\(what)")
      if let finding { #expect(finding.class == .stale && finding.file == StoreLayout.headName, "\(what)") }
    }
    store.disk.replace(path, whole)
    try store.close()
  }

  @Test func `a byte in the padding makes a block invalid`() throws {
    var (bytes, blocks) = try Self.blocks(try Self.store(seed: 1, appends: 3))
    let used = Int(blocks[1].ownOffset) + BlockHeader.length + Int(blocks[1].storedLength)
    try #require(used < Int(blocks[1].end))
    bytes[Int(blocks[1].end) - 1] = 1
    #expect(try Self.assess(bytes).link.offset == blocks[1].ownOffset)
  }

  /// What makes a header behind the end no header of that place.
  enum Stray: CaseIterable { case none, ownOffset, segment, store, epoch, syncedAhead }

  @Test(arguments: Stray.allCases)
  func `behind the end a header promises something only where it belongs there`(stray: Stray) throws {
    let (whole, blocks) = try Self.blocks(try Self.store(seed: 1, appends: 3))
    let end = blocks[2].end
    var header = blocks[2]
    header.ownOffset = end + 64
    header.syncedThrough = end + 32
    switch stray {
    case .none: break
    case .ownOffset: header.ownOffset += 8
    case .segment: header.segment = SegmentName(header.segment.firstSequence + 1)
    case .store: header.storeID = StoreID(low: 1, high: 3)
    case .epoch: header.epoch -= 1
    case .syncedAhead: header.syncedThrough = end + 72
    }
    var bytes = whole + [UInt8](repeating: 0, count: 64 + BlockHeader.length)
    Self.write(header, to: &bytes, at: whole.count + 64)
    let assessment = try Self.assess(bytes)
    #expect(assessment.link.offset == end)
    if stray == .none {
      #expect(assessment.promised == end + 32 && assessment.state != .torn && assessment.state != .clean)
    } else {
      #expect(assessment.state == .torn, "\(stray)")
    }
  }

  @Test func `a closed segment from another history is noticed by feeds and by the index`() throws {
    let ours = try Self.store(seed: 1, appends: 6, segmentSizeTarget: 4_900)
    let theirs = try Self.store(seed: 2, appends: 6, segmentSizeTarget: 4_900)
    let names = try SegmentCatalog.names(ours, Self.layout)
    try #require(names.count > 2 && names == (try SegmentCatalog.names(theirs, Self.layout)))
    let first = Self.layout.segment(1)
    ours.replace(first, theirs.contents(first)!)
    for derived in [ours, theirs] {
      // Neither no index, nor the one that belongs to the other history, makes it right.
      let disk = ours.clone()
      for path in disk.paths where path.hasPrefix(Self.layout.derived) {
        if derived === ours { disk.delete(path) } else { disk.replace(path, theirs.contents(path)!) }
      }
      let log = try Log.openReader(disk, path: Self.root, options: StoreOptions())
      #expect(throws: StoreError.self) { try log.modelAppends() }
      #expect(throws: StoreError.self) { try log.index.closedIndex(1) }
    }
  }
}
