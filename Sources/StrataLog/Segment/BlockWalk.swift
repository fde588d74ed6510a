// Reads the blocks of a segment and decides which are valid, by the rule of FORMAT.md.

internal import StrataBase

/// The state that the next block of a segment must continue.
package struct BlockLink: Equatable, Sendable {
  package var offset: UInt64
  package var nextSequence: UInt64
  package var appends: UInt64
  package var chain: UInt64
  package var lastTime: Int64
  package var epoch: UInt64
  package var syncedThrough: UInt64

  /// The link at the start of a segment, from its header.
  package init(_ header: SegmentHeader) {
    offset = UInt64(SegmentHeader.length)
    nextSequence = header.firstSequence
    appends = header.appendsBefore
    chain = header.previousChain
    lastTime = header.previousTime
    epoch = header.epoch
    syncedThrough = UInt64(SegmentHeader.length)
  }

  /// Moves past a valid block.
  package mutating func pass(_ block: BlockHeader) {
    offset = block.end
    nextSequence = block.nextSequence
    appends = block.appendsBefore + UInt64(block.appendCount)
    chain = block.chainAfter
    if !block.isControl { lastTime = block.lastTime }
    epoch = max(epoch, block.epoch)
    syncedThrough = block.syncedThrough
  }

  /// The sequence of the last event before this position.
  package var lastSequence: UInt64 { nextSequence - 1 }
  package var mark: LogMark { LogMark(offset: offset, sequence: lastSequence, chain: chain) }
}

/// Why there is no valid block at an offset.
package enum BlockProblem: Error, Equatable, Sendable {
  case corrupt(String)
  case misplaced(String)
  case stale(String)
}

/// The result of reading a block at an offset.
package enum BlockVerdict {
  /// A valid block: its header, and its stored payload, which is valid until the window moves.
  case valid(BlockHeader, payload: UnsafeRawBufferPointer)
  case invalid(BlockProblem)
}

/// Reads blocks at given offsets and checks each on its own: points 1 to 4 of FORMAT.md's rule.
package struct BlockSource: ~Copyable {
  package let segment: SegmentHeader
  private var window: SegmentWindow

  package init(file: any File, segment: SegmentHeader, step: Int = 1 << 20) {
    self.segment = segment
    window = SegmentWindow(file: file, step: step)
  }

  /// The block at an offset. `limit` is the length of the file, or a mark before it. The payload is valid
  /// until the next call.
  package mutating func block(at offset: UInt64, limit: UInt64) throws(StoreError) -> BlockVerdict {
    let block: BlockHeader
    switch try header(at: offset, limit: limit) {
    case .success(let header): block = header
    case .failure(let problem): return .invalid(problem)
    }
    let whole = try window.bytes(at: offset, length: Int(clamping: block.span), limit: limit)
    guard UInt64(whole.count) == block.span else { return .invalid(.corrupt("the block is cut short")) }
    let begin = Int(block.headerLength)
    let end = begin + Int(block.storedLength)
    let payload = UnsafeRawBufferPointer(rebasing: whole[begin..<end])
    guard CRC32C.of(payload) == block.payloadChecksum else {
      return .invalid(.corrupt("the checksum of the payload does not match"))
    }
    guard UnsafeRawBufferPointer(rebasing: whole[end...]).isAllZero else {
      return .invalid(.corrupt("the padding after the payload is not zero"))
    }
    return .valid(block, payload: payload)
  }

  /// The header at an offset, checked on its own; its payload is not read.
  package mutating func header(
    at offset: UInt64, limit: UInt64
  ) throws(StoreError) -> Result<BlockHeader, BlockProblem> {
    let front = try window.bytes(at: offset, length: BlockHeader.length, limit: limit)
    guard front.count >= BlockHeader.length else {
      return .failure(.corrupt("\(front.count) bytes are too few for a block"))
    }
    let declared = Int(front.baseAddress!.littleEndian(UInt16.self, at: BlockHeader.Offset.headerLength))
    var bytes = front
    if declared > BlockHeader.length, declared <= BlockHeader.lengthMax {
      bytes = try window.bytes(at: offset, length: declared, limit: limit)
    }
    guard let block = BlockHeader(decoding: bytes) else {
      return .failure(.corrupt("there is no block header here, or its checksum does not match"))
    }
    if let problem = misplacement(of: block, at: offset) { return .failure(.misplaced(problem)) }
    if let problem = Self.lengthProblem(of: block, at: offset, limit: limit) {
      return .failure(.corrupt(problem))
    }
    return .success(block)
  }

  private func misplacement(of block: BlockHeader, at offset: UInt64) -> String? {
    if block.ownOffset != offset { return "the block was written for offset \(block.ownOffset)" }
    if block.segment != segment.segment {
      return "the block was written for the segment that begins at \(block.segment)"
    }
    if block.storeID != segment.storeID { return "the block was written for the store \(block.storeID)" }
    return nil
  }

  /// Why the lengths in a header cannot be right at this offset, or nil.
  private static func lengthProblem(of block: BlockHeader, at offset: UInt64, limit: UInt64) -> String? {
    guard !block.firstSequence.addingReportingOverflow(UInt64(block.eventCount)).overflow,
      !block.appendsBefore.addingReportingOverflow(UInt64(block.appendCount)).overflow
    else { return "the block counts beyond 64 bits" }
    let used = UInt64(block.headerLength) + UInt64(block.storedLength)
    guard block.span % 8 == 0, block.span >= used else { return "the block's span is impossible" }
    guard block.span <= limit - offset else { return "the block reaches beyond the end of the file" }
    guard block.rawLength <= UInt32(FormatLimits.rawLengthMax),
      Int(block.rawLength) <= Compression.rawLengthMax(stored: Int(block.storedLength))
    else { return "the block claims to decode to \(block.rawLength) bytes" }
    guard block.codec != BlockCodec.none || block.rawLength == block.storedLength else {
      return "the block's two lengths differ although it is not compressed"
    }
    return nil
  }
}

/// A walk from block to block that also checks each against the previous one: points 5 and 6.
package struct BlockWalk: ~Copyable {
  package private(set) var link: BlockLink
  /// Where the walk ends: the length of the file, or a mark before it.
  package let limit: UInt64
  private var source: BlockSource

  package init(
    file: any File, segment: SegmentHeader, from link: BlockLink? = nil, limit: UInt64, step: Int = 1 << 20
  ) {
    self.link = link ?? BlockLink(segment)
    self.limit = limit
    source = BlockSource(file: file, segment: segment, step: step)
    assert(
      self.link.offset >= UInt64(SegmentHeader.length), "a walk begins after the segment's header")
  }

  package var isAtLimit: Bool { link.offset >= limit }

  /// Reads the block at the current position, and moves past it if it is valid.
  package mutating func next() throws(StoreError) -> BlockVerdict {
    assert(!isAtLimit, "a walk ends at its limit")
    let verdict = try source.block(at: link.offset, limit: limit)
    guard case .valid(let block, _) = verdict else { return verdict }
    if let problem = link.discontinuity(of: block, isRewritten: source.segment.isRewritten) {
      return .invalid(.stale(problem))
    }
    let offset = link.offset
    link.pass(block)
    assert(
      link.offset > offset && link.offset <= limit, "a valid block is not empty and ends within the limit")
    return verdict
  }
}

extension BlockLink {
  /// Why a block that is valid on its own does not continue this position, or nil.
  package func discontinuity(of block: BlockHeader, isRewritten: Bool) -> String? {
    if isRewritten {
      if block.syncedThrough != block.ownOffset { return "the rewritten block is not synced through itself" }
    } else {
      if block.epoch < epoch { return "the block's epoch \(block.epoch) is lower than \(epoch)" }
      if block.syncedThrough < syncedThrough || block.syncedThrough > block.ownOffset {
        return "the block is synced through \(block.syncedThrough), which does not follow \(syncedThrough)"
      }
    }
    if block.firstSequence != nextSequence {
      return "the block begins at sequence \(block.firstSequence), not at \(nextSequence)"
    }
    if block.appendsBefore != appends {
      return "the block counts \(block.appendsBefore) appends before it, not \(appends)"
    }
    if block.chainBefore != chain { return "the block's chain does not continue that of the previous block" }
    if block.isControl {
      guard block.eventCount == 0, block.appendCount == 0, block.chainAfter == block.chainBefore else {
        return "a control block counts events"
      }
      return nil
    }
    if block.appendCount == 0 || block.eventCount < block.appendCount { return "an empty block of events" }
    if block.firstTime < lastTime { return "the block's time is before that of the previous block" }
    return nil
  }
}
