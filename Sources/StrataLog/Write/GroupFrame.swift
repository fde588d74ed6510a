// Frames appends as blocks. Sequences, times and chain are assigned here, and nowhere earlier.

internal import StrataBase

/// The blocks of one group while it is framed, after a known end of the active segment.
struct GroupFrame: ~Copyable {
  /// The values that do not change while a segment is active.
  struct Context {
    var segment: SegmentName
    var storeID: StoreID
    var epoch: UInt64
    var blockSizeTarget: Int
    var padsToPages: Bool
  }

  var context: Context
  /// What the next block continues; advances as blocks are framed.
  private(set) var link: BlockLink
  /// The blocks, contiguous, ready to be written.
  private(set) var output = RawBuffer(capacity: 1 << 20)
  /// The event blocks among them.
  private(set) var places: [BlockAddress] = []
  private(set) var eventCount = 0
  /// The framed appends that `link` does not count yet.
  private var appendsAhead: UInt64 = 0

  /// The payloads of the blocks of the group.
  private var raw = RawBuffer(capacity: 128 << 10)
  /// Where the payload of the open block begins, or of the next one.
  private var begin = 0
  private var block: OpenBlock?
  /// The blocks whose parts are being compressed.
  private var closed: [ClosedBlock] = []
  /// Compresses the parts of large groups.
  var compressor: PartCompressor?
  private var parts = RawBuffer(capacity: 64)
  /// Whether the parts of the current group are compressed by several threads.
  private var isShared = false
  /// The chain, time and sequence after the last framed append, including the open block.
  private(set) var chain: UInt64
  private var lastTime: Int64
  private var nextSequence: UInt64

  private struct OpenBlock {
    var firstSequence: UInt64
    var firstTime: Int64
    var chainBefore: UInt64
    var events: UInt32 = 0
    var appends: UInt32 = 0
  }

  /// A block that is complete, up to what its position says.
  private struct ClosedBlock {
    var block: OpenBlock
    var payload: Range<Int>
    var lastTime: Int64
    var chain: UInt64
  }

  init(context: Context, link: BlockLink) {
    self.context = context
    self.link = link
    chain = link.chain
    lastTime = link.lastTime
    nextSequence = link.nextSequence
  }

  /// From how many bytes on the blocks of a group are compressed by several threads.
  private static let sharedMin = 2 * CompressedPart.lengthMin

  /// Memory of larger groups is given back.
  private static let keptLengthMax = 8 << 20

  /// Begins a new group at `link`. `syncedThrough` is the end of what is known to be on disk.
  ///
  /// - Parameter lengthMax: the most bytes that its appends take before they are compressed.
  mutating func begin(at link: BlockLink, syncedThrough: UInt64, lengthMax: Int) {
    assert(block == nil && closed.isEmpty, "a group is finished before the next one begins")
    assert(syncedThrough <= link.offset, "nothing is synced past the end of the log")
    self.link = link
    self.link.syncedThrough = syncedThrough
    output.removeAll()
    raw.removeAll()
    parts.removeAll()
    begin = 0
    places.removeAll(keepingCapacity: true)
    (eventCount, appendsAhead) = (0, 0)
    chain = link.chain
    lastTime = link.lastTime
    nextSequence = link.nextSequence
    isShared = compressor != nil && lengthMax >= Self.sharedMin
    guard isShared else { return }
    // Other threads read these bytes while more are added, so they must not move.
    _ = raw.reserve(lengthMax + Self.slack)
    // Each part needs up to a 250th of its length and some bytes more, and each append takes more than a hundred bytes.
    _ = parts.reserve(lengthMax + lengthMax / 4 + Self.slack)
    compressor?.begin()
  }

  /// For what is reserved before it is written: the longest number.
  private static let slack = 64

  /// The sequence that the next append gets.
  var next: UInt64 { nextSequence }
  /// Whether this many more events, and one more append, can be counted in 64 bits.
  func hasRoom(for eventCount: Int) -> Bool {
    UInt64(eventCount) <= .max - nextSequence && appendsAhead < .max - link.appends
  }

  func commitTime(given: Int64) -> Int64 { max(given, lastTime, FormatLimits.noTime + 1) }

  /// Frames one append whose revisions are set. Its first sequence is the value of `next` before the call.
  mutating func add(_ draft: AppendDraft, commitTime: Int64, given: Int64) {
    assert(draft.eventCount > 0, "an append holds an event")
    assert(commitTime >= lastTime, "commit times do not decrease")
    let length = raw.count - begin
    if length > 0, length + draft.encodedLengthMax > context.blockSizeTarget { closeBlock() }
    var open =
      block
      ?? OpenBlock(firstSequence: nextSequence, firstTime: commitTime, chainBefore: chain)
    let head = withUnsafeTemporaryAllocation(byteCount: AppendDraft.headLengthMax, alignment: 8) {
      buffer -> UInt64 in
      let length = draft.writeHead(commitTime: commitTime, given: given, to: buffer.baseAddress!)
      let bytes = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<length])
      raw.append(varint: UInt64(length + draft.byteCount))
      raw.append(bytes)
      return XXH64.of(bytes)
    }
    raw.append(draft.events.bytes)
    chain = draft.chain(after: chain, first: nextSequence, head: head)
    nextSequence += UInt64(draft.eventCount)
    open.events += UInt32(draft.eventCount)
    open.appends += 1
    appendsAhead += 1
    lastTime = commitTime
    eventCount += draft.eventCount
    block = open
  }

  /// Closes the last block of the group.
  mutating func finish() {
    closeBlock()
    if isShared, let compressor { write(compressor.finish()) }
    isShared = false
    assert(begin == raw.count && closed.isEmpty, "every append is in a block")
    if raw.capacity > Self.keptLengthMax {
      raw = RawBuffer(capacity: 128 << 10)
      begin = 0
    }
    if parts.capacity > Self.keptLengthMax { parts = RawBuffer(capacity: 64) }
    assert(link.nextSequence == nextSequence, "the blocks of a group hold all of its events")
    assert(link.chain == chain && link.lastTime == lastTime, "a group ends with its last append")
  }

  /// Frames a control block with the given payload, in a group of its own.
  mutating func addControl(kind: UInt8, payload: [UInt8], time: Int64) {
    assert(block == nil && closed.isEmpty, "a control block has no appends before it in its group")
    var header = nextHeader(kind: kind, chainAfter: link.chain)
    header.firstTime = time
    header.lastTime = time
    payload.withUnsafeBytes { payload in
      output.append(block: &header, payload: payload, .none, padsToPages: context.padsToPages)
    }
    pass(header)
  }

  private mutating func closeBlock() {
    guard let open = block else { return }
    block = nil
    let block = ClosedBlock(block: open, payload: begin..<raw.count, lastTime: lastTime, chain: chain)
    begin = raw.count
    assert(block.payload.count <= FormatLimits.rawLengthMax, "a block is not longer than a reader accepts")
    guard isShared, let compressor else {
      var header = nextHeader(of: block)
      output.append(
        block: &header, payload: payload(of: block), .fast, padsToPages: context.padsToPages)
      return pass(header)
    }
    let room = PartCompressor.room(for: block.payload.count)
    assert(parts.capacity - parts.count >= room, "the parts of a group have their room from its beginning on")
    compressor.add(payload(of: block), into: parts.reserve(room))
    parts.count += room
    closed.append(block)
  }

  /// Writes the blocks whose parts were compressed.
  private mutating func write(_ compressed: [CompressedPart]) {
    var parts = compressed[...]
    for block in closed {
      var header = nextHeader(of: block)
      let count = CompressedPart.count(in: block.payload.count)
      output.append(
        block: &header, payload: payload(of: block), parts.prefix(count), padsToPages: context.padsToPages)
      pass(header)
      parts = parts.dropFirst(count)
    }
    assert(parts.isEmpty, "every part is in a block")
    closed.removeAll(keepingCapacity: true)
  }

  private func payload(of block: ClosedBlock) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: raw.bytes[block.payload])
  }

  private func nextHeader(of block: ClosedBlock) -> BlockHeader {
    var header = nextHeader(kind: BlockKind.events, chainAfter: block.chain)
    header.eventCount = block.block.events
    header.appendCount = block.block.appends
    header.firstTime = block.block.firstTime
    header.lastTime = block.lastTime
    return header
  }

  private func nextHeader(kind: UInt8, chainAfter: UInt64) -> BlockHeader {
    BlockHeader(
      kind: kind, ownOffset: link.offset, firstSequence: link.nextSequence, appendsBefore: link.appends,
      segment: context.segment, storeID: context.storeID, epoch: context.epoch,
      syncedThrough: link.syncedThrough, chainBefore: link.chain, chainAfter: chainAfter)
  }

  /// Goes on after a block that was written.
  private mutating func pass(_ header: BlockHeader) {
    assert(header.end > header.ownOffset, "a framed block is not empty")
    assert(link.discontinuity(of: header, isRewritten: false) == nil, "a block continues the one before it")
    if !header.isControl { places.append(BlockAddress(header)) }
    appendsAhead -= UInt64(header.appendCount)
    link.pass(header)
  }
}

extension AppendDraft {
  /// The chain after this append's last event. The revisions of its events must be set.
  package func chain(after previous: UInt64, first: UInt64, head: UInt64) -> UInt64 {
    var chain = previous
    var sequence = first
    let base = UnsafeRawPointer(events.base)
    for mark in marks {
      chain = Chain.next(
        after: chain, sequence: sequence, revision: base.littleEndian(UInt64.self, at: mark.revisionOffset),
        head: head, names: mark.namesHash, content: mark.contentHash)
      sequence += 1
    }
    return chain
  }

  /// The same for events whose sequences have gaps, as those of a part of a log.
  package func chain(after previous: UInt64, sequences: [UInt64], head: UInt64) -> UInt64 {
    let base = UnsafeRawPointer(events.base)
    return zip(marks, sequences).reduce(previous) { chain, next in
      Chain.next(
        after: chain, sequence: next.1, revision: base.littleEndian(UInt64.self, at: next.0.revisionOffset),
        head: head, names: next.0.namesHash, content: next.0.contentHash)
    }
  }
}
