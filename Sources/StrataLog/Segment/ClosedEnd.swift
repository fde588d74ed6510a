// The checks at the end of a closed segment, and of its footer.

/// Compares the end of a closed or rewritten segment with what its own header and the next segment's say.
struct ClosedEnd {
  private let header: SegmentHeader
  private let name: String
  private let size: UInt64
  /// The last sequence that the segment must have, and the next one's header if that has no finding.
  private let lastPromised: UInt64?
  private let next: SegmentHeader?
  /// The event blocks so far, which a footer must list.
  private var places: [BlockAddress] = []
  private var footerOffset: UInt64?
  /// The mark of the events that are erased in the blocks so far.
  var erasures = ErasureMark()

  init(header: SegmentHeader, name: String, size: UInt64, last: UInt64?, next: SegmentHeader?) {
    self.header = header
    self.name = name
    self.size = size
    lastPromised = last
    self.next = next
  }

  /// The last sequence of a finding's range that begins at `first`.
  func last(from first: UInt64) -> UInt64 {
    max(lastPromised ?? header.rewrittenLast, max(first, 1) - 1)
  }

  /// Passes a valid, decodable block; returns a finding if the block is a footer that does not match the segment.
  mutating func pass(_ block: BlockHeader, _ payload: UnsafeRawBufferPointer) -> StoreFinding? {
    if let footerOffset { return finding(.corrupt, footerOffset, block, "the FOOTER is not the last block") }
    assert(places.last.map { $0.offset < block.ownOffset } ?? true, "blocks are passed in ascending order")
    if block.kind == BlockKind.events { places.append(BlockAddress(block)) }
    guard block.kind == BlockKind.footer else { return nil }
    guard header.isRewritten else {
      return finding(
        .corrupt, block.ownOffset, block, "a FOOTER is in a segment that was never rewritten")
    }
    footerOffset = block.ownOffset
    guard block.ownOffset == header.footerOffset else {
      return finding(.corrupt, block.ownOffset, block, "the FOOTER is not where the segment's header says")
    }
    guard let decoded = try? DecodedBlock(header: block, stored: payload),
      FooterIndex.decoding(decoded.raw) == places
    else { return finding(.corrupt, block.ownOffset, block, "the FOOTER does not list the segment's blocks") }
    return nil
  }

  private func finding(
    _ kind: StoreFinding.Class, _ offset: UInt64, _ block: BlockHeader, _ what: String
  ) -> StoreFinding {
    StoreFinding(
      kind, file: name, offset: offset, first: block.firstSequence, last: last(from: block.firstSequence),
      what: what)
  }

  /// What is wrong at the end of the file, after the last block, or nil.
  func finding(at link: BlockLink) -> StoreFinding? {
    func end(_ kind: StoreFinding.Class, _ what: String) -> StoreFinding {
      StoreFinding(
        kind, file: name, offset: link.offset, first: link.nextSequence, last: last(from: link.nextSequence),
        what: what)
    }
    if header.isRewritten {
      if size < header.rewrittenEnd { return end(.missing, "the file ends before its header says") }
      if size > header.rewrittenEnd {
        return end(.stale, "the file continues past the end that its header names")
      }
      if footerOffset == nil { return end(.corrupt, "the last block is not a FOOTER") }
      if let wrong = disagreement(
        link, last: header.rewrittenLast, chain: header.rewrittenChain, of: "its own header")
      {
        return end(wrong.kind, wrong.what)
      }
      if header.erasures != ErasureMark.unknown, header.erasures != erasures.value {
        return end(.stale, "the erased events of the segment do not match the mark in its own header")
      }
    }
    guard let next, next.previousFirst == header.firstSequence else { return nil }
    if let wrong = disagreement(link, last: next.previousLast, chain: next.previousChain, of: "the next one")
    {
      return end(wrong.kind, wrong.what)
    }
    guard link.lastTime == next.previousTime, link.appends == next.appendsBefore else {
      return end(
        .stale, "the segment does not end with the time and number of appends that the next one names")
    }
    return nil
  }

  private func disagreement(
    _ link: BlockLink, last: UInt64, chain: UInt64, of whom: String
  ) -> (kind: StoreFinding.Class, what: String)? {
    if link.lastSequence < last {
      return (.missing, "the segment ends at sequence \(link.lastSequence), and \(whom) names \(last)")
    }
    if link.lastSequence > last || link.chain != chain {
      return (.stale, "the segment does not end with the sequence and chain that \(whom) names")
    }
    return nil
  }
}
