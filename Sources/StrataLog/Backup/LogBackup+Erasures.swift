// Whether a backup has a segment as it must be: nothing in it that the source has erased, and nothing that it has
// erased itself brought back.

internal import StrataBase

/// What is to be done about one segment of a backup.
enum BackupNeed {
  /// It is there as it must be.
  case nothing
  case copy
  /// A copy, and without the content of these events, which the backup has erased and the source has not.
  case copyErasing(ErasedSequences)

  var isNothing: Bool { if case .nothing = self { true } else { false } }
}

extension LogBackup {
  /// Compares a segment of the source with that of the target. Revisions say nothing, because each store counts its
  /// own; marks say what is erased. Where they differ, and one of the two erased nothing, that decides; else the files
  /// themselves are read, as they are where a mark is not known.
  func need(_ part: BackupPart, of folder: BackupTarget, isLast: Bool) throws(StoreError) -> BackupNeed {
    guard let theirs = folder.header(part.segment) else { return .copy }
    let ours = part.header
    let hasEnd = folder.ends[part.segment] == part.end
    // The last segment is what HEAD has an offset in: the file must be the very one.
    let isFitting = !isLast || theirs == ours || !(theirs.isRewritten || ours.isRewritten)
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

  /// The same by what the two files hold.
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

  /// Whether there is a whole copy that only lacks its name. Where no mark says what is erased in it, both files are read.
  func hasCopied(_ part: BackupPart, in folder: BackupTarget) throws(StoreError) -> Bool {
    guard folder.hasCopied(part) else { return false }
    if part.header.erasureMark != nil { return true }
    let (copied, damage) = try folder.erasedInCopy(part)
    guard damage == nil else { return false }
    return copied.isSuperset(of: try wanted(part))
  }

  /// What is erased in the source.
  private func wanted(_ part: BackupPart) throws(StoreError) -> ErasedSequences {
    guard part.header.isRewritten else { return ErasedSequences() }
    // It may have been rewritten since its header was read.
    let handle = try SegmentHandle.open(
      fileSystem, source.layout, first: part.segment, storeID: source.storeID)
    let (erased, finding) = try ErasedSequences.read(handle.file, handle.header, name: handle.name)
    if let finding { throw .found(finding) }
    return erased
  }

  /// Writes a closed segment into the target without the content of some events.
  /// - Returns: the header of the copy; nil where these events have no content in the source either by now.
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
