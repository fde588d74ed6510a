// The begin of a copy: whole segments from somewhere else, checked, in a folder that holds nothing yet.

package import StrataBase

/// Makes a folder the copy of a log that ends with a closed segment, as a backup into it would. It can be interrupted at
/// any moment and run again; until it is done every open refuses the folder, or finds it empty.
package struct LogSeed {
  private let fileSystem: any FileSystem
  private let path: String
  private let part: ReplicaMark

  /// - Parameter part: the part that the copy gets, before anything else is in the folder.
  package init(to fileSystem: any FileSystem, path: String, as part: ReplicaMark) {
    self.fileSystem = fileSystem
    self.path = fileSystem.absolutePath(path)
    self.part = part
  }

  /// What a folder has of a copy.
  package enum State: Equatable {
    /// Nothing, or a part of what a run that was interrupted has copied as this member.
    case unfinished(member: StoreID?)
    /// A store, or what is none.
    case taken
  }

  /// Looks whether a folder may be made a copy.
  package static func state(_ fileSystem: any FileSystem, path: String) throws(StoreError) -> State {
    let layout = StoreLayout(root: fileSystem.absolutePath(path))
    guard try fileSystem.kind(of: layout.root) == .directory else {
      return try fileSystem.kind(of: layout.root) == nil ? .unfinished(member: nil) : .taken
    }
    let part = try ReplicaMark.read(fileSystem, layout)
    guard part == nil || part?.role == .follower else { return .taken }
    let names = try SegmentCatalog.names(fileSystem, layout)
    guard let head = try HeadFile.read(fileSystem, path: layout.head) else {
      return names.isEmpty ? .unfinished(member: part?.member) : .taken
    }
    // The last segment gets its name last.
    return part != nil && !names.contains(head.segment) && head.isClean
      ? .unfinished(member: part?.member) : .taken
  }

  /// Copies and checks the segments. O(bytes). Blocks.
  ///
  /// - Parameters:
  ///   - parallel: copies as many segments at once as it has threads, up to eight. Decompressing and hashing every event
  ///     takes longer than copying a file does.
  ///   - progress: called with the bytes that are there, and with all of them.
  /// - Throws: `damaged` with the place of a segment that is not what was put there; `locked`; `full`.
  package func run(
    _ offers: [SegmentOffer], on parallel: Parallel, timeout: Duration,
    progress: @Sendable (UInt64, UInt64) -> Void = { _, _ in }
  ) throws(StoreError) {
    let folder = try BackupTarget(
      fileSystem, path: path, storeID: part.storeID, timeout: timeout, isMember: true)
    // Another process may have done it, and gone on, while this one waited for the lock.
    let isBegun =
      folder.head.slot.map { $0.isClean && !folder.names.contains($0.segment) } ?? folder.names.isEmpty
    guard isBegun, let last = offers.last else { return }
    try part.write(fileSystem, folder.layout)
    var parts: [BackupPart] = []
    for offer in offers {
      let header = try offer.header(of: part.storeID)
      if let gap = SegmentChain.gap(before: header, after: parts.last?.header, logBegin: 1) {
        throw .damaged(gap)
      }
      parts.append(BackupPart(header: header, end: SegmentEnd(sequence: offer.last, chain: offer.chain)))
    }
    try folder.removeStale(keeping: parts)
    let copies = offers.indices.map {
      SegmentCopy(
        offer: offers[$0], part: parts[$0], next: $0 + 1 < parts.count ? parts[$0 + 1].header : nil)
    }
    // The last one is walked again after an interruption: HEAD says what its last block says.
    let missing = copies.filter { $0.next == nil || !folder.hasCopied($0.part) }
    let all = offers.reduce(UInt64(0)) { $0.addingSaturated($1.size) }
    let done = Lock(all - missing.reduce(UInt64(0)) { $0.addingSaturated($1.offer.size) })
    var end = BlockLink(parts[parts.count - 1].header)
    let width = min(parallel.threadCountMax, Self.copiesMax)
    for begin in stride(from: 0, to: missing.count, by: width) {
      end = try copy(Array(missing[begin...].prefix(width)), into: folder, on: parallel) { count in
        done.withLock { done in
          done += count
          progress(done, all)
        }
      }
    }
    // An earlier run may have begun with other segments of the same events.
    for name in folder.names where !offers.contains(where: { $0.first == name }) {
      try fileSystem.remove(folder.layout.segment(name))
    }
    let mark = LogMark(offset: last.size, sequence: last.last, chain: last.chain)
    try folder.promise(
      HeadSlot(
        storeID: part.storeID, generation: 0, segment: last.first, epoch: max(folder.epoch, end.epoch),
        isClean: true, durability: Durability.synced.rawValue, visible: mark, durable: mark,
        lastTime: end.lastTime, logBegin: 1, isErasing: false))
    try folder.name(parts)
  }

  /// How many segments are copied at once: each has a piece in memory, and asks where it comes from.
  private static let copiesMax = 8

  /// Copies some segments at once. Those before one that fails are kept. Returns the end of the last one's last block.
  private func copy(
    _ copies: [SegmentCopy], into folder: BackupTarget, on parallel: Parallel,
    progress: @Sendable (UInt64) -> Void
  ) throws(StoreError) -> BlockLink {
    assert(!copies.isEmpty, "the last segment is always copied")
    var files: [any File] = []
    defer { for file in files { file.close() } }
    for copy in copies { files.append(try folder.begin(copy.part)) }
    let results = Lock([Result<BlockLink, StoreError>?](repeating: nil, count: copies.count))
    parallel.forEach(below: copies.count) { [files] number in
      let result = Result { () throws(StoreError) in try copies[number].run(into: files[number], progress) }
      results.withLock { $0[number] = result }
    }
    var end: Result<BlockLink, StoreError>?
    for (copy, result) in zip(copies, results.withLock({ $0 })) {
      if case .failure = end {} else { end = result }
      if case .success = end { try folder.keep(copy.part) } else { folder.abandon(copy.part) }
    }
    guard let end else { throw .closed }
    return try end.get()
  }
}

/// One segment that is to be copied.
private struct SegmentCopy: Sendable {
  let offer: SegmentOffer
  let part: BackupPart
  /// The header of the next one; nil for the last.
  let next: SegmentHeader?

  /// Copies it and checks all of the copy. Returns the end of its last block.
  func run(into file: any File, _ progress: (UInt64) -> Void) throws(StoreError) -> BlockLink {
    var buffer = [UInt8](repeating: 0, count: Int(min(offer.size, Self.pieceSize)))
    var offset: UInt64 = 0
    while offset < offer.size {
      let count = Int(min(offer.size - offset, Self.pieceSize))
      try buffer.lendMutableBytes { whole throws(StoreError) in
        let piece = UnsafeMutableRawBufferPointer(rebasing: whole[..<count])
        guard try offer.file.read(into: piece, at: Int64(offset)) == count else {
          throw offer.damaged("the segment is shorter than it is listed")
        }
        try file.write(UnsafeRawBufferPointer(piece), at: Int64(offset))
      }
      offset += UInt64(count)
      progress(UInt64(count))
    }
    let end = try SegmentCheck(header: part.header, file: file, name: offer.file.path, size: offer.size)
      .run(
        next: next,
        mark: next == nil ? LogMark(offset: offer.size, sequence: offer.last, chain: offer.chain) : nil)
    try file.sync()
    return end
  }

  /// How much of a segment is in memory, in bytes.
  private static let pieceSize: UInt64 = 4 << 20
}
