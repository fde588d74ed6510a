// Packs recorded appends into blocks of an even size, for a rewritten segment.

internal import StrataBase

/// Writes the blocks of a segment while it is rewritten. Appends arrive in order; sequences, times and chain are those
/// of the log.
struct BlockPacker: ~Copyable {
  /// One append as it will be in a payload.
  struct Append {
    /// Head and events, without the length prefix.
    var body: UnsafeRawBufferPointer
    var eventCount: Int
    var commitTime: Int64
    /// The chain after its last event.
    var chainAfter: UInt64
  }

  private let file: any File
  private let header: SegmentHeader
  private let sizeTarget: Int
  /// What the next block continues.
  private(set) var link: BlockLink
  /// The event blocks, as the footer lists them.
  private var places: [BlockAddress] = []
  private var raw = RawBuffer(capacity: 128 << 10)
  private var output = RawBuffer(capacity: 1 << 20)
  /// The offset in the file at which `output` is written.
  private var written = UInt64(SegmentHeader.length)
  /// The block that is being filled.
  private var block: BlockHeader?

  /// - Parameter sizeTarget: bytes of a payload before compression.
  init(file: any File, header: SegmentHeader, sizeTarget: Int) {
    self.file = file
    self.header = header
    self.sizeTarget = sizeTarget
    link = BlockLink(header)
  }

  /// Adds an append after the last one.
  /// - Parameter epoch: the epoch of the block that held it.
  mutating func add(_ append: Append, epoch: UInt64) throws(StoreError) {
    assert(append.eventCount > 0, "an append holds an event")
    assert(append.commitTime >= block?.lastTime ?? link.lastTime, "the times of a segment do not decrease")
    if raw.count > 0, raw.count + append.body.count + Varint.lengthMax > sizeTarget { try closeBlock() }
    var open = block ?? nextHeader(kind: BlockKind.events, time: append.commitTime, epoch: epoch)
    raw.append(varint: UInt64(append.body.count))
    raw.append(append.body)
    open.eventCount += UInt32(append.eventCount)
    open.appendCount += 1
    open.lastTime = append.commitTime
    open.chainAfter = append.chainAfter
    open.epoch = max(open.epoch, epoch)
    block = open
  }

  /// Adds a control block with its original payload.
  mutating func add(control: BlockHeader, payload: UnsafeRawBufferPointer) throws(StoreError) {
    assert(control.isControl, "an event block is built from appends")
    try closeBlock()
    var block = nextHeader(kind: control.kind, time: control.firstTime, epoch: control.epoch)
    block.lastTime = control.lastTime
    try write(&block, payload: payload, .none)
  }

  /// Writes the last block and the footer, and returns the segment's header, which it does not write.
  mutating func finish() throws(StoreError) -> SegmentHeader {
    try closeBlock()
    var result = header
    assert(raw.count == 0, "the footer follows the last append")
    result.footerOffset = link.offset
    var footer = nextHeader(kind: BlockKind.footer, time: link.lastTime, epoch: link.epoch)
    let index = FooterIndex.encoded(places)
    do {
      try index.lendBytes { bytes throws(StoreError) in try write(&footer, payload: bytes, .fast) }
    }
    try flush()
    result.rewrittenLast = link.lastSequence
    result.rewrittenChain = link.chain
    result.rewrittenEnd = link.offset
    assert(result.footerOffset < result.rewrittenEnd, "the footer is inside its segment")
    return result
  }

  private func nextHeader(kind: UInt8, time: Int64, epoch: UInt64) -> BlockHeader {
    var block = BlockHeader(
      kind: kind, ownOffset: link.offset, firstSequence: link.nextSequence, appendsBefore: link.appends,
      segment: header.segment, storeID: header.storeID, epoch: epoch, syncedThrough: link.offset,
      chainBefore: link.chain, chainAfter: link.chain)
    block.firstTime = time
    block.lastTime = time
    return block
  }

  private mutating func closeBlock() throws(StoreError) {
    guard var open = block else { return }
    block = nil
    assert(places.last.map { $0.offset < open.ownOffset } ?? true, "a footer lists its blocks in order")
    assert(raw.count <= FormatLimits.rawLengthMax, "a block is not longer than a reader accepts")
    places.append(BlockAddress(open))
    let payload = raw.bytes
    try write(&open, payload: payload, .high)
    raw.removeAll()
  }

  private mutating func write(
    _ block: inout BlockHeader, payload: UnsafeRawBufferPointer, _ effort: Compression.Effort
  ) throws(StoreError) {
    output.append(block: &block, payload: payload, effort)
    assert(link.discontinuity(of: block, isRewritten: true) == nil, "a block continues the one before it")
    link.pass(block)
    assert(written + UInt64(output.count) == link.offset, "a segment is written without a gap")
    if output.count >= 1 << 20 { try flush() }
  }

  private mutating func flush() throws(StoreError) {
    guard output.count > 0 else { return }
    try file.write(output.bytes, at: Int64(written))
    written += UInt64(output.count)
    output.removeAll()
  }
}
