// HEAD as a file: two slots, written alternately.

internal import StrataBase

/// The writer's HEAD. Used by one thread at a time.
package struct HeadFile {
  private let file: any File
  /// The newest slot, on disk or in the cache.
  package private(set) var slot: HeadSlot?
  private var newestPlace = 1

  /// Opens HEAD for writing, and creates it if missing, at its full length: a disk that is full later cannot prevent a
  /// slot from being written.
  package init(_ fileSystem: any FileSystem, path: String) throws(StoreError) {
    file = try fileSystem.open(path, .create)
    let count = try take(from: file)
    if count < HeadSlot.fileLength {
      let rest = [UInt8](repeating: 0, count: HeadSlot.fileLength - count)
      try rest.lendBytes { zeros throws(StoreError) in try file.write(zeros, at: Int64(count)) }
    }
  }

  private init(file: any File) { self.file = file }

  /// Creates a new HEAD with this slot in both positions, each with the next generation, and renames it over the old
  /// one. No file of the store then holds what the last writer wrote in HEAD, nor anything that it writes from now on.
  /// Durable once the folder is synced. If there is no room for another file, the old one is overwritten.
  ///
  /// - Parameter lock: checked once the new file exists, to ensure that this is still the writer.
  static func replace(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ lock: StoreLock, with next: HeadSlot
  ) throws(StoreError) -> HeadFile {
    let temporary = lock.temporary("\(layout.log)/\(StoreLayout.headName)")
    do throws(StoreError) {
      var made = HeadFile(file: try fileSystem.open(temporary, .createNew))
      defer { made.close() }
      if try fileSystem.kind(of: layout.head) == .file {
        let old = try fileSystem.open(layout.head, .read)
        defer { old.close() }
        _ = try made.take(from: old)
        made.file.takePermissions(of: old)
      }
      for _ in HeadSlot.offsets { try made.write(next) }
      try made.sync()
      try lock.check()
      try fileSystem.rename(temporary, to: layout.head)
      var named = HeadFile(file: try SegmentFiles.reopen(layout.head, made.file.identity, fileSystem))
      (named.slot, named.newestPlace) = (made.slot, made.newestPlace)
      return named
    } catch {
      try? fileSystem.remove(temporary)
      guard case .full = error else { throw error }
    }
    try lock.check()
    var head = try HeadFile(fileSystem, path: layout.head)
    try head.replaceBoth(next)
    return head
  }

  /// Takes the slot that a file holds, and returns how many bytes the file has.
  private mutating func take(from file: any File) throws(StoreError) -> Int {
    var bytes = [UInt8](repeating: 0, count: HeadSlot.fileLength)
    let count = try bytes.lendMutableBytes { buffer throws(StoreError) in
      try file.read(into: buffer, at: 0)
    }
    bytes.withUnsafeBytes { buffer in
      let whole = UnsafeRawBufferPointer(rebasing: buffer[..<count])
      slot = HeadSlot.newest(in: whole)
      for (place, offset) in HeadSlot.offsets.enumerated() where count >= offset + HeadSlot.length {
        let one = HeadSlot(
          decoding: UnsafeRawBufferPointer(rebasing: whole[offset..<offset + HeadSlot.length]))
        if let one, one == slot { newestPlace = place }
      }
    }
    return count
  }

  /// Reads HEAD without changing it; nil if there is no file or no slot is valid.
  package static func read(_ fileSystem: any FileSystem, path: String) throws(StoreError) -> HeadSlot? {
    guard try fileSystem.kind(of: path) == .file else { return nil }
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    return try read(file)
  }

  package static func read(_ file: any File) throws(StoreError) -> HeadSlot? {
    var bytes = [UInt8](repeating: 0, count: HeadSlot.fileLength)
    let count = try bytes.lendMutableBytes { buffer throws(StoreError) in
      try file.read(into: buffer, at: 0)
    }
    return bytes.withUnsafeBytes { HeadSlot.newest(in: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  /// Writes a slot with the next generation over the older one; not yet on disk.
  package mutating func write(_ next: HeadSlot) throws(StoreError) {
    assert(next.durable.sequence <= next.visible.sequence, "HEAD calls no event durable that is not visible")
    assert(next.durable.offset <= next.visible.offset, "HEAD calls no byte durable that is not visible")
    var next = next
    next.generation = (slot?.generation ?? 0) + 1
    let place = 1 - newestPlace
    try next.encoded().lendBytes { bytes throws(StoreError) in
      try file.write(bytes, at: Int64(HeadSlot.offsets[place]))
    }
    slot = next
    newestPlace = place
  }

  /// Writes a slot with the next generation over both, each on disk before the next. Nothing that the previous writer
  /// wrote remains in either, above all its flag for a clean close: otherwise damage to the newer slot would bring that
  /// flag back.
  package mutating func replaceBoth(_ next: HeadSlot) throws(StoreError) {
    for _ in HeadSlot.offsets {
      try write(next)
      try sync()
    }
  }

  package func sync() throws(StoreError) { try file.sync() }
  package func close() { file.close() }
}
