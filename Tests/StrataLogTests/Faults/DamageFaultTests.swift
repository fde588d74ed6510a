// Faults 7 to 12 and 22: bytes that changed, files that are short or gone, sectors that cannot be read.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct DamageFaultTests {
  private static let layout = FaultStore.layout

  /// One segment with six blocks.
  private static func store(_ durability: Durability = .synced) throws -> FaultStore {
    let store = try FaultStore(SimulatedDisk(), FaultStore.options(durability))
    try store.append(6)
    return store
  }

  /// The blocks of the store's only segment.
  private static func blocks(_ disk: SimulatedDisk) throws -> [BlockHeader] {
    try disk.blocks(of: 1, in: layout)
  }

  /// One bit of a byte, another one in each byte.
  private static func flip(_ disk: SimulatedDisk, _ path: String, byte: Int) {
    disk.flipBit(path, byte * 8 + (byte % 8))
  }

  @Test(arguments: [true, false])
  func
    `fault 07: a bit flipped before the durable end is corruption, and the open leaves every byte as it was`(
      isClosed: Bool
    ) throws
  {
    let store = try Self.store()
    let segment = store.active
    let end = store.end
    if isClosed { try store.close() } else { store.kill() }
    for byte in SegmentHeader.length..<end {
      let disk = store.disk.clone()
      Self.flip(disk, segment, byte: byte)
      FaultStore.expectCorrupt(disk, store.options, "byte \(byte)")
    }
  }

  /// How old HEAD is.
  enum Head: CaseIterable { case fresh, stale, missing, clean, paranoid }

  /// What the rule says where the last group is damaged: only where HEAD does not reach it may it look torn.
  @Test(arguments: Head.allCases)
  func
    `fault 08: damage in the last group looks torn only where no HEAD promised it, and is corruption elsewhere`(
      head: Head
    ) throws
  {
    let disk = SimulatedDisk()
    let store = try FaultStore(disk, FaultStore.options(head == .paranoid ? .paranoid : .synced))
    let opened = disk.contents(Self.layout.head)!
    try store.append(6)
    let (segment, end) = (store.active, store.end)
    if head == .clean { try store.close() } else { store.kill() }
    if head == .stale { disk.replace(Self.layout.head, opened) }
    if head == .missing { disk.delete(Self.layout.head) }
    let last = Int(try #require(try Self.blocks(disk).last).ownOffset)
    let isResidue = head == .stale || head == .missing
    let bytes = disk.contents(segment)!
    for byte in last..<end {
      let flipped = disk.clone()
      Self.flip(flipped, segment, byte: byte)
      let cut = disk.clone()
      cut.replace(segment, Array(bytes[..<byte]))
      let wiped = disk.clone()
      wiped.replace(segment, bytes[..<byte] + Array(repeating: 0, count: bytes.count - byte))
      // Zeros that were zero before are no damage.
      let wasZero = bytes[byte...].allSatisfy { $0 == 0 }
      for (what, damaged) in [("flipped", flipped), ("cut", cut), ("wiped", wiped)]
      where !(what == "wiped" && wasZero) {
        if isResidue {
          let reader = try Log.openReader(damaged, path: FaultStore.root, options: store.options)
          #expect(reader.mark.appends == 5, "\(what) at \(byte)")
          let problem = FaultStore.problem(damaged, store.model, countMin: 5, store.options)
          #expect(problem == nil, "\(what) at \(byte)")
        } else {
          FaultStore.expectCorrupt(damaged, store.options, "\(what) at \(byte)")
        }
      }
    }
    // A group before the last one is vouched for by the header behind it, whatever HEAD says.
    for byte in stride(from: SegmentHeader.length, to: last, by: 3) {
      let flipped = disk.clone()
      Self.flip(flipped, segment, byte: byte)
      FaultStore.expectCorrupt(flipped, store.options, "byte \(byte), before the last group")
    }
  }

  @Test func `fault 09: any flipped bit of a length, count, sequence, offset, time or flag fails the header`()
    throws
  {
    let store = try Self.store()
    try store.close()
    let segment = store.active
    let block = try Self.blocks(store.disk)[2]
    let start = Int(block.ownOffset)
    let bytes = store.disk.contents(segment)!
    for bit in 0..<BlockHeader.length * 8 {
      var header = Array(bytes[start..<start + BlockHeader.length])
      header[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(
        header.withUnsafeBytes { BlockHeader(decoding: $0) } == nil, "bit \(bit % 8) of byte \(bit / 8)")
      let disk = store.disk.clone()
      disk.flipBit(segment, start * 8 + bit)
      let finding = try #require(try disk.findings(inStore: FaultStore.root).first, "bit \(bit)")
      #expect(finding.class == .corrupt && finding.offset == block.ownOffset, "bit \(bit): \(finding)")
      #expect(
        finding.first == block.firstSequence && finding.last == store.model.head, "bit \(bit): \(finding)")
    }
  }

  /// Several closed segments.
  private static func rolled() throws -> FaultStore {
    let store = try FaultStore(SimulatedDisk(), FaultStore.options(segmentSizeTarget: 5_000))
    try store.append(14)
    return store
  }

  @Test
  func `fault 10: a flipped bit in a closed segment is corruption where it is read, and nothing is changed`()
    throws
  {
    let store = try Self.rolled()
    try store.close()
    let names = try SegmentCatalog.names(store.disk, Self.layout)
    try #require(names.count > 3)
    let path = Self.layout.segment(names[1])
    let before = store.disk.evidence(of: FaultStore.layout)
    for byte in 0..<before[path]!.count where byte % 5 == 0 || byte > SegmentHeader.length {
      let disk = store.disk.clone()
      Self.flip(disk, path, byte: byte)
      let damaged = disk.evidence(of: FaultStore.layout)
      if byte < SegmentHeader.length {
        FaultStore.expectCorrupt(disk, store.options, "byte \(byte) of a closed segment's header")
        continue
      }
      let log = try Log.openReader(disk, path: FaultStore.root, options: store.options)
      var found: [UInt64] = []
      var cursor = log.cursor(after: 0)
      do throws(StoreError) {
        while let block = try cursor.next() { found.append(block.header.firstSequence) }
        Issue.record("byte \(byte): nobody noticed")
      } catch {
        guard case .damaged(let finding) = error else {
          Issue.record("byte \(byte): \(error)")
          continue
        }
        #expect(finding.file == names[1].path, "byte \(byte): \(finding)")
        let held = names[1].firstSequence...names[2].lastBefore
        #expect(held.contains(cursor.nextSequence), "byte \(byte)")
      }
      // What stands in other segments can be read.
      var behind = log.cursor(after: names[2].lastBefore)
      let next = try behind.next()?.header.firstSequence
      #expect(next == names[2].firstSequence, "byte \(byte)")
      #expect(disk.evidence(of: FaultStore.layout) == damaged, "byte \(byte)")
    }
  }

  /// Everything that derived files and HEAD help to answer.
  private static func answers(_ log: Log, _ model: LogModel) throws -> [UInt64?] {
    var answers: [UInt64?] = []
    for stream in model.streams.keys.sorted() {
      answers.append(try log.index.revision(of: Array(stream.utf8)))
    }
    for id in model.ids.keys.sorted() { answers.append(try log.index.first(ofID: Array(id.utf8))) }
    answers.append(try log.chain(after: log.mark.sequence))
    answers.append(try log.append(ordinal: UInt64(model.appends.count))?.last)
    return answers
  }

  @Test
  func `fault 11: indexes and HEAD that are damaged or gone are rebuilt, and every answer stays the same`()
    throws
  {
    let store = try Self.rolled()
    try store.close()
    let options = store.options
    let log = try Log.openReader(store.disk.clone(), path: FaultStore.root, options: options)
    let expected = try Self.answers(log, store.model)
    let lost = store.disk.paths.filter { $0.hasPrefix(Self.layout.derived) || $0 == Self.layout.head }
    try #require(lost.count > 3 && expected.count > 6)
    for path in lost {
      let length = store.disk.contents(path)!.count
      for byte in [-1] + stride(from: 0, to: length, by: path == Self.layout.head ? 5 : 3) {
        let disk = store.disk.clone()
        if byte < 0 { disk.delete(path) } else { Self.flip(disk, path, byte: byte) }
        let what = byte < 0 ? "\(path) is gone" : "byte \(byte) of \(path)"
        for isWriter in [false, true] {
          let log =
            isWriter
            ? try Log.openWriter(disk, path: FaultStore.root, options: options)
            : try Log.openReader(disk, path: FaultStore.root, options: options)
          #expect(store.model.difference(from: log, countMin: store.model.appends.count) == nil, "\(what)")
          #expect(try Self.answers(log, store.model) == expected, "\(what)")
          try log.close()
        }
      }
    }
  }

  @Test(arguments: [true, false])
  func `fault 12: a segment shorter than was promised is corruption, by whatever number of bytes`(
    isClosed: Bool
  ) throws {
    let store = try Self.store()
    let segment = store.active
    let bytes = store.bytes
    if isClosed { try store.close() } else { store.kill() }
    for length in 0..<store.end {
      let disk = store.disk.clone()
      disk.replace(segment, Array(bytes[..<length]))
      FaultStore.expectCorrupt(disk, store.options, "cut to \(length) bytes")
    }
    // Whole blocks that are gone are said in bytes.
    let disk = store.disk.clone()
    let last = Int(try #require(try Self.blocks(disk).last).ownOffset)
    disk.replace(segment, Array(bytes[..<last]))
    let finding = try #require(try disk.findings(inStore: FaultStore.root).first)
    #expect(
      finding.class == .missing && finding.what.contains("\(store.end - last) bytes shorter"), "\(finding)")
  }

  @Test
  func
    `fault 22: a sector that cannot be read is an error with its place and its events, and others are read`()
    throws
  {
    let store = try Self.rolled()
    try store.close()
    let names = try SegmentCatalog.names(store.disk, Self.layout)
    let path = Self.layout.segment(names[1])
    let blocks = try store.disk.blocks(of: names[1], in: Self.layout)
    try #require(blocks.count > 2)
    for block in blocks {
      let disk = store.disk.clone()
      let payload = Int(block.ownOffset) + BlockHeader.length
      disk.makeUnreadable(path, payload..<payload + 1)
      // A bad sector is bad after a power cut too.
      let after = disk.crash(seed: 1, model: .dropAll)
      let log = try Log.openReader(after, path: FaultStore.root, options: store.options)
      var cursor = log.cursor(after: 0)
      var events: UInt64 = 0
      do throws(StoreError) {
        while let block = try cursor.next() { events += UInt64(block.header.eventCount) }
        Issue.record("block \(block.firstSequence) was read")
      } catch {
        guard case .unavailable(let unavailability) = error, error.reason == .unreadable else {
          Issue.record("block \(block.firstSequence): \(error)")
          continue
        }
        #expect(error.place == "\(path) at byte \(block.ownOffset)")
        #expect(error.systemCode == SystemErrorCode.inputOutput)
        #expect(unavailability.sequences == block.firstSequence...block.nextSequence - 1)
      }
      #expect(events == block.firstSequence - 1, "what stands before it is not all read")
      var behind = log.cursor(after: block.nextSequence - 1)
      while let block = try behind.next() { events += UInt64(block.header.eventCount) }
      #expect(events + UInt64(block.eventCount) == store.model.head, "what stands behind it is not all read")
    }
    // In the active segment it keeps the store closed, and is not taken for damage.
    let active = Self.layout.segment(names.last!)
    let disk = store.disk.clone()
    let place = SegmentHeader.length + BlockHeader.length
    disk.makeUnreadable(active, place..<place + 1)
    let before = store.disk.evidence(of: FaultStore.layout)
    for _ in 0..<2 {
      #expect(throws: StoreError.refused("read", active, code: SystemErrorCode.inputOutput)) {
        try Log.openWriter(disk, path: FaultStore.root, options: store.options)
      }
    }
    disk.makeReadable()
    #expect(disk.evidence(of: FaultStore.layout) == before)
    #expect(FaultStore.problem(disk, store.model, countMin: store.model.appends.count, store.options) == nil)
  }
}
