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
  private(set) var places: [BlockPlace] = []
  private(set) var eventCount = 0

  private var raw = RawBuffer(capacity: 128 << 10)
  private var block: OpenBlock?
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

  init(context: Context, link: BlockLink) {
    self.context = context
    self.link = link
    chain = link.chain
    lastTime = link.lastTime
    nextSequence = link.nextSequence
  }

  /// Begins a new group at `link`. `syncedThrough` is the end of what is known to be on disk.
  mutating func begin(at link: BlockLink, syncedThrough: UInt64) {
    assert(block == nil, "a group is finished before the next one begins")
    assert(syncedThrough <= link.offset, "nothing is synced past the end of the log")
    self.link = link
    self.link.syncedThrough = syncedThrough
    output.removeAll()
    raw.removeAll()
    places.removeAll(keepingCapacity: true)
    block = nil
    eventCount = 0
    chain = link.chain
    lastTime = link.lastTime
    nextSequence = link.nextSequence
  }

  /// The sequence that the next append gets.
  var next: UInt64 { nextSequence }
  /// Whether this many more events, and one more append, can be counted in 64 bits.
  func hasRoom(for eventCount: Int) -> Bool {
    UInt64(eventCount) <= .max - nextSequence && UInt64(block?.appends ?? 0) < .max - link.appends
  }

  func commitTime(given: Int64) -> Int64 { max(given, lastTime, FormatLimits.noTime + 1) }

  /// Frames one append whose revisions are set. Its first sequence is the value of `next` before the call.
  mutating func add(_ draft: AppendDraft, commitTime: Int64, given: Int64) {
    assert(draft.eventCount > 0, "an append holds an event")
    assert(commitTime >= lastTime, "commit times do not decrease")
    if raw.count > 0, raw.count + draft.encodedLengthMax > context.blockSizeTarget { closeBlock() }
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
    lastTime = commitTime
    eventCount += draft.eventCount
    block = open
  }

  /// Closes the last block of the group.
  mutating func finish() {
    closeBlock()
    assert(raw.count == 0, "every append is in a block")
    assert(link.nextSequence == nextSequence, "the blocks of a group hold all of its events")
    assert(link.chain == chain && link.lastTime == lastTime, "a group ends with its last append")
  }

  /// Frames a control block with the given payload.
  mutating func addControl(kind: UInt8, payload: [UInt8], time: Int64) {
    closeBlock()
    var header = nextHeader(kind: kind, chainAfter: link.chain)
    header.firstTime = time
    header.lastTime = time
    payload.withUnsafeBytes { write(&header, payload: $0, compresses: false) }
  }

  private mutating func closeBlock() {
    guard let open = block else { return }
    block = nil
    var header = nextHeader(kind: BlockKind.events, chainAfter: chain)
    header.eventCount = open.events
    header.appendCount = open.appends
    header.firstTime = open.firstTime
    header.lastTime = lastTime
    assert(raw.count <= FormatLimits.rawLengthMax, "a block is not longer than a reader accepts")
    places.append(BlockPlace(header))
    write(&header, payload: raw.bytes, compresses: true)
    raw.removeAll()
  }

  private func nextHeader(kind: UInt8, chainAfter: UInt64) -> BlockHeader {
    BlockHeader(
      kind: kind, ownOffset: link.offset, firstSequence: link.nextSequence, appendsBefore: link.appends,
      segment: context.segment, storeID: context.storeID, epoch: context.epoch,
      syncedThrough: link.syncedThrough, chainBefore: link.chain, chainAfter: chainAfter)
  }

  private mutating func write(
    _ header: inout BlockHeader, payload: UnsafeRawBufferPointer, compresses: Bool
  ) {
    output.append(
      block: &header, payload: payload, compresses ? .fast : .none, padsToPages: context.padsToPages)
    assert(header.end > header.ownOffset, "a framed block is not empty")
    assert(link.discontinuity(of: header, isRewritten: false) == nil, "a block continues the one before it")
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
