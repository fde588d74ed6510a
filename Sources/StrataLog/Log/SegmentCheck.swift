// One segment held against the format and against what stands behind it: every block, decoded, with its chain.

/// The check of a whole segment, for a copy of it. The first thing that is wrong is an error with its place.
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
  func run(next: SegmentHeader?, mark: LogMark?) throws(LogError) {
    var walk = BlockWalk(file: file, segment: header, limit: size)
    var closed = ClosedEnd(
      header: header, name: name, size: size, nextFirst: next?.firstSequence, next: next)
    let last = mark?.sequence ?? closed.last(from: header.firstSequence)
    while !walk.isAtLimit {
      let place = walk.link
      let verdict = try LogError.wrapping { () throws(FileSystemError) in try walk.next() }
      switch verdict {
      case .valid(let block, let payload):
        try check(block, payload, last: last)
        if let finding = closed.pass(block, payload) { throw .corrupt(finding) }
      case .invalid(let problem):
        throw .corrupt(
          problem.finding(
            in: name, at: place.offset, first: place.nextSequence, last: max(last, place.lastSequence)))
      }
    }
    if let mark, walk.link.mark != mark {
      throw .corrupt(
        Finding(
          .stale, file: StoreLayout.headName, offset: 0, first: walk.link.nextSequence,
          last: max(mark.sequence, walk.link.lastSequence),
          what: "HEAD's durable mark is not the end of a block"))
    }
    if next != nil || header.isRewritten, let finding = closed.finding(at: walk.link) {
      throw .corrupt(finding)
    }
  }

  private func check(
    _ block: BlockHeader, _ payload: UnsafeRawBufferPointer, last: UInt64
  ) throws(LogError) {
    let end = max(last, block.nextSequence &- 1)
    if let what = block.unsupported {
      throw .unsupported(
        Finding(
          .unsupported, file: name, offset: block.ownOffset, first: block.firstSequence, last: end, what: what
        ))
    }
    do throws(ContentProblem) { _ = try block.checkedContent(payload, isRewritten: header.isRewritten) } catch
    {
      throw error.logError(in: name, at: block.ownOffset, first: block.firstSequence, last: end)
    }
  }
}
