// Blocks: a header is believed only where it may be, and a payload decodes to what its bytes say or is refused.

internal import StrataBase
internal import StrataLog

enum BlockTarget {
  /// Bits of the first byte.
  private enum Mode {
    /// The checksums are made to hold.
    static let repairs: UInt8 = 1
    /// The rest is a raw payload, and the block around it is made here.
    static let isPayload: UInt8 = 2
    /// Such a payload is compressed.
    static let compresses: UInt8 = 4
    /// The rest is what an LZ4 payload stores.
    static let isStored: UInt8 = 8
  }

  private static let segment = SegmentHeader(
    storeID: StoreID(low: 1, high: 2), firstSequence: 1, epoch: 1, created: 0)

  static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
    var input = FuzzInput(bytes)
    let mode = input.byte()
    if mode & Mode.isStored != 0 { return try decompress(Array(input.rest)) }
    if mode & Mode.isPayload != 0 { return try payload(Array(input.rest), mode & Mode.compresses != 0) }
    var file = Array(repeating: UInt8(0), count: SegmentHeader.length) + input.rest
    if mode & Mode.repairs != 0 {
      PackedStore.relink(BlockLink(segment), segment, in: &file)
      PackedStore.repairChecksums(at: SegmentHeader.length, in: &file)
    }
    try block(file)
  }

  /// What stands behind a segment's header.
  private static func block(_ file: [UInt8]) throws(BrokenLaw) {
    let fileSystem = MemoryFileSystem()
    do {
      try fileSystem.add("/s", file)
      var source = BlockSource(file: try fileSystem.open("/s", .read), segment: segment)
      let place = UInt64(SegmentHeader.length)
      guard case .valid(let header, let stored) = try source.block(at: place, limit: UInt64(file.count))
      else {
        return
      }
      try law(header.ownOffset == place && header.end <= UInt64(file.count), "a valid block leaves its file")
      try law(
        header.rawLength <= UInt32(FormatLimits.rawLengthMax)
          && Int(header.rawLength) <= 255 * stored.count + 64, "a valid block claims too much")
      try checkHeader(header, Array(file[SegmentHeader.length...]))
      _ = BlockLink(segment).discontinuity(of: header, isRewritten: false)
      let decoded: DecodedBlock
      do throws(ContentProblem) { decoded = try DecodedBlock(header: header, stored: stored) } catch {
        return
      }
      switch header.kind {
      case BlockKind.recovery: try checkNote(decoded.raw)
      case BlockKind.footer: try checkFooter(decoded.raw)
      default: try content(decoded)
      }
      withExtendedLifetime(decoded) {}
    } catch let error as BrokenLaw {
      throw error
    } catch {
      throw BrokenLaw("a file in memory: \(error)")
    }
  }

  /// A header that 1.0 can write is written as it was read.
  private static func checkHeader(_ header: BlockHeader, _ bytes: [UInt8]) throws(BrokenLaw) {
    let reserved = bytes[36..<40] + bytes[BlockHeader.Offset.reserved..<BlockHeader.length]
    guard header.headerLength == UInt16(BlockHeader.length), reserved.allSatisfy({ $0 == 0 }) else { return }
    var written = Array(repeating: UInt8(0), count: BlockHeader.length)
    written.withUnsafeMutableBytes { header.write(to: $0.baseAddress!) }
    try law(written == Array(bytes.prefix(BlockHeader.length)), "a block's header is written otherwise")
  }

  private static func checkNote(_ raw: UnsafeRawBufferPointer) throws(BrokenLaw) {
    guard let note = RecoveryNote(decoding: raw) else { return }
    try law(note.encoded().elementsEqual(raw), "a RECOVERY block is written otherwise")
  }

  private static func checkFooter(_ raw: UnsafeRawBufferPointer) throws(BrokenLaw) {
    guard let places = FooterIndex.decoding(raw) else { return }
    let written = FooterIndex.encoded(places)
    try law(written.dropFirst(8).elementsEqual(raw.dropFirst(8)), "a FOOTER is written otherwise")
  }

  // MARK: Payloads

  /// Decodes whatever LZ4 makes of the bytes, at several lengths.
  private static func decompress(_ stored: [UInt8]) throws(BrokenLaw) {
    for length in [0, stored.count, 2 * stored.count + 13, Compression.rawLengthMax(stored: stored.count)] {
      var header = PackedStore.plainHeader
      header.codec = BlockCodec.lz4
      header.storedLength = UInt32(stored.count)
      header.rawLength = UInt32(length)
      guard let decoded = stored.withUnsafeBytes({ try? DecodedBlock(header: header, stored: $0) }) else {
        continue
      }
      try law(decoded.raw.count == length, "LZ4 of another length")
    }
  }

  /// Counts what stands in a raw payload, makes a header that says so, and holds the decoder to it.
  private static func payload(_ raw: [UInt8], _ compresses: Bool) throws(BrokenLaw) {
    var header = PackedStore.plainHeader
    header.firstSequence = 7
    header.chainBefore = 0x0123_4567_89AB_CDEF
    header.rawLength = UInt32(raw.count)
    let plain = raw.withUnsafeBytes { PlainPayload($0) }
    header.eventCount = UInt32(clamping: plain.events)
    header.appendCount = UInt32(clamping: plain.appends)
    header.firstTime = plain.firstTime
    header.lastTime = plain.lastTime
    header.chainAfter = plain.chain(from: header)
    var stored = raw
    if compresses {
      stored = Array(repeating: 0, count: Compression.bound(raw.count))
      let count = raw.withUnsafeBytes { raw in
        stored.withUnsafeMutableBytes { Compression.compress(raw, into: $0) }
      }
      if let count {
        header.codec = BlockCodec.lz4
        stored.removeLast(stored.count - count)
      } else {
        stored = raw
      }
    }
    header.storedLength = UInt32(stored.count)
    let decoded: DecodedBlock
    do throws(ContentProblem) {
      decoded = try stored.lendBytes { (stored) throws(ContentProblem) in
        try DecodedBlock(header: header, stored: stored)
      }
    } catch { throw BrokenLaw("a payload as it was stored is refused: \(error)") }
    try law(decoded.raw.elementsEqual(raw), "a payload comes back otherwise")
    let isRight = try content(decoded)
    try law(isRight == plain.isRight, "the decoder says \(isRight), a plain walk \(plain.isRight)")
  }

  /// Walks a decoded payload. True where everything in it is right; then each append that 1.0 can write is written
  /// as it was read.
  @discardableResult
  private static func content(_ block: DecodedBlock) throws(BrokenLaw) -> Bool {
    var broken: BrokenLaw?
    do throws(ContentProblem) {
      try block.verifyContent()
      try block.forEachAppend { append, first throws(ContentProblem) in
        do throws(BrokenLaw) { try rewrite(append) } catch { broken = broken ?? error }
      }
      _ = try block.chain(after: block.header.firstSequence)
    } catch {
      if let broken { throw broken }
      return false
    }
    if let broken { throw broken }
    return true
  }

  private static func rewrite(_ append: borrowing AppendView) throws(BrokenLaw) {
    // A given time that is the commit time is what 1.0 reads and never writes.
    if append.given == append.commitTime { return }
    let draft = AppendDraft()
    draft.id = Array(append.id)
    draft.given = append.given
    draft.isErasable = append.flags & AppendFlag.erasable != 0
    var events = append.events
    let start = events.position
    var revisions: [UInt64] = []
    for _ in 0..<append.eventCount {
      guard let event = try? events.nextEvent() else { throw BrokenLaw("an event reads only once") }
      guard event.kind == EventKind.event else { return }
      draft.add(
        stream: event.stream, type: event.type, codec: event.codec, salt: event.salt,
        metadata: event.metadata,
        payload: event.payload)
      revisions.append(event.revision)
    }
    for (mark, revision) in zip(draft.marks, revisions) { draft.setRevision(revision, of: mark) }
    let read = UnsafeRawBufferPointer(start: start, count: events.position - start)
    try law(draft.events.bytes.elementsEqual(read), "events are written otherwise")
    let (time, readHead) = (append.commitTime, append.head)
    var head = Array(repeating: UInt8(0), count: AppendDraft.headLengthMax)
    let length = head.withUnsafeMutableBytes {
      draft.writeHead(commitTime: time, given: draft.given ?? time, to: $0.baseAddress!)
    }
    try law(head.prefix(length).elementsEqual(readHead), "an append's head is written otherwise")
  }
}
