// Rewrites a closed segment: larger blocks, compressed harder, with an index, and without the content to be erased.

internal import StrataBase

/// Rewrites one closed segment under a temporary name, checks the whole result against the chain, and renames it over
/// the old file in one step. A crash at any point leaves the old file or the new one, and both hold the same sequences
/// and the same chain.
///
/// Only for a segment before the one that a HEAD on disk names: nothing is appended to it, and no mark is an offset in
/// it.
struct SegmentRewriter {
  /// The result of a rewrite.
  enum Outcome: Equatable {
    /// The new file has the name, on disk. `left` says what could not be erased.
    case rewritten(erased: UInt64, left: StoreFinding?)
    /// Nothing in it had to be erased, or could be, and no other reason for a rewrite was given.
    case unchanged(left: StoreFinding?)
    /// It holds something that a newer version wrote and that this version would lose in a rewrite.
    case kept(String)
    /// A stop was requested.
    case stopped
  }

  let fileSystem: any FileSystem
  let layout: StoreLayout
  let lock: StoreLock
  /// Bytes of a block before compression.
  let blockSizeTarget: Int
  /// Which events lose their content; nil if the segment is only sealed.
  var erases: ((borrowing EventView, _ sequence: UInt64) -> Bool)?
  /// Rewrites even if nothing is to be erased, because it is not known whether the file that has the name has it on
  /// disk.
  var isDoubtful = false
  /// Called now and then.
  var isStopped: () -> Bool = { false }

  /// Rewrites a segment, given the header of the next one. O(bytes), with about one block in memory.
  ///
  /// - Throws: `damaged` if the segment's bytes are not those that were written, and then nothing is changed; `full` or
  ///   a refusal if the new file could not be written: it is removed, and the old one stays.
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
      // The current file may come from a process that ended before the name was on disk.
      if case .unchanged = outcome {
        try fileSystem.syncDirectory(layout.log)
      }
      return outcome
    }
    // Another writer may have rewritten the segment since, and this file lacks its changes.
    try lock.check()
    try fileSystem.rename(temporary, to: path)
    isNamed = true
    try fileSystem.syncDirectory(layout.log)
    return outcome
  }

  /// Writes the rewritten segment to a path, and syncs and checks it.
  ///
  /// - Parameter inPlace: the new file will replace the old one.
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
    assert(outcome.end?.lastSequence == header.rewrittenLast, "a rewrite keeps the number of events")
    assert(outcome.end?.chain == header.rewrittenChain, "a rewrite keeps the chain")
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

  /// Reads the written file back from the disk and verifies it, every chain included, before anything depends on it.
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
  /// What in this header a rewrite would lose because this version does not know it.
  var unknownToRewrites: String? {
    if minor > FormatLimits.minor { return "format \(FormatLimits.major).\(minor)" }
    if readOnlyFeatures != 0 { return "feature bit \(readOnlyFeatures.trailingZeroBitCount)" }
    if compatibleFeatures != 0 { return "feature bit \(compatibleFeatures.trailingZeroBitCount)" }
    return nil
  }
}

extension BlockHeader {
  /// What in this block a rewrite would lose because this version does not know it.
  var unknownToRewrites: String? {
    if kind >= BlockKind.firstSkippable { return "a block of kind \(kind)" }
    if headerLength != UInt16(Self.length) { return "a longer block header" }
    if flags != 0 { return "block flags \(flags)" }
    return nil
  }
}
