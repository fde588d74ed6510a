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
  private let target: any FileSystem
  private let path: String
  /// Called now and then with the bytes copied so far and the bytes to copy in total.
  private let progress: (UInt64, UInt64) -> Void
  private var bytesAll: UInt64 = 0
  private var report = BackupReport(end: LogMark(offset: 0, sequence: 0, chain: 0), firstSequence: 1)

  package init(
    of source: Log, to target: any FileSystem, path: String,
    progress: @escaping (UInt64, UInt64) -> Void = { _, _ in }
  ) {
    self.source = source
    self.target = target
    self.path = target.absolutePath(path)
    self.progress = progress
  }

  var fileSystem: any FileSystem { source.source.catalog.fileSystem }

  /// The active segment, held open so that its offsets stay valid, and the mark in it.
  private struct Active {
    var handle: SegmentHandle
    var mark: VisibleMark
    /// Whether the source may have an order to erase, up to the mark, that was not carried out.
    var isErasing: Bool
  }

  /// Runs the backup. Blocks.
  ///
  /// - Throws: a finding for damage in the source, with its position; `diverged` if the target holds events that the
  ///   source does not; `notAStore` if it holds something else; `locked` if a writer has the target; `full`. Then the
  ///   target is unchanged, or is refused until a backup into it succeeds.
  package mutating func run() throws(StoreError) -> BackupReport {
    try refuseSourceAsTarget()
    try source.refresh()
    if let damage = source.damage { throw .damaged(damage) }
    let active = try pinnedActive()
    let folder = try BackupTarget(
      target, path: path, storeID: source.storeID, timeout: source.options.lockTimeout)
    var parts = try parts(active)
    try checkHistory(of: folder, parts, active)
    var needs: [BackupNeed] = []
    for (number, part) in parts.enumerated() {
      needs.append(try need(part, of: folder, isLast: number == parts.count - 1))
    }
    try folder.removeStale(
      keeping: parts.indices.compactMap { if case .copy = needs[$0] { parts[$0] } else { nil } })
    let begin = min(parts[0].segment, folder.names.first ?? parts[0].segment)
    var slot = try headSlot(active, begin: begin.firstSequence, epoch: folder.epoch)
    slot.isErasing = active.isErasing
    if !folder.isWhole { try folder.promise(slot) }
    var missing: [Int] = []
    for number in parts.indices where !needs[number].isNothing {
      if try !hasCopied(parts[number], in: folder) { missing.append(number) }
    }
    report.segments = parts.count
    bytesAll = try size(of: missing.map { parts[$0] }, active)
    for number in missing {
      let next = number + 1 < parts.count ? parts[number + 1].header : nil
      parts[number] = try copy(parts[number], needs[number], active, next: next, into: folder)
    }
    if folder.isWhole, !folder.promises(slot) { try folder.promise(slot) }
    // A target that was opened as a store may have states with content that the copies no longer have.
    if needs.contains(where: { !$0.isNothing }) { try folder.layout.removeStates(target) }
    try folder.name(parts)
    report.end = slot.durable
    report.firstSequence = slot.logBegin
    return report
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

  /// The active segment and the mark. The segment may be closed and rewritten while it is being opened; the mark is
  /// then in a later one.
  private func pinnedActive() throws(StoreError) -> Active {
    for _ in 0..<8 {
      let mark = source.mark
      // Read after the mark and before any segment is opened: if no order is unfinished then, the segments hold nothing
      // that an order up to the mark erases.
      let isErasing = try isErasing()
      let handle = try SegmentHandle.open(
        fileSystem, source.layout, first: mark.segment, storeID: source.storeID)
      let isOpenEnd = !handle.header.isRewritten || handle.header.rewrittenEnd == mark.durable.offset
      if isOpenEnd { return Active(handle: handle, mark: mark, isErasing: isErasing) }
      try source.refresh()
    }
    try source.checkOpen()
    throw .damaged(HeadSlot.rewritten(source.mark.segment, through: source.mark.sequence))
  }

  /// All segments up to the mark, with the ends that the following segments name.
  private func parts(_ active: Active) throws(StoreError) -> [BackupPart] {
    let names = try SegmentCatalog.names(fileSystem, source.layout).filter { $0 <= active.mark.segment }
    var headers: [SegmentHeader] = []
    for first in names {
      let header =
        first == active.mark.segment
        ? active.handle.header
        : try SegmentHandle.open(fileSystem, source.layout, first: first, storeID: source.storeID).header
      if let gap = SegmentChain.gap(before: header, after: headers.last, logBegin: active.mark.logBegin) {
        throw .damaged(gap)
      }
      headers.append(header)
    }
    guard headers.last?.segment == active.mark.segment else {
      throw .damaged(SegmentChain.missing(active.mark.segment, before: active.mark.durable.sequence &+ 1))
    }
    let durable = active.mark.durable
    let parts = headers.indices.map { number in
      let end =
        number + 1 < headers.count
        ? SegmentEnd(sequence: headers[number + 1].previousLast, chain: headers[number + 1].previousChain)
        : SegmentEnd(sequence: durable.sequence, chain: durable.chain)
      return BackupPart(header: headers[number], end: end)
    }
    assert(
      zip(parts, parts.dropFirst()).allSatisfy { $0.end.sequence == $1.segment.lastBefore },
      "there is no gap between the parts of a backup")
    return parts
  }

  /// Refuses a target whose events are not the source's, or end before the source begins.
  private func checkHistory(
    of folder: BackupTarget, _ parts: [BackupPart], _ active: Active
  ) throws(StoreError) {
    for end in folder.reached {
      guard end.sequence >= active.mark.logBegin - 1 else {
        throw .trimmed(firstAvailable: active.mark.logBegin)
      }
      let own = end.sequence > active.mark.durable.sequence ? nil : try source.chain(after: end.sequence)
      guard own == end.chain else { throw .diverged(sequence: end.sequence) }
    }
    let known = Set(parts.map(\.segment))
    if let other = folder.names.first(where: { $0 >= parts[0].segment && !known.contains($0) }) {
      throw .diverged(sequence: other.lastBefore)
    }
  }

  /// The HEAD of the finished backup: a store that was closed cleanly at the mark.
  private func headSlot(_ active: Active, begin: UInt64, epoch: UInt64) throws(StoreError) -> HeadSlot {
    let header = active.handle.header
    let durable = active.mark.durable
    try active.handle.extend(to: durable.offset)
    var time = header.previousTime
    var lastEpoch = header.epoch
    if let place = active.handle.places.last(where: { $0.offset < durable.offset }) {
      var blocks = BlockSource(file: active.handle.file, segment: header, step: 4096)
      let found = try blocks.header(at: place.offset, limit: durable.offset)
      switch found {
      case .success(let block):
        time = block.lastTime
        lastEpoch = max(lastEpoch, block.epoch)
      case .failure(let problem):
        throw .damaged(
          problem.finding(
            in: active.handle.name, at: place.offset, first: place.firstSequence, last: durable.sequence))
      }
    }
    return HeadSlot(
      storeID: source.storeID, generation: 0, segment: header.segment, epoch: max(epoch, lastEpoch),
      isClean: true, durability: Durability.synced.rawValue, visible: durable, durable: durable,
      lastTime: time, logBegin: begin)
  }

  /// Whether the source may have an order to erase that is not carried out. True if there is no valid HEAD: the
  /// backup's next writer then searches the log.
  private func isErasing() throws(StoreError) -> Bool {
    try HeadFile.read(fileSystem, path: source.layout.head)?.isErasing ?? true
  }

  private func size(of parts: [BackupPart], _ active: Active) throws(StoreError) -> UInt64 {
    var size: UInt64 = 0
    for part in parts {
      if part.segment == active.mark.segment {
        size = size.addingSaturated(active.mark.durable.offset)
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
    _ part: BackupPart, _ need: BackupNeed, _ active: Active, next: SegmentHeader?, into folder: BackupTarget
  ) throws(StoreError) -> BackupPart {
    let isActive = part.segment == active.mark.segment
    assert(isActive == (next == nil), "the active segment is the last part")
    assert(
      next.map { SegmentName($0.previousFirst) == part.segment } ?? true,
      "a part is copied with the one that follows it")
    // Opened once: if the file is rewritten now, this one stays as it is until it is closed. It may have a later
    // revision than its header had before, and holds the same log.
    let handle =
      isActive
      ? active.handle
      : try SegmentHandle.open(fileSystem, source.layout, first: part.segment, storeID: source.storeID)
    var part = part
    part.header = handle.header
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
      let end =
        isActive ? active.mark.durable.offset : UInt64(try handle.file.size())
      try transfer(handle.file, to: file, end: end)
      try SegmentCheck(header: handle.header, file: file, name: handle.name, size: end)
        .run(next: next, mark: isActive ? active.mark.durable : nil)
      try file.sync()
      try folder.keep(part)
      report.segmentsCopied += 1
      return part
    } catch {
      folder.abandon(part)
      throw error
    }
  }

  private mutating func transfer(
    _ from: any File, to file: any File, end: UInt64
  ) throws(StoreError) {
    var window = SegmentWindow(file: from)
    var offset: UInt64 = 0
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
