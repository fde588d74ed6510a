// Segments: put on a file system, checked, opened, read, sought in and written to.

internal import StrataLog

enum SegmentTarget {
  /// Bits of the first byte.
  private enum Mode {
    /// The checksums of blocks are made to hold.
    static let repairs: UInt8 = 1
    /// The front of a slot of HEAD follows.
    static let hasHead: UInt8 = 2
    /// A segment that continues this one stands behind it.
    static let isClosed: UInt8 = 4
    /// Blocks are made to stand where they stand and to continue each other.
    static let relinks: UInt8 = 8
  }

  static func run(_ bytes: [UInt8]) throws(BrokenLaw) {
    var input = FuzzInput(bytes)
    let mode = input.byte()
    let head = mode & Mode.hasHead != 0 ? PackedStore.slot(input.bytes(PackedStore.slotFront)) : []
    let front = PackedStore.segmentHeader(input.bytes(PackedStore.headerFront))
    var segment = front + input.rest
    let header = try? front.withUnsafeBytes { bytes throws(SegmentHeader.Problem) in
      try SegmentHeader(decoding: bytes)
    }
    if let header, mode & (Mode.repairs | Mode.relinks) != 0 {
      repair(&segment, header, relinks: mode & Mode.relinks != 0)
    }
    let layout = StoreLayout(root: StoreLaws.root)
    do {
      let fileSystem = MemoryFileSystem()
      let path = layout.segment(SegmentName(max(1, header?.firstSequence ?? 1)))
      try fileSystem.add(path, segment)
      if !head.isEmpty { try fileSystem.add(layout.head, head) }
      if let header, mode & Mode.isClosed != 0 {
        let next = try following(header, try fileSystem.open(path, .read), UInt64(segment.count))
        if let next { try fileSystem.add(layout.segment(next.segment), next.encoded()) }
      }
      try StoreLaws(fileSystem).hold()
    } catch let error as BrokenLaw {
      throw error
    } catch {
      throw BrokenLaw("a file in memory: \(error)")
    }
  }

  /// Makes what stands behind a header blocks, as far as their lengths lead from one to the next.
  private static func repair(_ segment: inout [UInt8], _ header: SegmentHeader, relinks: Bool) {
    var link = BlockLink(header)
    while Int(link.offset) < segment.count {
      if relinks { PackedStore.relink(link, header, in: &segment) }
      guard let block = PackedStore.repairChecksums(at: Int(link.offset), in: &segment),
        block.span >= UInt64(BlockHeader.length), block.span <= UInt64(segment.count) - link.offset,
        block.span % 8 == 0, !block.appendsBefore.addingReportingOverflow(UInt64(block.appendCount)).overflow
      else { return }
      let offset = link.offset
      link.pass(block)
      link.offset = offset + block.span
    }
  }

  /// The header of a segment that continues another; nil where that one is full.
  private static func following(
    _ header: SegmentHeader, _ file: any File, _ size: UInt64
  ) throws -> SegmentHeader? {
    var walk = BlockWalk(file: file, segment: header, limit: size)
    while !walk.isAtLimit, case .valid = try walk.next() {}
    let link = walk.link
    guard link.nextSequence > header.firstSequence else { return nil }
    var next = SegmentHeader(
      storeID: header.storeID, firstSequence: link.nextSequence, epoch: link.epoch, created: 0)
    next.previousFirst = header.firstSequence
    next.previousLast = link.lastSequence
    next.previousChain = link.chain
    next.previousTime = link.lastTime
    next.appendsBefore = link.appends
    return next
  }
}
