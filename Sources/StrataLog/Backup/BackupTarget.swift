// The folder of a backup, and how it becomes one: whole, or refused.

internal import StrataBase

/// The logical end of a segment. A rewrite does not change it.
struct SegmentEnd: Hashable {
  var sequence: UInt64
  var chain: UInt64
}

/// One segment as a backup must have it.
struct BackupPart {
  var header: SegmentHeader
  var end: SegmentEnd

  var segment: SegmentName { header.segment }

  /// The name of a whole copy that does not have its final name yet. It says what it is a copy of, and what is erased
  /// in it, so that a later run recognises it; and it ends like every unfinished file, so that readers ignore it and a
  /// writer removes it.
  func copiedName() -> String {
    let chain = String(end.chain, radix: 16)
    let mark = String(header.erasures, radix: 16)
    return
      "\(segment.digits)-\(end.sequence)-\(chain)-\(header.revision)-\(mark)\(StoreLayout.temporarySuffix)"
  }
}

/// The folder of a backup, with its lock held.
///
/// Copies are made under temporary names. Then HEAD is written, with the marks of the backup and as closed cleanly, and
/// the copies are renamed, the last segment last. So while HEAD names a last segment that is missing, or is shorter
/// than HEAD says, every open refuses the folder; and once that segment is there, so are all before it. The first HEAD
/// of a backup is written before anything is copied: an unfinished first run is a store with missing segments, not an
/// empty one.
///
/// Where only blocks at the end of the last segment are new, they are added to its file instead (`+Extend`).
final class BackupTarget {
  let fileSystem: any FileSystem
  let layout: StoreLayout
  let lock: StoreLock
  var head: HeadFile
  /// The segments that have their final names.
  let names: [SegmentName]
  /// The ends of those segments that are known to be complete.
  let ends: [SegmentName: SegmentEnd]
  /// The end of the blocks of the last segment, complete or not.
  private let lastEnd: SegmentEnd?
  private let headers: [SegmentName: SegmentHeader]
  /// Complete copies without their final names, and all other files with temporary names.
  private var copied: Set<String>
  /// The length of the last segment's file, in bytes.
  var lastSize: UInt64
  /// Whether the folder holds a finished backup, which it stays until another HEAD is written.
  let isWhole: Bool
  /// Whether an earlier run has begun to add blocks to the last segment's file, and did not finish.
  var isExtended: Bool

  /// Takes the lock of the folder, creates the folder if there is none, and reads what it holds.
  ///
  /// - Parameter isMember: whether the folder is to be one of the copies of a store.
  init(
    _ fileSystem: any FileSystem, path: String, storeID: StoreID, timeout: Duration, isMember: Bool = false
  ) throws(StoreError) {
    let layout = StoreLayout(root: path)
    try Log.checkPlace(fileSystem, layout)
    do throws(StoreError) { try fileSystem.createDirectory(layout.log) } catch {
      if case .full = error { throw .full(path: path) }
      throw error.asCreation(of: path)
    }
    lock = try StoreLock.acquire(fileSystem, layout, timeout: timeout)
    self.fileSystem = fileSystem
    self.layout = layout
    do throws(StoreError) {
      let (slot, names, files) = try (
        HeadFile.read(fileSystem, path: layout.head), SegmentCatalog.names(fileSystem, layout),
        fileSystem.contents(ofDirectory: layout.log)
      )
      let hasPart = try fileSystem.kind(of: layout.replica) != nil
      guard isMember || !hasPart else {
        throw .notAStore(
          path: path, what: "the folder holds a store that is one of several copies, and no backup")
      }
      if let slot, slot.storeID != storeID { throw Self.foreign(path, slot.storeID) }
      // Each `promise` uses two generations, so no backup's folder has ever reached this many.
      if let slot, slot.generation >= HeadSlot.generationLimit {
        throw .notAStore(
          path: path, what: "the generations of the HEAD there are used up, so it cannot be written")
      }
      var headers: [SegmentName: SegmentHeader] = [:]
      for first in names {
        headers[first] = try Self.header(fileSystem, layout, first: first, storeID: storeID)
      }
      let lastSize = try names.last.map { last throws(StoreError) in
        try Self.size(fileSystem, layout, of: last)
      }
      self.lastSize = lastSize ?? 0
      isWhole = Self.isWhole(slot, last: names.last.flatMap { headers[$0] }, size: self.lastSize)
      isExtended = slot?.isExtending ?? false
      var ends: [SegmentName: SegmentEnd] = [:]
      var lastEnd: SegmentEnd?
      for (number, first) in names.enumerated() {
        guard let header = headers[first] else { continue }
        if !isWhole {
          let (end, isWhole) = try Self.walkedEnd(fileSystem, layout, header)
          if isWhole { ends[first] = end }
          lastEnd = end
        } else if number + 1 < names.count {
          let next = headers[names[number + 1]]
          ends[first] = next.map { SegmentEnd(sequence: $0.previousLast, chain: $0.previousChain) }
        } else if let slot {
          ends[first] = SegmentEnd(sequence: slot.durable.sequence, chain: slot.durable.chain)
        }
      }
      self.names = names
      self.ends = ends
      self.lastEnd = isWhole ? nil : lastEnd
      self.headers = headers
      copied = Set(files.filter(StoreLayout.isTemporary))
      head = try HeadFile(fileSystem, path: layout.head)
    } catch {
      lock.release()
      throw error
    }
  }

  deinit {
    head.close()
    lock.release()
  }

  /// The ends that the folder's log is known to have reached, or was to reach: HEAD's, and the end of its blocks. After
  /// these there may be the zeros or the torn tail of a writer that was interrupted.
  var reached: [SegmentEnd] {
    let promised = head.slot.map { SegmentEnd(sequence: $0.durable.sequence, chain: $0.durable.chain) }
    return [promised, lastEnd].compactMap { $0 }
  }

  /// Whether HEAD already names this end.
  func promises(_ slot: HeadSlot) -> Bool {
    head.slot?.segment == slot.segment && head.slot?.durable == slot.durable && head.slot?.isClean == true
  }

  var epoch: UInt64 { head.slot?.epoch ?? 0 }

  /// The header of a segment that has its final name; nil if there is none, or if it is damaged.
  func header(_ segment: SegmentName) -> SegmentHeader? { headers[segment] }

  /// The erased events of a segment that has its final name, up to damage in it, and that damage.
  func erased(
    _ header: SegmentHeader
  ) throws(StoreError) -> (erased: ErasedSequences, finding: StoreFinding?) {
    try erased(header, at: layout.segment(header.segment))
  }

  /// The same for a copy that does not have its final name yet.
  func erasedInCopy(_ part: BackupPart) throws(StoreError) -> (
    erased: ErasedSequences, finding: StoreFinding?
  ) {
    try erased(part.header, at: "\(layout.log)/\(part.copiedName())")
  }

  private func erased(
    _ header: SegmentHeader, at path: String
  ) throws(StoreError) -> (erased: ErasedSequences, finding: StoreFinding?) {
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    return try ErasedSequences.read(
      file, header, name: header.segment.path)
  }

  func hasCopied(_ part: BackupPart) -> Bool { copied.contains(part.copiedName()) }

  // MARK: Changing the folder

  /// Removes the files of earlier runs that are no longer needed.
  func removeStale(keeping parts: [BackupPart]) throws(StoreError) {
    let wanted = Set(parts.map { $0.copiedName() })
    let stale = copied.subtracting(wanted)
    if stale.isEmpty { return }
    try fileSystem.removeFiles(in: layout.log, where: stale.contains)
    copied.subtract(stale)
  }

  /// Writes HEAD, durably in both slots: from now on the folder is this backup or is refused.
  func promise(_ slot: HeadSlot) throws(StoreError) {
    assert(
      slot.isClean && slot.visible == slot.durable, "a backup is a store that was closed cleanly at its mark")
    try lock.check()
    try head.replaceBoth(slot)
    try fileSystem.syncDirectory(layout.root)
  }

  /// Begins a copy, under a name that no later run takes for that of a complete one.
  func begin(_ part: BackupPart) throws(StoreError) -> any File {
    let file = try fileSystem.open(unfinishedPath(part), .create)
    try file.truncate(to: 0)
    return file
  }

  func abandon(_ part: BackupPart) { try? fileSystem.remove(unfinishedPath(part)) }

  /// Renames a copy that is complete and on disk.
  func keep(_ part: BackupPart) throws(StoreError) {
    assert(
      StoreLayout.isTemporary(part.copiedName()), "a complete copy has a name by which it can be removed")
    try lock.check()
    try fileSystem.rename(unfinishedPath(part), to: "\(layout.log)/\(part.copiedName())")
    try fileSystem.syncDirectory(layout.log)
    copied.insert(part.copiedName())
  }

  /// Gives the copies their final names, the last one's only after the others have theirs on disk.
  func name(_ parts: [BackupPart]) throws(StoreError) {
    assert(
      zip(parts, parts.dropFirst()).allSatisfy { $0.segment < $1.segment },
      "files are named in ascending order")
    try lock.check()
    for (number, part) in parts.enumerated() where hasCopied(part) {
      if number == parts.count - 1 { try fileSystem.syncDirectory(layout.log) }
      try fileSystem.rename("\(layout.log)/\(part.copiedName())", to: layout.segment(part.segment))
      copied.remove(part.copiedName())
    }
    try fileSystem.syncDirectory(layout.log)
  }

  /// A name that no other run uses, so that a run that was stopped and resumes writes to no file of the next.
  func unfinishedPath(_ part: BackupPart) -> String { lock.temporary(layout.segment(part.segment)) }

  // MARK: Reading the folder

  /// The header of an existing segment; nil if it is damaged, and the segment must be copied again.
  private static func header(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, first: SegmentName, storeID: StoreID
  ) throws(StoreError) -> SegmentHeader? {
    let file = try fileSystem.open(layout.segment(first), .read)
    defer { file.close() }
    do throws(StoreError) {
      let header = try SegmentHandle.readHeader(of: file, first: first, storeID: nil)
      guard header.storeID == storeID else { throw foreign(layout.root, header.storeID) }
      return header
    } catch .damaged { return nil }
  }

  private static func foreign(_ path: String, _ other: StoreID) -> StoreError {
    .notAStore(path: path, what: "the folder holds another store or its backup, \(other)")
  }

  /// Whether HEAD is that of a finished backup: its last segment exists and is as long as HEAD says, and HEAD was closed
  /// cleanly, or says that what follows does not count.
  private static func isWhole(_ slot: HeadSlot?, last: SegmentHeader?, size: UInt64) -> Bool {
    guard let slot, let last, slot.segment == last.segment else { return false }
    return slot.length(of: last, fileSize: size) == slot.durable.offset && (slot.isClean || slot.isExtending)
  }

  private static func size(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, of segment: SegmentName
  ) throws(StoreError) -> UInt64 {
    let file = try fileSystem.open(layout.segment(segment), .read)
    defer { file.close() }
    return UInt64(try file.size())
  }

  /// The end that a segment's blocks reach, and whether they fill the file.
  private static func walkedEnd(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ header: SegmentHeader
  ) throws(StoreError) -> (end: SegmentEnd, isWhole: Bool) {
    let file = try fileSystem.open(layout.segment(header.segment), .read)
    defer { file.close() }
    var walk = BlockWalk(file: file, segment: header, limit: UInt64(try file.size()))
    var isWhole = true
    while isWhole, !walk.isAtLimit {
      if case .invalid = try walk.next() { isWhole = false }
    }
    return (SegmentEnd(sequence: walk.link.lastSequence, chain: walk.link.chain), isWhole)
  }
}
