// Lookups in an index file: one key, or all keys with a prefix.

internal import StrataBase

extension IndexFile {
  /// False if no key with this hash (`keyHash`: XXH64, seed 0) is in the file. About 1 in 100 absent keys gives true.
  /// Reads nothing.
  @inline(__always)
  package func mayContain(_ hash: UInt64) -> Bool {
    filter.withBytes { KeyFilter.mayContain(hash, in: $0) }
  }

  /// The value of a key, or nil if the file does not have it. At most one read, of one chunk.
  ///
  /// - Parameter hash: the key's `keyHash`.
  package func value(
    forKey key: UnsafeRawBufferPointer, hash: UInt64
  ) throws(StoreError) -> [UInt8]? {
    guard mayContain(hash), let index = fences.chunk(holding: key) else { return nil }
    // A chunk with a single entry, which may be megabytes, is not read for another key.
    if fences[index].entryCount == 1, !fences.withKey(index, { $0.hasSameBytes(as: key) }) { return nil }
    return try chunk(index).value(forKey: key)
  }

  /// Calls the body for every key that begins with the prefix, in ascending order, until it returns false. The bytes
  /// are valid while the body runs.
  package func forEach(
    withPrefix prefix: [UInt8],
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var index = prefix.withUnsafeBytes { fences.chunk(holding: $0) } ?? 0
    while index < fences.count {
      // A typed error cannot pass through the array's closure, so the prefix is compared in a separate closure for each
      // key.
      let goesOn = try chunk(index).bytes.withBytes { (bytes) throws(StoreError) -> Bool in
        var entries = IndexEntries(bytes)
        while let entry = entries.next() {
          let (begins, isPast) = prefix.withUnsafeBytes { prefix in
            (entry.key.begins(with: prefix), entry.key.order(against: prefix) > 0)
          }
          if begins {
            guard try body(entry.key, entry.value) else { return false }
          } else if isPast {
            return false
          }
        }
        return true
      }
      guard goesOn else { return }
      index += 1
    }
  }

  /// Reads every chunk, so that damage anywhere in the file is found.
  package func check() throws(StoreError) {
    for index in 0..<fences.count { _ = try chunk(index) }
  }

  /// The length of the longest chunk that is kept: longer ones are single entries, and may be megabytes.
  private static var keptChunkLengthMax: Int { 64 * 1024 }

  private func chunk(_ index: Int) throws(StoreError) -> IndexChunk {
    if let kept = lastChunk.withLock({ $0?.index == index ? $0?.chunk : nil }) { return kept }
    let fence = fences[index]
    let bytes: FileBytes?
    do throws(StoreError) {
      let file = try fileSystem.open(path, .read)
      defer { file.close() }
      bytes = try FileBytes(file, at: fence.offset, count: Int(fence.length))
    } catch {
      // A derived file may be deleted at any moment.
      throw error.systemCode == SystemErrorCode.notFound ? damage(at: fence.offset) : error
    }
    guard let bytes, let chunk = IndexChunk(bytes, index, in: fences) else {
      throw damage(at: fence.offset)
    }
    if bytes.count <= Self.keptChunkLengthMax { lastChunk.withLock { $0 = (index, chunk) } }
    return chunk
  }

  /// The error for bytes that are not those that were written: the caller removes the file and builds it again from the
  /// log.
  func damage(at offset: UInt64) -> StoreError {
    .damaged(
      StoreFinding(
        .index, file: path, offset: offset, first: 1, last: 0, what: "the derived index is damaged"))
  }
}
