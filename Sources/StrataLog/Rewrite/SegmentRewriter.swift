// Writes a closed segment anew: larger blocks, compressed harder, with an index, and without what is to be erased.

internal import StrataBase

/// Rewrites one closed segment under a temporary name, checks the result whole against the chain, and gives it the
/// old one's name in one step. A crash at any point leaves the old file or the new one, and both hold the same
/// sequences and the same chain.
///
/// Only for a segment behind the one that a HEAD on disk names: nobody appends to it, and no mark is an offset in it.
struct SegmentRewriter {
  /// What became of a segment.
  enum Outcome: Equatable {
    /// The new file has the name, on disk. What is left could not be erased.
    case rewritten(erased: UInt64, left: StoreFinding?)
    /// Nothing in it was to be erased, or could be, and that was all that was asked.
    case unchanged(left: StoreFinding?)
    /// It holds something that a newer version wrote and that a rewrite by this one would lose.
    case kept(String)
    /// Somebody asked to stop.
    case stopped
  }

  let fileSystem: any FileSystem
  let layout: StoreLayout
  let lock: StoreLock
  /// Bytes of a block before compression.
  let blockSizeTarget: Int
  /// Which events lose their content; nil where a segment is only sealed.
  var erases: ((borrowing EventView, _ sequence: UInt64) -> Bool)?
  /// Rewrites also where nothing is to be erased: whether the file that has the name has it on disk is not known.
  var isDoubtful = false
  /// Asked now and then.
  var isStopped: () -> Bool = { false }

  /// Rewrites a segment, given the header of the one behind it. O(bytes), and holds about
  /// one block in memory.
  ///
  /// - Throws: `damaged` where the segment is not what was written, and then nothing is changed; `full` and a refusal
  ///   where the new file could not be written: it is removed, and the old one stays.
  func rewrite(_ segment: SegmentName, storeID: StoreID, next: SegmentHeader) throws(StoreError) -> Outcome {
    let old = try SegmentHandle.open(fileSystem, layout, first: segment, storeID: storeID)
    if let what = old.header.unknownToRewrites { return .kept(what) }
    guard old.header.revision < .max else { return .kept("it was rewritten 2³² − 1 times") }
    let path = layout.segment(segment)
    let temporary = lock.temporary(path)
    var isNamed = false
    defer { if !isNamed { try? fileSystem.remove(temporary) } }
    let outcome = try write(old, next, to: temporary, inPlace: true)
    guard case .rewritten = outcome else {
      // What is there may be the work of a process that ended before the name was on disk.
      if case .unchanged = outcome {
        try fileSystem.syncDirectory(layout.log)
      }
      return outcome
    }
    // Another writer may have rewritten the segment since, without what is in this file.
    try lock.check()
    try fileSystem.rename(temporary, to: path)
    isNamed = true
    try fileSystem.syncDirectory(layout.log)
    return outcome
  }

  /// Writes the segment anew to a path, and syncs and checks it.
  ///
  /// - Parameter inPlace: the file is to take the old one's place.
  func write(
    _ old: SegmentHandle, _ next: SegmentHeader, to path: String, inPlace: Bool = false
  ) throws(StoreError) -> Outcome {
    let file = try fileSystem.open(path, .create)
    defer { file.close() }
    try file.truncate(to: 0)
    if inPlace { file.takePermissions(of: old.file) }
    var header = old.header
    header.revision += 1
    var packer = BlockPacker(file: file, header: header, sizeTarget: blockSizeTarget)
    var appends = AppendCopier(erases: erases)
    var kept: String?
    var isHalted = false
    let size = try UInt64(old.file.size())
    let walk = ClosedWalk(
      file: old.file, header: old.header, name: old.name, size: size, last: next.previousLast,
      next: next)
    let outcome = try walk.run { block, decoded throws(StoreError) in
      if isHalted || kept != nil { return }
      if isStopped() {
        isHalted = true
        return
      }
      if let what = block.unknownToRewrites {
        kept = what
        return
      }
      guard let decoded else { return }
      switch block.kind {
      case BlockKind.events:
        try appends.copy(decoded, to: &packer)
      case BlockKind.recovery:
        try packer.add(control: block, payload: decoded.raw)
      default: break
      }
      withExtendedLifetime(decoded) {}
    }
    if let finding = outcome.finding {
      throw .found(finding)
    }
    if let kept { return .kept(kept) }
    if isHalted { return .stopped }
    let left = appends.left.map { tooLong($0, in: old.name) }
    if erases != nil, appends.erasedCount == 0, !isDoubtful { return .unchanged(left: left) }
    header = try packer.finish()
    assert(outcome.end?.lastSequence == header.rewrittenLast, "a rewrite has the events of what it rewrites")
    assert(outcome.end?.chain == header.rewrittenChain, "a rewrite has the chain of what it rewrites")
    header.erasures = appends.erasures.value
    try header.encoded().lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 0) }
    try file.sync()
    try prove(file, header, old.name, next)
    return .rewritten(erased: appends.erasedCount, left: left)
  }

  private func tooLong(_ events: ClosedRange<UInt64>, in name: String) -> StoreFinding {
    StoreFinding(
      .unsupported, file: name, offset: 0, first: events.lowerBound, last: events.upperBound,
      what:
        "the append of some of the events \(events.lowerBound) to \(events.upperBound) would be longer than a block "
        + "may be if more of them were erased")
  }

  /// Reads what was written from the disk again, every chain included, before anything depends on it.
  private func prove(
    _ file: any File, _ header: SegmentHeader, _ name: String, _ next: SegmentHeader
  ) throws(StoreError) {
    file.dropCache()
    let size = try UInt64(file.size())
    let walk = ClosedWalk(
      file: file, header: header, name: name, size: size, last: next.previousLast, next: next)
    let outcome = try walk.run { _, _ in }
    if var finding = outcome.finding {
      finding.file += StoreLayout.temporarySuffix
      throw .damaged(finding)
    }
  }
}

extension SegmentHeader {
  /// What in this header a rewrite would lose, because this version does not know it.
  fileprivate var unknownToRewrites: String? {
    if minor > FormatLimits.minor { return "format \(FormatLimits.major).\(minor)" }
    if readOnlyFeatures != 0 { return "feature bit \(readOnlyFeatures.trailingZeroBitCount)" }
    if compatibleFeatures != 0 { return "feature bit \(compatibleFeatures.trailingZeroBitCount)" }
    return nil
  }
}

extension BlockHeader {
  /// What in this block a rewrite would lose, because this version does not know it.
  fileprivate var unknownToRewrites: String? {
    if kind >= BlockKind.firstSkippable { return "a block of kind \(kind)" }
    if headerLength != UInt16(Self.length) { return "a longer block header" }
    if flags != 0 { return "block flags \(flags)" }
    return nil
  }
}
