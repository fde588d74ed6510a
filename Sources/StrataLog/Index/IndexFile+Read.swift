// Lookups in an index file: one key, all keys from one on, or the appends that may have an id.

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

  /// Calls the body for every key that is not less than `start`, in ascending order, until it returns false. The bytes
  /// are valid while the body runs.
  package func forEach(
    from start: [UInt8],
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    var index = start.withUnsafeBytes { fences.chunk(holding: $0) } ?? 0
    var isBefore = true
    while index < fences.count {
      let goesOn = try chunk(index).forEach { (key, value) throws(StoreError) in
        if isBefore {
          isBefore = start.withUnsafeBytes { key.order(against: $0) < 0 }
          if isBefore { return true }
        }
        return try body(key, value)
      }
      guard goesOn else { return }
      index += 1
    }
  }

  /// Calls the body for every key that begins with the prefix, in ascending order, until it returns false. The bytes
  /// are valid while the body runs.
  package func forEach(
    withPrefix prefix: [UInt8],
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try forEach(from: prefix) { (key, value) throws(StoreError) in
      guard prefix.withUnsafeBytes({ key.begins(with: $0) }) else { return false }
      return try body(key, value)
    }
  }

  /// The first sequences of the appends that may have an id with this hash, ascending. An append among them has the id
  /// only if the log says so. Reads nothing for about 2,000 of 2,001 absent ids, otherwise a group or two of places.
  package func candidates(forID hash: UInt64) throws(StoreError) -> [UInt64] {
    let matches = ids.matches(hash)
    guard !matches.isEmpty else { return [] }
    let distances =
      if let kept = ids.distances(matches) { kept } else {
        try reading { file throws(StoreError) in try ids.distances(matches, in: file) }
      }
    let span = identity.lastSequence - identity.firstSequence
    guard let distances, distances.allSatisfy({ $0 <= span }) else { throw damage(at: 0) }
    return distances.map { identity.firstSequence + $0 }
  }

  /// Reads everything, so that damage anywhere in the file is found.
  package func check() throws(StoreError) {
    for index in 0..<fences.count { _ = try chunk(index) }
    let count = ids.layout.count
    for first in stride(from: 0, to: count, by: IDLayout.idsPerGroup) {
      let distances = try reading { file throws(StoreError) in try ids.distances(first..<first + 1, in: file)
      }
      guard distances != nil else { throw damage(at: 0) }
    }
  }

  /// The length of the longest chunk that is kept: longer ones are single entries, and may be megabytes.
  private static var keptChunkLengthMax: Int { 64 * 1024 }

  /// False if no append with an id of this hash is in the file. About 1 in 2,000 absent ids gives true. Reads nothing.
  func mayContain(idHash hash: UInt64) -> Bool { !ids.matches(hash).isEmpty }

  private func chunk(_ index: Int) throws(StoreError) -> IndexChunk {
    if let kept = lastChunk.withLock({ $0?.index == index ? $0?.chunk : nil }) { return kept }
    let fence = fences[index]
    let bytes = try reading { file throws(StoreError) in
      try FileBytes(file, at: fence.offset, count: Int(fence.length))
    }
    guard let bytes, let chunk = IndexChunk(bytes, index, in: fences) else {
      throw damage(at: fence.offset)
    }
    if bytes.count <= Self.keptChunkLengthMax { lastChunk.withLock { $0 = (index, chunk) } }
    return chunk
  }

  /// Runs the body with the file opened again, which may be missing by now.
  private func reading<Result>(
    _ body: (any File) throws(StoreError) -> Result?
  ) throws(StoreError) -> Result? {
    do throws(StoreError) {
      let file = try fileSystem.open(path, .read)
      defer { file.close() }
      return try body(file)
    } catch {
      // A derived file may be deleted at any moment.
      throw error.systemCode == SystemErrorCode.notFound ? damage(at: 0) : error
    }
  }

  /// The error for bytes that are not those that were written: the caller removes the file and builds it again from the
  /// log.
  func damage(at offset: UInt64) -> StoreError {
    .damaged(
      StoreFinding(
        .index, file: path, offset: offset, first: 1, last: 0, what: "the derived index is damaged"))
  }
}
