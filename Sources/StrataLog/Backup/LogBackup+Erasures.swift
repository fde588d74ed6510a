// Decides whether a backup's copy of a segment is right: it contains nothing that the source has erased, and brings
// back nothing that the backup itself has erased.

internal import StrataBase

/// What has to be done about one segment of a backup.
enum BackupNeed {
  /// The copy is right.
  case nothing
  case copy
  /// A copy without the content of these events, which the backup has erased and the source has not.
  case copyErasing(ErasedSequences)
  /// The copy of the last segment ends earlier, here, and lacks only the blocks after that.
  case extend(BlockLink)

  var isNothing: Bool { if case .nothing = self { true } else { false } }
}

extension LogBackup {
  /// Compares a segment of the source with that of the target. Revisions cannot be compared, because each store counts
  /// its own; marks say what is erased. If they differ and one of the two erased nothing, that decides; otherwise the
  /// files themselves are read, as they are if a mark is not known.
  func need(
    _ part: BackupPart, of folder: BackupTarget, isLast: Bool, _ end: BackupEnd
  ) throws(StoreError) -> BackupNeed {
    guard let theirs = folder.header(part.segment) else { return .copy }
    let ours = part.header
    let hasEnd = folder.ends[part.segment] == part.end
    // HEAD has an offset in the last segment, so its file must be the same one.
    let isFitting =
      !isLast
      || (folder.lastSize == end.mark.offset
        && (theirs == ours || !(theirs.isRewritten || ours.isRewritten)))
    guard theirs.isRewritten else { return hasEnd && isFitting && !ours.isRewritten ? .nothing : .copy }
    let none = ErasureMark.none.value
    if theirs.erasureMark == none {
      return hasEnd && isFitting && ours.erasureMark == none ? .nothing : .copy
    }
    if hasEnd, isFitting {
      if ours.erasureMark == none { return .nothing }
      if let mark = ours.erasureMark, mark == theirs.erasureMark { return .nothing }
    }
    return try need(part, comparing: theirs, of: folder, mayStay: hasEnd && isFitting, isLast: isLast)
  }

  /// Compares the events that are erased in the two files.
  private func need(
    _ part: BackupPart, comparing theirs: SegmentHeader, of folder: BackupTarget, mayStay: Bool, isLast: Bool
  ) throws(StoreError) -> BackupNeed {
    let (kept, damage) = try folder.erased(theirs)
    let mayStay = mayStay && damage == nil
    if mayStay, kept.mark.value == part.header.erasureMark { return .nothing }
    if kept.isEmpty, part.header.erasureMark != nil { return .copy }
    let wanted = try wanted(part)
    if mayStay, kept.isSuperset(of: wanted) { return .nothing }
    if wanted.isSuperset(of: kept) { return .copy }
    // A rewritten file has other offsets than the one that HEAD will name.
    guard !isLast else { throw .diverged(sequence: part.end.sequence) }
    return .copyErasing(kept)
  }

  /// Whether there is a complete copy that only lacks its final name. If no mark says what is erased in it, both files
  /// are read.
  func hasCopied(_ part: BackupPart, in folder: BackupTarget) throws(StoreError) -> Bool {
    guard folder.hasCopied(part) else { return false }
    if part.header.erasureMark != nil { return true }
    let (copied, damage) = try folder.erasedInCopy(part)
    guard damage == nil else { return false }
    return copied.isSuperset(of: try wanted(part))
  }

  /// The erased events of the source's segment.
  private func wanted(_ part: BackupPart) throws(StoreError) -> ErasedSequences {
    guard part.header.isRewritten else { return ErasedSequences() }
    // The segment may have been rewritten since its header was read.
    let handle = try SegmentHandle.open(
      fileSystem, source.layout, first: part.segment, storeID: source.storeID)
    let (erased, finding) = try ErasedSequences.read(handle.file, handle.header, name: handle.name)
    if let finding { throw .found(finding) }
    return erased
  }

  /// Writes a closed segment to the target without the content of some events.
  /// - Returns: the header of the copy; nil if by now these events have no content in the source either.
  func rewrite(
    _ handle: SegmentHandle, next: SegmentHeader, without erased: ErasedSequences, to path: String,
    into folder: BackupTarget
  ) throws(StoreError) -> SegmentHeader? {
    let rewriter = SegmentRewriter(
      fileSystem: folder.fileSystem, layout: folder.layout, lock: folder.lock,
      blockSizeTarget: source.options.blockSizeTarget, erases: { _, sequence in erased.contains(sequence) })
    switch try rewriter.write(handle, next, to: path) {
    case .rewritten(_, let left):
      if let left { throw .unsupported(left) }
    case .unchanged(let left):
      if let left { throw .unsupported(left) }
      return nil
    case .stopped: return nil
    case .kept(let why):
      let last = next.firstSequence - 1
      throw .unsupported(
        StoreFinding(
          .unsupported, file: handle.name, offset: 0, first: handle.header.firstSequence, last: last,
          what: "the segment holds \(why), which this version would lose if it rewrote it"))
    }
    let file = try folder.fileSystem.open(path, .read)
    defer { file.close() }
    return try SegmentHandle.readHeader(of: file, first: handle.header.segment, storeID: nil)
  }
}
