// Copies a live store: the log as it is at one mark, checked while it is copied.

internal import StrataBase

/// The result of a backup.
package struct BackupReport: Sendable, Equatable {
  /// The end of the backup: the durable end of the source when it began.
  package var end: LogMark
  /// The first sequence in the backup.
  package var firstSequence: UInt64
  /// The segments in total, and those of them that were copied now.
  package var segments = 0
  package var segmentsCopied = 0
  package var bytesCopied: UInt64 = 0
}

/// A copy of a store into a folder, which becomes a store itself.
///
/// It does not lock the source and writes nothing there, so it may run beside a writer, in the same process or in
/// another. It can be interrupted at any moment and run again: what was copied is not copied again, and a finished
/// backup is updated with new events. The target holds one whole backup or every open refuses it, after a power cut
/// too. `derived/` and `quarantine/` are not copied: the first can be rebuilt, the second is evidence of what was never
/// acknowledged.
package struct LogBackup {
  let source: Log
  let target: any FileSystem
  private let path: String
  /// The last sequence of the backup; nil for the durable end of the source.
  private let last: UInt64?
  /// Called now and then with the bytes copied so far and the bytes to copy in total.
  private let progress: (UInt64, UInt64) -> Void
  private var bytesAll: UInt64 = 0
  private var report = BackupReport(end: LogMark(offset: 0, sequence: 0, chain: 0), firstSequence: 1)

  /// - Parameter last: the sequence after which the backup ends, the last of an append; nil for the durable end of the
  ///   source.
  package init(
    of source: Log, to target: any FileSystem, path: String, through last: UInt64? = nil,
    progress: @escaping (UInt64, UInt64) -> Void = { _, _ in }
  ) {
    self.source = source
    self.target = target
    self.path = target.absolutePath(path)
    self.last = last
    self.progress = progress
  }

  var fileSystem: any FileSystem { source.source.catalog.fileSystem }

  /// Runs the backup. Blocks.
  ///
  /// - Throws: a finding for damage in the source, with its position; `diverged` if the target holds events that the
  ///   source does not; `notAStore` if it holds something else; `locked` if a writer has the target; `full`. Then the
  ///   target is unchanged, or is refused until a backup into it succeeds.
  package mutating func run() throws(StoreError) -> BackupReport {
    try refuseSourceAsTarget()
    try source.refresh()
    if let damage = source.damage { throw .damaged(damage) }
    let end = try pinnedEnd()
    let folder = try BackupTarget(
      target, path: path, storeID: source.storeID, timeout: source.options.lockTimeout)
    var parts = try parts(end)
    try checkHistory(of: folder, parts, end)
    try folder.settleExtension()
    var needs: [BackupNeed] = []
    for (number, part) in parts.enumerated() {
      needs.append(try need(part, of: folder, isLast: number == parts.count - 1, end))
    }
    // Only if nothing else is needed: what the source has erased in other segments goes from them before HEAD names events
    // that say so.
    if case .copy? = needs.last, needs.dropLast().allSatisfy(\.isNothing),
      let link = try extensionLink(parts[parts.count - 1], end, of: folder)
    {
      needs[needs.count - 1] = .extend(link)
    }
    try folder.removeStale(
      keeping: parts.indices.compactMap { if case .copy = needs[$0] { parts[$0] } else { nil } })
    let begin = min(parts[0].segment, folder.names.first ?? parts[0].segment)
    let slot = try headSlot(end, begin: begin.firstSequence, epoch: folder.epoch)
    report.segments = parts.count
    if case .extend(let link)? = needs.last {
      bytesAll = end.mark.offset - link.offset
      try extend(from: link, to: end, in: folder)
      report.segmentsCopied = 1
      try folder.promise(slot)
    } else {
      try copyAll(&parts, needs, slot, end, into: folder)
    }
    report.end = slot.durable
    report.firstSequence = slot.logBegin
    return report
  }

  /// Copies all segments that are needed, and makes them the backup.
  private mutating func copyAll(
    _ parts: inout [BackupPart], _ needs: [BackupNeed], _ slot: HeadSlot, _ end: BackupEnd,
    into folder: BackupTarget
  ) throws(StoreError) {
    if !folder.isWhole { try folder.promise(slot) }
    var missing: [Int] = []
    for number in parts.indices where !needs[number].isNothing {
      if try !hasCopied(parts[number], in: folder) { missing.append(number) }
    }
    bytesAll = try size(of: missing.map { parts[$0] }, end)
    for number in missing {
      let next = number + 1 < parts.count ? parts[number + 1].header : nil
      parts[number] = try copy(parts[number], needs[number], end, next: next, into: folder)
    }
    if folder.isWhole, !folder.promises(slot) { try folder.promise(slot) }
    // A target that was opened as a store may have states with content that the copies no longer have.
    if needs.contains(where: { !$0.isNothing }) { try folder.layout.removeStates(target) }
    try folder.name(parts)
  }

  /// Refuses a target at or inside the source: a store is not its own backup, and a copy in its folder is lost together
  /// with it.
  private func refuseSourceAsTarget() throws(StoreError) {
    guard let own = try fileSystem.identity(of: source.layout.root), try target.isInside(own, path) else {
      return
    }
    throw .invalid(what: "the backup of a store cannot go into the store itself")
  }

  // MARK: What to copy

  /// The end of the backup: that of what is durable, or the point that was asked for.
  private func pinnedEnd() throws(StoreError) -> BackupEnd {
    let active = try pinnedActive()
    guard let last, last != active.mark.sequence else { return active }
    guard last < active.mark.sequence else {
      throw .position(.beyondEnd(sequence: last, last: active.mark.sequence))
    }
    guard last >= active.logBegin else {
      throw .invalid(
        what:
          "a backup that ends at sequence \(last) would hold nothing: the log begins at \(active.logBegin)",
        next: "end it at a later point")
    }
    // The copy would keep the content, and not the order to remove it.
    guard !active.isErasing else {
      throw .invalid(
        what:
          "an erasure of the store may be unfinished, and a backup that ends before it would keep what it removes",
        next: "open the store for writing, which finishes the erasure, or make a backup of the whole store")
    }
    let names = try SegmentCatalog.names(fileSystem, source.layout)
    guard let name = names.last(where: { $0.firstSequence <= last }) else {
      throw .damaged(SegmentChain.missing(active.segment, before: last + 1))
    }
    let isActive = name == active.segment
    let handle =
      isActive
      ? active.handle
      : try SegmentHandle.open(fileSystem, source.layout, first: name, storeID: source.storeID)
    let limit = isActive ? active.mark.offset : UInt64(try handle.file.size())
    return try BackupEnd(after: last, handle, limit: limit, logBegin: active.logBegin)
  }

  /// The active segment and the mark. The segment may be closed and rewritten while it is being opened; the mark is
  /// then in a later one.
  private func pinnedActive() throws(StoreError) -> BackupEnd {
    for _ in 0..<8 {
      let mark = source.mark
      // Read after the mark and before any segment is opened: if no order is unfinished then, the segments hold nothing
      // that an order up to the mark erases.
      let isErasing = try isErasing()
      let handle = try SegmentHandle.open(
        fileSystem, source.layout, first: mark.segment, storeID: source.storeID)
      let isOpenEnd = !handle.header.isRewritten || handle.header.rewrittenEnd == mark.durable.offset
      if isOpenEnd { return BackupEnd(handle, mark, isErasing: isErasing) }
      try source.refresh()
    }
    try source.checkOpen()
    throw .damaged(HeadSlot.rewritten(source.mark.segment, through: source.mark.sequence))
  }

  /// All segments up to the mark, with the ends that the following segments name.
  private func parts(_ end: BackupEnd) throws(StoreError) -> [BackupPart] {
    let names = try SegmentCatalog.names(fileSystem, source.layout).filter { $0 <= end.segment }
    var headers: [SegmentHeader] = []
    for first in names {
      let header =
        first == end.segment
        ? end.header
        : try SegmentHandle.open(fileSystem, source.layout, first: first, storeID: source.storeID).header
      if let gap = SegmentChain.gap(before: header, after: headers.last, logBegin: end.logBegin) {
        throw .damaged(gap)
      }
      headers.append(header)
    }
    guard headers.last?.segment == end.segment else {
      throw .damaged(SegmentChain.missing(end.segment, before: end.mark.sequence &+ 1))
    }
    let parts = headers.indices.map { number in
      let partEnd =
        number + 1 < headers.count
        ? SegmentEnd(sequence: headers[number + 1].previousLast, chain: headers[number + 1].previousChain)
        : SegmentEnd(sequence: end.mark.sequence, chain: end.mark.chain)
      return BackupPart(header: headers[number], end: partEnd)
    }
    assert(
      zip(parts, parts.dropFirst()).allSatisfy { $0.end.sequence == $1.segment.lastBefore },
      "there is no gap between the parts of a backup")
    return parts
  }

  /// Refuses a target whose events are not the source's, or end before the source begins.
  private func checkHistory(
    of folder: BackupTarget, _ parts: [BackupPart], _ end: BackupEnd
  ) throws(StoreError) {
    for reached in folder.reached {
      guard reached.sequence >= end.logBegin - 1 else { throw .trimmed(firstAvailable: end.logBegin) }
      let durable = source.mark.durable.sequence
      let own = reached.sequence > durable ? nil : try source.chain(after: reached.sequence)
      guard own == reached.chain else { throw .diverged(sequence: reached.sequence) }
      guard last == nil || reached.sequence <= end.mark.sequence else {
        throw .invalid(
          what: "the folder holds the store's events up to \(reached.sequence) already, which is after "
            + "\(end.mark.sequence)",
          next: "choose another folder, or a later point")
      }
    }
    let known = Set(parts.map(\.segment))
    if let other = folder.names.first(where: { $0 >= parts[0].segment && !known.contains($0) }) {
      throw .diverged(sequence: other.lastBefore)
    }
  }

  /// The HEAD of the finished backup: a store that was closed cleanly at the mark.
  private func headSlot(_ end: BackupEnd, begin: UInt64, epoch: UInt64) throws(StoreError) -> HeadSlot {
    let last = if let last = end.last { last } else { try lastBlock(before: end) }
    return HeadSlot(
      storeID: source.storeID, generation: 0, segment: end.segment, epoch: max(epoch, last.epoch),
      isClean: true,
      durability: Durability.synced.rawValue, visible: end.mark, durable: end.mark, lastTime: last.time,
      logBegin: begin, isErasing: end.isErasing)
  }

  /// The time and the epoch of the last block before the end.
  private func lastBlock(before end: BackupEnd) throws(StoreError) -> (time: Int64, epoch: UInt64) {
    let header = end.header
    try end.handle.extend(to: end.mark.offset)
    guard let place = end.handle.places.last(where: { $0.offset < end.mark.offset }) else {
      return (header.previousTime, header.epoch)
    }
    var blocks = BlockSource(file: end.handle.file, segment: header, step: 4096)
    let found = try blocks.header(at: place.offset, limit: end.mark.offset)
    switch found {
    case .success(let block): return (block.lastTime, max(header.epoch, block.epoch))
    case .failure(let problem):
      throw .damaged(
        problem.finding(
          in: end.handle.name, at: place.offset, first: place.firstSequence, last: end.mark.sequence))
    }
  }

  /// Whether the source may have an order to erase that is not carried out. True if there is no valid HEAD: the
  /// backup's next writer then searches the log.
  private func isErasing() throws(StoreError) -> Bool {
    try HeadFile.read(fileSystem, path: source.layout.head)?.isErasing ?? true
  }

  private func size(of parts: [BackupPart], _ end: BackupEnd) throws(StoreError) -> UInt64 {
    var size: UInt64 = 0
    for part in parts {
      if part.segment == end.segment {
        size = size.addingSaturated(end.mark.offset)
      } else {
        let file = try fileSystem.open(source.layout.segment(part.segment), .read)
        defer { file.close() }
        size = size.addingSaturated(UInt64(try file.size()))
      }
    }
    return size
  }

  // MARK: Copying

  private mutating func copy(
    _ part: BackupPart, _ need: BackupNeed, _ end: BackupEnd, next: SegmentHeader?, into folder: BackupTarget
  ) throws(StoreError) -> BackupPart {
    let isLast = part.segment == end.segment
    assert(isLast == (next == nil), "the segment of the end is the last part")
    assert(
      next.map { SegmentName($0.previousFirst) == part.segment } ?? true,
      "a part is copied with the one that follows it")
    // Opened once: if the file is rewritten now, this one stays as it is until it is closed. It may have a later
    // revision than its header had before, and holds the same log.
    let handle =
      isLast
      ? end.handle
      : try SegmentHandle.open(fileSystem, source.layout, first: part.segment, storeID: source.storeID)
    var part = part
    part.header = isLast ? end.header : handle.header
    do throws(StoreError) {
      if case .copyErasing(let erased) = need, let next,
        let header = try rewrite(
          handle, next: next, without: erased, to: folder.unfinishedPath(part), into: folder)
      {
        part.header = header
        try folder.keep(part)
        report.segmentsCopied += 1
        report.bytesCopied += header.rewrittenEnd
        return part
      }
      let file = try folder.begin(part)
      defer { file.close() }
      let size = isLast ? end.mark.offset : UInt64(try handle.file.size())
      try transfer(handle.file, to: file, from: 0, to: isLast ? end.copiedThrough : size)
      if isLast { try finish(file, end) }
      try SegmentCheck(header: part.header, file: file, name: handle.name, size: size)
        .run(next: next, mark: isLast ? end.mark : nil)
      try file.sync()
      try folder.keep(part)
      report.segmentsCopied += 1
      return part
    } catch {
      folder.abandon(part)
      throw error
    }
  }

  /// Writes what the copy of the last segment has beside the source's bytes.
  private mutating func finish(_ file: any File, _ end: BackupEnd) throws(StoreError) {
    try end.tail.lendBytes { bytes throws(StoreError) in
      if bytes.count > 0 { try file.write(bytes, at: Int64(end.copiedThrough)) }
    }
    report.bytesCopied += UInt64(end.tail.count)
    guard end.hasOwnHeader else { return }
    try end.header.encoded().lendBytes { bytes throws(StoreError) in try file.write(bytes, at: 0) }
  }

  /// Copies a range of bytes.
  mutating func transfer(
    _ from: any File, to file: any File, from start: UInt64, to end: UInt64
  ) throws(StoreError) {
    var window = SegmentWindow(file: from)
    var offset = start
    while offset < end {
      let bytes = try window.bytes(at: offset, length: 1 << 20, limit: end)
      // If a file ends before its mark, the check of the copy reports it with its offset.
      guard bytes.count > 0 else { break }
      try file.write(bytes, at: Int64(offset))
      offset += UInt64(bytes.count)
      report.bytesCopied += UInt64(bytes.count)
      progress(report.bytesCopied, max(bytesAll, report.bytesCopied))
    }
  }
}
