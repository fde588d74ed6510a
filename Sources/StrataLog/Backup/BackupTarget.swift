// What stands in the folder of a backup, and how it becomes one: whole, or refused.

internal import StrataBase

/// Where a segment ends, logically. A rewrite does not change it.
struct SegmentEnd: Hashable {
  var sequence: UInt64
  var chain: UInt64
}

/// One segment as a backup must have it.
struct BackupPart {
  var header: SegmentHeader
  var end: SegmentEnd

  var segment: SegmentName { header.segment }

  /// The name of a whole copy that does not have its own name yet. It says what it is a copy of, and what is erased in
  /// it, so that a later run knows it; and ends like every unfinished file, so that readers ignore it and a writer removes it.
  func copiedName() -> String {
    let chain = String(end.chain, radix: 16)
    let mark = String(header.erasures, radix: 16)
    return
      "\(segment.digits)-\(end.sequence)-\(chain)-\(header.revision)-\(mark)\(StoreLayout.temporarySuffix)"
  }
}

/// The folder of a backup, with its lock held.
///
/// Copies are made under temporary names. Then HEAD is written, with the marks of the backup and as closed cleanly,
/// and the copies get their names, the last segment's last. So for as long as HEAD names a last segment that is not
/// there, or is shorter than HEAD says, the folder is refused by all who open it; and once it is there, so is all
/// before it. The first HEAD of a backup is written before anything is copied: what was begun and not finished is a
/// store with segments missing, and not an empty one.
final class BackupTarget {
  let fileSystem: any FileSystem
  let layout: StoreLayout
  let lock: StoreLock
  private var head: HeadFile
  /// The segments that have their names.
  let names: [SegmentName]
  /// The ends of those segments that are known to be whole.
  let ends: [SegmentName: SegmentEnd]
  /// The end of the blocks of the last one, whole or not.
  private let lastEnd: SegmentEnd?
  private let headers: [SegmentName: SegmentHeader]
  /// Copies that are whole and have no name yet, and whatever else has a temporary name.
  private var copied: Set<String>
  /// Whether the folder holds a finished backup, which stays one until another HEAD is promised.
  let isWhole: Bool

  /// Takes the folder, creating it where there is none, and looks at what is there.
  init(_ fileSystem: any FileSystem, path: String, storeID: StoreID, timeout: Duration) throws(StoreError) {
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
      if let slot, slot.storeID != storeID { throw Self.foreign(path, slot.storeID) }
      // Each promise takes two, and no folder of a backup has seen so many.
      if let slot, slot.generation >= HeadSlot.generationLimit {
        throw .notAStore(
          path: path, what: "the generations of the HEAD there are used up, so it cannot be written")
      }
      var headers: [SegmentName: SegmentHeader] = [:]
      for first in names {
        headers[first] = try Self.header(fileSystem, layout, first: first, storeID: storeID)
      }
      isWhole = try Self.isWhole(fileSystem, layout, slot, last: names.last.flatMap { headers[$0] })
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

  /// Places that the folder's log is known to have reached, or was to reach: HEAD's, and the end of its blocks. Behind
  /// these there may be the zeros or the torn tail of a writer that was cut off.
  var reached: [SegmentEnd] {
    let promised = head.slot.map { SegmentEnd(sequence: $0.durable.sequence, chain: $0.durable.chain) }
    return [promised, lastEnd].compactMap { $0 }
  }

  /// Whether HEAD names this very end.
  func promises(_ slot: HeadSlot) -> Bool {
    head.slot?.segment == slot.segment && head.slot?.durable == slot.durable
  }

  var epoch: UInt64 { head.slot?.epoch ?? 0 }

  /// The header of a segment that has its name; nil where there is none, or one that is damaged.
  func header(_ segment: SegmentName) -> SegmentHeader? { headers[segment] }

  /// What is erased in a segment that has its name, up to damage in it, and that.
  func erased(
    _ header: SegmentHeader
  ) throws(StoreError) -> (erased: ErasedSequences, finding: StoreFinding?) {
    try erased(header, at: layout.segment(header.segment))
  }

  /// The same of a copy that does not have its name yet.
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

  // MARK: Changing it

  /// Removes what earlier runs left and nobody wants.
  func removeStale(keeping parts: [BackupPart]) throws(StoreError) {
    let wanted = Set(parts.map { $0.copiedName() })
    let stale = copied.subtracting(wanted)
    if stale.isEmpty { return }
    try fileSystem.removeFiles(in: layout.log, where: stale.contains)
    copied.subtract(stale)
  }

  /// Writes HEAD, durably in both slots: from here on the folder is this backup or is refused.
  func promise(_ slot: HeadSlot) throws(StoreError) {
    assert(slot.isClean && slot.visible == slot.durable, "a backup is a store that was closed at its mark")
    try lock.check()
    try head.replaceBoth(slot)
    try fileSystem.syncDirectory(layout.root)
  }

  /// Begins a copy, under a name that no later run takes for a whole one.
  func begin(_ part: BackupPart) throws(StoreError) -> any File {
    let file = try fileSystem.open(unfinishedPath(part), .create)
    try file.truncate(to: 0)
    return file
  }

  func abandon(_ part: BackupPart) { try? fileSystem.remove(unfinishedPath(part)) }

  /// The copy is whole and on the disk.
  func keep(_ part: BackupPart) throws(StoreError) {
    assert(StoreLayout.isTemporary(part.copiedName()), "a copy that no backup needs any more is removed")
    try lock.check()
    try fileSystem.rename(unfinishedPath(part), to: "\(layout.log)/\(part.copiedName())")
    try fileSystem.syncDirectory(layout.log)
    copied.insert(part.copiedName())
  }

  /// Gives the copies their names, the last one's only when the others have theirs on the disk.
  func name(_ parts: [BackupPart]) throws(StoreError) {
    assert(
      zip(parts, parts.dropFirst()).allSatisfy { $0.segment < $1.segment }, "files are named in their order")
    try lock.check()
    for (number, part) in parts.enumerated() where hasCopied(part) {
      if number == parts.count - 1 { try fileSystem.syncDirectory(layout.log) }
      try fileSystem.rename("\(layout.log)/\(part.copiedName())", to: layout.segment(part.segment))
      copied.remove(part.copiedName())
    }
    try fileSystem.syncDirectory(layout.log)
  }

  /// A name that no other run gives, so that one that was stopped and goes on writes into no file of the next.
  func unfinishedPath(_ part: BackupPart) -> String { lock.temporary(layout.segment(part.segment)) }

  // MARK: Looking at it

  /// The header of a segment that is there; nil where it is damaged, and the segment is to be copied anew.
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
    .notAStore(path: path, what: "the folder holds a backup or a store of another one, \(other)")
  }

  /// Whether HEAD is that of a finished backup: closed cleanly, and its last segment is there and as long as it says.
  private static func isWhole(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ slot: HeadSlot?, last: SegmentHeader?
  ) throws(StoreError) -> Bool {
    guard let slot, let last, slot.isClean, slot.segment == last.segment else { return false }
    let file = try fileSystem.open(layout.segment(slot.segment), .read)
    defer { file.close() }
    return try file.size() == Int64(clamping: slot.durable.offset)
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
