// Updates a backup by the blocks that are new at the end of its last segment, without copying the rest of it again.

internal import StrataBase

extension LogBackup {
  /// What the next block continues in the target's last segment, if that file is the beginning of the source's: the same
  /// header, never rewritten, and at its end the same block. Nil if it has to be copied.
  ///
  /// The last blocks are compared whole. Their headers name sequence, chain, offset and epoch, so what precedes them has
  /// the same events at the same offsets.
  func extensionLink(_ part: BackupPart, _ end: BackupEnd, of folder: BackupTarget) throws(StoreError)
    -> BlockLink?
  {
    guard let slot = folder.extensibleEnd, slot.segment == part.segment, end.tail.isEmpty,
      folder.header(part.segment) == end.header, !end.header.isRewritten,
      slot.durable.offset < end.mark.offset, slot.durable.sequence < end.mark.sequence
    else { return nil }
    var link = BlockLink(end.header)
    if link.mark == slot.durable { return link }
    try end.handle.extend(to: end.mark.offset)
    guard let place = end.handle.places.last(where: { $0.offset < slot.durable.offset }) else { return nil }
    let theirs = try target.open(folder.layout.segment(part.segment), .read)
    defer { theirs.close() }
    var ours = BlockSource(file: end.handle.file, segment: end.header, step: 1 << 16)
    var copied = BlockSource(file: theirs, segment: end.header, step: 1 << 16)
    guard case .valid(let own, _) = try ours.block(at: place.offset, limit: end.mark.offset),
      case .valid(let other, _) = try copied.block(at: place.offset, limit: slot.durable.offset), own == other
    else { return nil }
    link.pass(own)
    return link.mark == slot.durable ? link : nil
  }

  /// Adds the blocks after a position to the target's last segment, and syncs them. The caller then writes HEAD.
  ///
  /// An error leaves the backup as it was: its HEAD is written again, or still says that what follows does not count.
  mutating func extend(
    from link: BlockLink, to end: BackupEnd, in folder: BackupTarget
  ) throws(StoreError) {
    guard let before = folder.extensibleEnd else { return assertionFailure("an extension follows an end") }
    try folder.beginExtending()
    let file = try target.open(folder.layout.segment(end.header.segment), .readWrite)
    defer { file.close() }
    do throws(StoreError) {
      try transfer(end.handle.file, to: file, from: link.offset, to: end.mark.offset)
      try checkAdded(file, from: link, to: end)
      try file.sync()
    } catch {
      folder.endExtending(file, restoring: before)
      throw error
    }
  }

  /// Checks every block that was added, with its chain, and that they end at the mark.
  private func checkAdded(_ file: any File, from link: BlockLink, to end: BackupEnd) throws(StoreError) {
    var walk = BlockWalk(file: file, segment: end.header, from: link, limit: end.mark.offset)
    var erasures = ErasureMark()
    while !walk.isAtLimit {
      let place = walk.link
      let verdict = try walk.next()
      switch verdict {
      case .invalid(let problem):
        throw .damaged(
          problem.finding(
            in: end.handle.name, at: place.offset, first: place.nextSequence, last: end.mark.sequence))
      case .valid(let block, let payload):
        do throws(ContentProblem) {
          _ = try block.checkedContent(payload, isRewritten: false, marking: &erasures)
        } catch {
          throw .found(
            error.finding(
              in: end.handle.name, at: block.ownOffset, first: block.firstSequence, last: end.mark.sequence))
        }
      }
    }
    guard walk.link.mark == end.mark else {
      throw .damaged(
        StoreFinding(
          .stale, file: StoreLayout.headName, offset: 0, first: walk.link.nextSequence,
          last: max(end.mark.sequence, walk.link.lastSequence),
          what: "HEAD's durable mark is not the end of a block"))
    }
  }
}
