// Checks one segment against the format and against what follows it, for a copy of it.

/// The check of a whole segment. The first finding is thrown as an error with its offset.
struct SegmentCheck {
  let header: SegmentHeader
  let file: any File
  /// The segment's name, for findings.
  let name: String
  /// The length in bytes that the file must have.
  let size: UInt64

  /// - Parameters:
  ///   - next: the header of the next segment, which says where this one ends.
  ///   - mark: the end, if there is no next segment.
  /// - Returns: the end of the last block.
  @discardableResult
  func run(next: SegmentHeader?, mark: LogMark?) throws(StoreError) -> BlockLink {
    let walk = ClosedWalk(
      file: file, header: header, name: name, size: size,
      last: next?.previousLast ?? mark?.sequence, next: next)
    let outcome = try walk.run { _, _ in }
    if let finding = outcome.finding {
      throw .found(finding)
    }
    if let mark, let end = outcome.end, end.mark != mark {
      throw .damaged(
        StoreFinding(
          .stale, file: StoreLayout.headName, offset: 0, first: end.nextSequence,
          last: max(mark.sequence, end.lastSequence),
          what: "HEAD's durable mark is not the end of a block"))
    }
    return outcome.end ?? BlockLink(header)
  }
}
