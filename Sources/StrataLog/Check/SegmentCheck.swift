// One segment held against the format and against what stands behind it, for a copy of it.

/// The check of a whole segment. The first thing that is wrong is an error with its place.
struct SegmentCheck {
  let header: SegmentHeader
  let file: any File
  /// The segment's name, for findings.
  let name: String
  /// Bytes that the file must have.
  let size: UInt64

  /// - Parameters:
  ///   - next: the header of the segment behind, which says where this one ends.
  ///   - mark: the end, where no segment is behind.
  func run(next: SegmentHeader?, mark: LogMark?) throws(StoreError) {
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
  }
}
