// HEAD as a file: two slots, written in turn.

/// The writer's HEAD. Belongs to one thread at a time.
package struct HeadFile {
  private let file: any File
  /// The newest slot on disk or in the cache.
  package private(set) var slot: HeadSlot?
  private var newestPlace = 1

  /// Opens HEAD for writing, and makes it where there is none, at its full length: a disk that is full later
  /// does not hinder a slot from being written.
  package init(_ fileSystem: any FileSystem, path: String) throws(FileSystemError) {
    file = try fileSystem.open(path, .create)
    var bytes = [UInt8](repeating: 0, count: HeadSlot.fileLength)
    let count = try bytes.lendMutableBytes { buffer throws(FileSystemError) in
      try file.read(into: buffer, at: 0)
    }
    if count < HeadSlot.fileLength {
      let rest = [UInt8](repeating: 0, count: HeadSlot.fileLength - count)
      try rest.lendBytes { zeros throws(FileSystemError) in try file.write(zeros, at: Int64(count)) }
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
  }

  /// Reads HEAD without changing it; nil where there is none or no slot verifies.
  package static func read(_ fileSystem: any FileSystem, path: String) throws(FileSystemError) -> HeadSlot? {
    guard try fileSystem.kind(of: path) == .file else { return nil }
    let file = try fileSystem.open(path, .read)
    defer { file.close() }
    return try read(file)
  }

  package static func read(_ file: any File) throws(FileSystemError) -> HeadSlot? {
    var bytes = [UInt8](repeating: 0, count: HeadSlot.fileLength)
    let count = try bytes.lendMutableBytes { buffer throws(FileSystemError) in
      try file.read(into: buffer, at: 0)
    }
    return bytes.withUnsafeBytes { HeadSlot.newest(in: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  /// Writes a slot with the next generation over the older one; not yet on disk.
  package mutating func write(_ next: HeadSlot) throws(FileSystemError) {
    var next = next
    next.generation = (slot?.generation ?? 0) + 1
    let place = 1 - newestPlace
    try next.encoded().lendBytes { bytes throws(FileSystemError) in
      try file.write(bytes, at: Int64(HeadSlot.offsets[place]))
    }
    slot = next
    newestPlace = place
  }

  /// Writes a slot with the next generation over either one, each on disk before the next. What the writer
  /// before said, above all that it closed cleanly, is then gone from both: otherwise damage to the newer slot
  /// would bring it back.
  package mutating func replaceBoth(_ next: HeadSlot) throws(FileSystemError) {
    for _ in HeadSlot.offsets {
      try write(next)
      try sync()
    }
  }

  package func sync() throws(FileSystemError) { try file.sync() }
  package func close() { file.close() }
}
