// A whole segment of another copy of the log.

internal import StrataBase

/// A closed, rewritten segment that is somewhere else.
package struct SegmentOffer: Sendable {
  package var first: SegmentName
  package var last: UInt64
  /// The chain after the last sequence.
  package var chain: UInt64
  /// The length of its file, in bytes.
  package var size: UInt64
  /// The mark of what is erased in it, and how often it was rewritten.
  package var erasures: UInt64
  package var revision: UInt32
  package var file: any File

  package init(
    first: SegmentName, last: UInt64, chain: UInt64, size: UInt64, erasures: UInt64, revision: UInt32,
    file: any File
  ) {
    self.first = first
    self.last = last
    self.chain = chain
    self.size = size
    self.erasures = erasures
    self.revision = revision
    self.file = file
  }

  /// Its header, which says of it what the offer says.
  package func header(of storeID: StoreID) throws(StoreError) -> SegmentHeader {
    guard size > UInt64(SegmentHeader.length), size <= UInt64(Int64.max) else {
      throw damaged("the length of the segment cannot be right")
    }
    var bytes = [UInt8](repeating: 0, count: SegmentHeader.length)
    let count = try bytes.lendMutableBytes { buffer throws(StoreError) in try file.read(into: buffer, at: 0) }
    let header: SegmentHeader
    do throws(SegmentHeader.Problem) {
      header = try bytes.lendBytes { buffer throws(SegmentHeader.Problem) in
        try SegmentHeader(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      }
    } catch {
      switch error {
      case .damaged(let what), .unsupported(let what): throw damaged(what)
      }
    }
    guard header.storeID == storeID, header.segment == first, header.isRewritten,
      header.rewrittenLast == last,
      header.rewrittenChain == chain, header.rewrittenEnd == size, header.erasures == erasures,
      header.revision == revision
    else { throw damaged("the header of the segment is not that of the one that is listed") }
    return header
  }

  /// Reads the blocks of events, each checked, in their order; all of the segment is checked once it returns.
  package func walk(
    of storeID: StoreID, _ visit: (DecodedBlock) throws(StoreError) -> Void
  ) throws(StoreError) {
    let header = try header(of: storeID)
    let walk = ClosedWalk(file: file, header: header, name: file.path, size: size, last: last, next: nil)
    let outcome = try walk.run { block, decoded throws(StoreError) in
      guard block.kind == BlockKind.events, let decoded else { return }
      try visit(decoded)
    }
    if let finding = outcome.finding { throw .found(finding) }
  }

  /// The finding for a sequence that the segment must have.
  package func lacks(_ sequence: UInt64) -> StoreError { damaged("the segment lacks sequence \(sequence)") }

  func damaged(_ what: String) -> StoreError {
    .damaged(
      StoreFinding(
        .corrupt, file: file.path, offset: 0, first: first.firstSequence, last: last, what: what))
  }
}
