// The index of one closed segment: a file, or tables in memory until there is a file.

internal import StrataBase

/// The index of a closed segment, from which lookups are answered. Immutable.
package struct ClosedIndex: @unchecked Sendable {
  // Safe to send: a `SegmentIndex` in it is never changed again.
  package enum Content {
    case file(IndexFile)
    case memory(SegmentIndex)
  }

  package let firstSequence: UInt64
  package let lastSequence: UInt64
  package let content: Content

  init(firstSequence: UInt64, lastSequence: UInt64, content: Content) {
    assert(firstSequence <= lastSequence, "a closed segment holds events")
    if case .memory(let tables) = content {
      assert(tables.firstSequence == firstSequence, "tables begin where their segment begins")
      assert(tables.nextSequence - 1 == lastSequence, "tables end where their segment ends")
    }
    self.firstSequence = firstSequence
    self.lastSequence = lastSequence
    self.content = content
  }

  package var segment: SegmentName { SegmentName(firstSequence) }

  /// The first byte of each key in an index file, which says what the key is.
  package enum KeyTag {
    package static let stream = UInt8(ascii: "s")
    package static let appendID = UInt8(ascii: "a")
  }

  /// The sequences of a stream's events in this segment, or nil if it has none here.
  package func places(of stream: UnsafeRawBufferPointer) throws(StoreError) -> StreamPlaces? {
    switch content {
    case .memory(let index):
      return index.places(of: stream, through: .max)
    case .file(let file):
      guard let value = try value(KeyTag.stream, stream, in: file) else { return nil }
      guard
        let places = StreamPlaces(decoding: value, firstSequence: firstSequence, lastSequence: lastSequence)
      else { throw file.damage(at: 0) }
      return places
    }
  }

  /// How many events a stream has before this segment and in it, or nil if it has none here.
  package func extent(of stream: UnsafeRawBufferPointer) throws(StoreError) -> StreamExtent? {
    switch content {
    case .memory(let index):
      return index.extent(of: stream, through: .max)
    case .file(let file):
      guard let value = try value(KeyTag.stream, stream, in: file) else { return nil }
      guard let extent = StreamExtent(decoding: value) else { throw file.damage(at: 0) }
      return extent
    }
  }

  /// The first sequence of the append with an id, or nil.
  package func first(ofID id: UnsafeRawBufferPointer) throws(StoreError) -> UInt64? {
    switch content {
    case .memory(let index):
      return index.first(ofID: id)
    case .file(let file):
      guard let value = try value(KeyTag.appendID, id, in: file) else { return nil }
      let first = value.withUnsafeBytes { bytes -> UInt64? in
        guard let start = bytes.baseAddress else { return nil }
        var cursor = ByteCursor(start, count: bytes.count)
        return cursor.varint().map { firstSequence &+ $0 }
      }
      guard let first, (firstSequence...max(firstSequence, lastSequence)).contains(first) else {
        throw file.damage(at: 0)
      }
      return first
    }
  }

  /// Calls the body with every append id that begins with `prefix`.
  package func forEachID(
    prefix: [UInt8], _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(StoreError) {
    switch content {
    case .memory(let index):
      index.forEachID { id, _ in
        if id.starts(with: prefix) { body(id) }
      }
    case .file(let file):
      try file.forEach(withPrefix: [KeyTag.appendID] + prefix) { key, _ throws(StoreError) in
        body(UnsafeRawBufferPointer(rebasing: key.dropFirst()))
        return true
      }
    }
  }

  private func value(
    _ tag: UInt8, _ name: UnsafeRawBufferPointer, in file: IndexFile
  ) throws(StoreError) -> [UInt8]? {
    var key = RawBuffer(capacity: name.count + 1)
    key.append(byte: tag)
    key.append(name)
    return try file.value(forKey: key.bytes, hash: XXH64.of(key.bytes))
  }

  /// Writes tables as an index file, under a temporary name first. Replaces an existing file. If writing fails, nothing
  /// of the file stays.
  package static func write(
    _ index: SegmentIndex, identity: IndexIdentity, _ fileSystem: any FileSystem, path: String
  ) throws(StoreError) {
    let temporary = path + StoreLayout.temporarySuffix
    do throws(StoreError) {
      try write(index, identity: identity, to: try fileSystem.open(temporary, .create))
      try fileSystem.rename(temporary, to: path)
    } catch {
      // Half an index is useless, and on a full disk it takes space that the log needs.
      try? fileSystem.remove(temporary)
      throw error
    }
  }

  private static func write(
    _ index: SegmentIndex, identity: IndexIdentity, to file: any File
  ) throws(StoreError) {
    defer { file.close() }
    var writer = IndexFileWriter(file: file, identity: identity)
    var key = RawBuffer(capacity: 256)
    var value = RawBuffer(capacity: 256)
    try index.forEachID { id, first throws(StoreError) in
      key.removeAll()
      value.removeAll()
      key.append(byte: KeyTag.appendID)
      key.append(id)
      value.append(varint: first - index.firstSequence)
      try writer.add(key: key.bytes, value: value.bytes)
    }
    try index.forEachStream { stream, places throws(StoreError) in
      key.removeAll()
      value.removeAll()
      key.append(byte: KeyTag.stream)
      key.append(stream)
      places.encode(to: &value, firstSequence: index.firstSequence)
      try writer.add(key: key.bytes, value: value.bytes)
    }
    try writer.finish()
    try file.sync()
  }
}
