// Reads a closed segment from end to end, and checks everything that is known about it.

internal import StrataBase

/// One pass over a closed or rewritten segment: every checksum, link and chain, the footer, and the end that its own
/// header and the next one name. O(bytes); one block is in memory at a time.
struct ClosedWalk {
  let file: any File
  let header: SegmentHeader
  let name: String
  let size: UInt64
  /// The last sequence that the segment must have: the one before the next file's name, or that of a mark.
  var last: UInt64?
  /// The next segment's header if that has no finding.
  var next: SegmentHeader?

  /// The result of a pass.
  struct Outcome {
    /// The first finding.
    var finding: StoreFinding?
    /// The end of the last valid block; nil if the finding is before the end of the file.
    var end: BlockLink?
  }

  /// Walks to the first finding, or to the end.
  ///
  /// - Parameter visit: called with every valid block, decoded unless its kind is one that is skipped, before the next
  ///   block is read.
  func run(
    _ visit: (BlockHeader, DecodedBlock?) throws(StoreError) -> Void
  ) throws(StoreError) -> Outcome {
    var walk = BlockWalk(file: file, segment: header, limit: size)
    var closed = ClosedEnd(header: header, name: name, size: size, last: last, next: next)
    while !walk.isAtLimit {
      let place = walk.link
      let verdict = try walk.next()
      switch verdict {
      case .invalid(let problem):
        return Outcome(
          finding: problem.finding(
            in: name, at: place.offset, first: place.nextSequence,
            last: closed.last(from: place.nextSequence)))
      case .valid(let block, let payload):
        let decoded: DecodedBlock?
        do throws(ContentProblem) {
          decoded = try block.checkedContent(
            payload, isRewritten: header.isRewritten, marking: &closed.erasures)
        } catch {
          return Outcome(
            finding: error.finding(
              in: name, at: block.ownOffset, first: block.firstSequence,
              last: closed.last(from: block.firstSequence)))
        }
        if let finding = closed.pass(block, payload) { return Outcome(finding: finding) }
        try visit(block, decoded)
      }
    }
    return Outcome(finding: closed.finding(at: walk.link), end: walk.link)
  }
}

extension BlockHeader {
  /// The decoded payload of a block, checked against everything that its header and its kind say; nil for a kind that
  /// is skipped. Adds the events that are erased in it to a mark.
  func checkedContent(
    _ stored: UnsafeRawBufferPointer, isRewritten: Bool, marking erasures: inout ErasureMark
  ) throws(ContentProblem) -> DecodedBlock? {
    if let what = unsupported { throw .unsupported(what) }
    guard kind < BlockKind.firstSkippable else { return nil }
    let decoded = try DecodedBlock(header: self, stored: stored)
    defer { withExtendedLifetime(decoded) {} }
    switch kind {
    case BlockKind.recovery:
      guard codec == BlockCodec.none, let note = RecoveryNote(decoding: decoded.raw),
        isRewritten || note.cutOffset == ownOffset,
        UnsafeRawBufferPointer(rebasing: decoded.raw[RecoveryNote.fixedLength...]).isText
      else { throw .damaged("the RECOVERY block does not say what was cut off") }
    case BlockKind.footer:
      guard isRewritten else { throw .damaged("a FOOTER is in a segment that was never rewritten") }
      guard FooterIndex.decoding(decoded.raw) != nil else {
        throw .damaged("the FOOTER block is not an index")
      }
    default:
      try decoded.verifyContent(marking: &erasures)
    }
    return decoded
  }
}
