// Faults 13 to 16, 38, 39 and 41: bytes that are right by themselves and do not belong where they are.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct ForgeryFaultTests {
  private static let layout = FaultStore.layout

  /// Expects that an open, or the reading after it, says that the store is corrupt, and that nothing is changed
  /// or delivered that was never appended.
  private func expectNoticed(
    _ disk: SimulatedDisk, _ store: ForgedStore, _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let before = disk.evidence(of: FaultStore.layout)
    do throws(StoreError) {
      let log = try Log.openReader(disk, path: FaultStore.root, options: store.options)
      var cursor = log.cursor(after: 0)
      var next: UInt64 = 1
      while let block = try cursor.next() { next = block.header.nextSequence }
      Issue.record("\(what): \(next - 1) events were read", sourceLocation: sourceLocation)
    } catch {
      guard case .damaged = error else {
        Issue.record("\(what): \(error)", sourceLocation: sourceLocation)
        return
      }
    }
    #expect(disk.evidence(of: FaultStore.layout) == before, "\(what)", sourceLocation: sourceLocation)
    var verifier = LogVerifier(disk, path: FaultStore.root)
    #expect(try !verifier.run().isOK, "\(what): a check finds nothing", sourceLocation: sourceLocation)
    #expect(disk.evidence(of: FaultStore.layout) == before, "\(what)", sourceLocation: sourceLocation)
  }

  @Test
  func
    `fault 13: segments that are missing, doubled, swapped, or of another store or history are corruption`()
    throws
  {
    let store = try ForgedStore(appends: 10, segmentSizeTarget: 4_900)
    let names = try SegmentCatalog.names(store.disk, Self.layout)
    try #require(names.count >= 5)
    let others = [
      (
        "another store",
        try ForgedStore(appends: 10, segmentSizeTarget: 4_900, storeID: StoreID(low: 3, high: 3))
      ),
      ("another history", try ForgedStore(appends: 10, seed: 2, segmentSizeTarget: 4_900)),
    ]
    for (_, other) in others { try #require(SegmentCatalog.names(other.disk, Self.layout) == names) }
    for (place, name) in names.enumerated() {
      let path = Self.layout.segment(name)
      let missing = store.disk.clone()
      missing.delete(path)
      FaultStore.expectCorrupt(missing, store.options, "segment \(place) is missing")
      for (what, other) in others {
        try expectNoticed(store.with(other.bytes(name), in: name), store, "segment \(place) is of \(what)")
      }
      for (second, otherName) in names.enumerated() where otherName != name {
        let doubled = store.with(store.bytes(otherName), in: name)
        FaultStore.expectCorrupt(doubled, store.options, "segment \(second) stands as \(place) too")
        doubled.replace(Self.layout.segment(otherName), store.bytes(name))
        FaultStore.expectCorrupt(doubled, store.options, "segments \(place) and \(second) are swapped")
      }
    }
    let added = store.disk.clone()
    added.add(Self.layout.segment(SegmentName(store.model.head + 1)), store.bytes(names[1]))
    FaultStore.expectCorrupt(added, store.options, "a segment has the name of the next one")
  }

  @Test func `fault 14: a block that was written over another one is refused for its own offset`() throws {
    let store = try ForgedStore(appends: 6)
    let blocks = try store.blocks()
    try #require(blocks.count == 6 && Set(blocks.map(\.span)).count == 1)
    for from in blocks {
      for to in blocks where to != from {
        var bytes = store.bytes()
        let image = bytes[Int(from.ownOffset)..<Int(from.end)]
        bytes.replaceSubrange(Int(to.ownOffset)..<Int(to.end), with: image)
        let disk = store.with(bytes)
        FaultStore.expectCorrupt(disk, store.options, "block \(from.firstSequence) over \(to.firstSequence)")
        let finding = try #require(try disk.findings(inStore: FaultStore.root).first)
        #expect(finding.class == .misplaced && finding.offset == to.ownOffset, "\(finding)")
        // Without HEAD too, it is never delivered.
        let bare = store.with(bytes, keepsHead: false)
        if let reader = try? Log.openReader(bare, path: FaultStore.root, options: store.options) {
          #expect(to == blocks.last! && reader.mark.sequence == to.firstSequence - 1)
        }
      }
    }
  }

  @Test
  func
    `fault 15: a write that was lost, or came back from an earlier epoch, is refused for its chain or epoch`()
    throws
  {
    // Two futures of one store, with blocks at the same places: what the disk had, and what was written over it.
    let common = try ForgedStore(appends: 3)
    let end = common.bytes().count
    func future(_ disk: SimulatedDisk, seed: UInt64, reopens: Bool) throws -> [UInt8] {
      if reopens { try Log.openWriter(disk, path: FaultStore.root, options: common.options).close() }
      let log = try Log.openWriter(disk, path: FaultStore.root, options: common.options)
      var random = SeededGenerator(seed: seed)
      for number in 0..<4 {
        let noise = (0..<301).map { _ in UInt8.random(in: 0...255, using: &random) }
        let append = ModelAppend(
          [ModelEvent(stream: "s", type: "t", payload: noise)], id: "new-\(10 + number)")
        _ = try log.appendBlocking(append.draft())
      }
      try log.close()
      return disk.contents(Self.layout.segment(1))!
    }
    let old = try future(common.disk.clone(), seed: 7, reopens: false)
    let disk = common.disk.clone()
    let new = try future(disk, seed: 8, reopens: true)
    try #require(old.count == new.count && new.count > end && old[end...] != new[end...])
    let span = (new.count - end) / 4
    let zeros = [UInt8](repeating: 0, count: new.count)
    for (what, image) in [("from an earlier epoch", old), ("lost", zeros)] {
      for block in 0..<4 {
        for count in 1...4 - block {
          var bytes = new
          let range = end + block * span..<end + (block + count) * span
          bytes.replaceSubrange(range, with: image[range])
          let stale = disk.clone()
          stale.replace(Self.layout.segment(1), bytes)
          FaultStore.expectCorrupt(stale, common.options, "blocks \(block)..<\(block + count) \(what)")
        }
      }
    }
  }

  @Test func `fault 16: blocks inside an event's payload are never taken for blocks of the log`() throws {
    let store = try ForgedStore(appends: 4)
    let inner = Array(store.bytes()[SegmentHeader.length...])
    let log = try Log.openWriter(store.disk, path: FaultStore.root, options: store.options)
    var model = store.model
    // The segment's own blocks, at every place that a scan by eights can meet.
    for shift in 0..<8 {
      let append = ModelAppend([
        ModelEvent(stream: "s", type: "t", payload: Array(repeating: 9, count: shift) + inner)
      ])
      model.add(append, time: try log.appendBlocking(append.draft()).time)
    }
    #expect(model.difference(from: log, countMin: 12) == nil)
    try log.close()
    for block in try store.blocks().dropFirst(4) {
      // The header of the block is lost, so the scan for promises goes through its payload.
      var bytes = Array(store.bytes()[..<Int(block.end)])
      bytes[Int(block.ownOffset) + 40] ^= 1
      let disk = store.with(bytes, keepsHead: false)
      let reader = try Log.openReader(disk, path: FaultStore.root, options: store.options)
      #expect(reader.tornBytes == block.span && reader.mark.sequence == block.firstSequence - 1)
      let problem = FaultStore.problem(disk, model, countMin: Int(block.appendsBefore), store.options)
      #expect(problem == nil, "block \(block.firstSequence)")
    }
  }

  @Test(arguments: [BlockKind.firstSkippable, 200, 255])
  func `fault 38: a kind of block that may be skipped is, and the store is read and written on`(kind: UInt8)
    throws
  {
    let store = try ForgedStore(appends: 3)
    var header = try store.headerBehindEnd(kind: kind)
    (header.flags, header.codec) = (0xFFFF_FFFF, 77)
    let disk = store.with(store.bytes() + ForgedStore.block(header, [1, 2, 3]), keepsHead: false)
    #expect(FaultStore.problem(disk, store.model, countMin: 3, store.options) == nil)
  }

  @Test
  func `fault 38: what a later version must be asked about is refused by its name, and never called damage`()
    throws
  {
    let store = try ForgedStore(appends: 3)
    var blocks: [(String, SimulatedDisk)] = []
    for kind in [4, 5, 127] as [UInt8] {
      let block = ForgedStore.block(try store.headerBehindEnd(kind: kind), [1, 2, 3])
      blocks.append(("kind \(kind)", store.with(store.bytes() + block, keepsHead: false)))
    }
    var (flagged, encoded) = (try store.headerBehindEnd(kind: 2), try store.headerBehindEnd(kind: 2))
    (flagged.flags, encoded.codec) = (1, 9)
    for (what, header) in [("flag", flagged), ("codec", encoded)] {
      blocks.append((what, store.with(store.bytes() + ForgedStore.block(header, [1]), keepsHead: false)))
    }
    for (what, disk) in blocks {
      let before = disk.evidence(of: FaultStore.layout)
      for isWriter in [false, true] {
        #expect(throws: StoreError.self, "\(what)") { try Self.open(disk, store, isWriter: isWriter) }
        #expect(Self.isUnsupported(disk, store, isWriter: isWriter), "\(what)")
      }
      #expect(disk.evidence(of: FaultStore.layout) == before, "\(what)")
    }
    // A feature bit of the header: the number of the bit is what an upgrade needs to know.
    for (offset, readersMayGoOn) in [
      (SegmentHeader.Offset.incompatibleFeatures, false), (SegmentHeader.Offset.readOnlyFeatures, true),
    ] {
      let disk = store.with(Self.header(store.bytes()) { $0.setLittleEndian(UInt64(1) << 9, at: offset) })
      do throws(StoreError) {
        try Log.openWriter(disk, path: FaultStore.root, options: store.options).close()
        Issue.record("a writer opens")
      } catch {
        guard error.reason == .unsupported, let finding = error.finding else { throw error }
        #expect(finding.what.contains("bit 9"), "\(finding)")
      }
      let reader = try? Log.openReader(disk, path: FaultStore.root, options: store.options)
      #expect((reader != nil) == readersMayGoOn)
      if let reader { #expect(store.model.difference(from: reader, countMin: 3) == nil) }
    }
    let compatible = store.with(
      Self.header(store.bytes()) {
        $0.setLittleEndian(UInt64(1) << 9, at: SegmentHeader.Offset.compatibleFeatures)
      })
    #expect(FaultStore.problem(compatible, store.model, countMin: 3, store.options) == nil)
  }

  private static func open(_ disk: SimulatedDisk, _ store: ForgedStore, isWriter: Bool) throws(StoreError) {
    let log =
      isWriter
      ? try Log.openWriter(disk, path: FaultStore.root, options: store.options)
      : try Log.openReader(disk, path: FaultStore.root, options: store.options)
    try log.close()
  }

  private static func isUnsupported(_ disk: SimulatedDisk, _ store: ForgedStore, isWriter: Bool) -> Bool {
    do throws(StoreError) { try open(disk, store, isWriter: isWriter) } catch {
      if error.reason == .unsupported { return true }
    }
    return false
  }

  /// A segment with another header, whose checksum is set.
  private static func header(_ bytes: [UInt8], _ change: (UnsafeMutableRawPointer) -> Void) -> [UInt8] {
    var bytes = bytes
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      change(base)
      let sum = CRC32C.of(UnsafeRawBufferPointer(start: base, count: SegmentHeader.Offset.checksum))
      base.setLittleEndian(sum, at: SegmentHeader.Offset.checksum)
    }
    return bytes
  }

  @Test
  func `fault 39: a payload that lies about what it decodes to is refused within the bound, whatever it is`()
    throws
  {
    let store = try ForgedStore(appends: 3)
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var (refused, decoded) = (0, 0)
    for round in 0..<3_000 {
      var header = try store.headerBehindEnd(kind: BlockKind.events)
      header.codec = BlockCodec.lz4
      (header.eventCount, header.appendCount) = (1, 1)
      (header.firstTime, header.lastTime) = (.max, .max)
      var payload = (0..<Int.random(in: 1...60, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      // Long matches, which is what a bomb is made of.
      if round % 3 == 0 { payload = [0x1F, 7, 1, 0] + Array(repeating: 255, count: payload.count) + [9] }
      let bound = Compression.rawLengthMax(stored: payload.count)
      let claims = [
        0, 1, payload.count, bound - 1, bound, bound + 1, FormatLimits.rawLengthMax, Int(UInt32.max),
      ]
      let claim = claims.randomElement(using: &random)!
      let bytes = ForgedStore.block(header, payload, rawLength: claim)
      let disk = store.with(store.bytes() + bytes, keepsHead: false)
      do throws(StoreError) {
        let log = try Log.openReader(disk, path: FaultStore.root, options: store.options)
        let isValid = claim <= bound && claim <= FormatLimits.rawLengthMax
        #expect((log.mark.sequence == store.model.head + 1) == isValid, "\(claim) for \(payload.count)")
        _ = try log.modelAppends()
        decoded += isValid ? 1 : 0
      } catch {
        guard case .damaged = error else { throw error }
        refused += 1
      }
    }
    #expect(refused > 500 && decoded == 0)
  }

  @Test func `fault 41: every field of every structure is read and written alike at any address`() throws {
    let store = try ForgedStore(appends: 2)
    let segment = store.bytes()
    let head = store.disk.contents(Self.layout.head)!
    let block = try store.blocks()[1]
    let place = Int(block.ownOffset)
    let note = RecoveryNote(
      cutOffset: 1, cutLength: 1 << 40, time: -3, checksum: 5, reason: 1, path: "quarantine/é")
    func at(_ shift: Int, _ bytes: some Collection<UInt8>, _ body: (UnsafeRawBufferPointer) -> Void) {
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + shift, alignment: 16)
      defer { buffer.deallocate() }
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[shift...])
      target.copyBytes(from: bytes)
      body(UnsafeRawBufferPointer(target))
    }
    let header = try segment.withUnsafeBytes { try SegmentHeader(decoding: $0) }
    let slot = head.withUnsafeBytes { HeadSlot(decoding: $0) }
    for shift in 0..<16 {
      at(shift, segment) { #expect((try? SegmentHeader(decoding: $0)) == header) }
      at(shift, segment[place...]) { #expect(BlockHeader(decoding: $0) == block) }
      at(shift, head) { #expect(slot != nil && HeadSlot(decoding: $0) == slot) }
      at(shift, note.encoded()) { #expect(RecoveryNote(decoding: $0) == note) }
      at(
        shift, segment[(place + BlockHeader.length)..<(place + BlockHeader.length + Int(block.storedLength))]
      ) {
        var cursor = ByteCursor($0.baseAddress!, count: $0.count)
        let append = try? cursor.nextAppend()
        #expect(append?.eventCount == 1 && cursor.remaining == 0)
        #expect(append.map { Array($0.id) } == Array("id-101".utf8))
      }
      var written = [UInt8](repeating: 0xEE, count: BlockHeader.length + shift)
      written.withUnsafeMutableBytes { block.write(to: $0.baseAddress! + shift) }
      #expect(written[shift...].elementsEqual(segment[place..<place + BlockHeader.length]))
    }
    // And the bytes are those of the format, whatever the machine: the lowest first.
    #expect(Array(header.encoded()[8..<16]) == [1, 0, 0, 0, 0, 16, 0, 0])
    #expect(header.encoded() == Array(segment[..<SegmentHeader.length]))
  }
}
