// Writes an index file: entries arrive in ascending order and are streamed to the file.

internal import StrataBase

/// Writes one index file. Until the end it keeps in memory a buffer, 8 bytes for each key, and 32 bytes plus the first
/// key for each chunk; at the end, 32 bytes for each append id.
///
/// The file is incomplete until `finish`, and durable only after the caller has synced it. After an error the writer
/// cannot be used again and the file must be removed.
package struct IndexFileWriter: ~Copyable {
  private let file: any File
  private let identity: IndexIdentity
  private let chunkLengthTarget: Int

  /// Bytes not yet written; those from `chunkStart` on are the open chunk.
  private var buffer: [UInt8] = []
  /// The offset in the file at which the buffer begins.
  private var bufferOffset: UInt64 = 0
  private var chunkStart = 0
  private var chunkEntryCount: UInt32 = 0

  private var hashes: [UInt64] = []
  private var lastKey: [UInt8] = []
  private var fences: [UInt8] = []
  private var fenceKeys: [UInt8] = []
  private var chunkKeyStart = 0
  private var isFinished = false

  /// How many bytes are buffered before they are written.
  private static var bufferLength: Int { 256 * 1024 }

  /// - Parameter file: open for writing; its previous content is overwritten or cut off.
  package init(file: any File, identity: IndexIdentity) {
    self.init(file: file, identity: identity, chunkLengthTarget: IndexFormat.chunkLengthTarget)
  }

  /// Creates a writer with another chunk length, so that tests need not write megabytes to get many chunks.
  package init(file: any File, identity: IndexIdentity, chunkLengthTarget: Int) {
    precondition(
      chunkLengthTarget > 0 && chunkLengthTarget < Self.bufferLength,
      "a chunk's target length is positive and less than the buffer's length")
    self.file = file
    self.identity = identity
    self.chunkLengthTarget = chunkLengthTarget
    buffer.reserveCapacity(Self.bufferLength + chunkLengthTarget)
  }

  /// Adds an entry. Keys must be added in ascending order of their bytes, each once.
  package mutating func add(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws(StoreError) {
    precondition(!isFinished, "an entry is added to a finished index file")
    precondition(key.count <= IndexFormat.keyLengthMax, "a key is longer than keyLengthMax")
    precondition(value.count <= IndexFormat.valueLengthMax, "a value is longer than valueLengthMax")
    precondition(
      hashes.isEmpty || lastKey.withUnsafeBytes { $0.order(against: key) } < 0,
      "keys are not added in ascending order"
    )
    var shared = chunkEntryCount == 0 ? 0 : lastKey.withUnsafeBytes { $0.commonPrefix(with: key) }
    if chunkEntryCount > 0, buffer.count - chunkStart + length(shared, key, value) > chunkLengthTarget {
      try closeChunk()
    }
    if chunkEntryCount == 0 {
      shared = 0
      chunkKeyStart = fenceKeys.count
      fenceKeys.append(contentsOf: key)
    }
    chunkEntryCount += 1
    hashes.append(key.keyHash)
    lastKey.replaceSubrange(shared..<lastKey.count, with: key[shared...])
    for number in [shared, key.count - shared, value.count] { buffer.append(varint: UInt64(number)) }
    buffer.append(contentsOf: key[shared...])
    if value.count < Self.bufferLength {
      buffer.append(contentsOf: value)
    } else {
      try addLarge(value)
    }
  }

  /// The length of an entry.
  private func length(
    _ shared: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer
  ) -> Int {
    let rest = key.count - shared
    return Varint.length(UInt64(shared)) + Varint.length(UInt64(rest)) + Varint.length(UInt64(value.count))
      + rest + value.count
  }

  /// Writes the ids, filter, fences and trailer, and cuts off what the file held after them.
  ///
  /// - Parameters:
  ///   - ids: the hash (XXH64, seed 0) of each append id, in any order, and the distance of its append's first sequence
  ///     from the identity's first. Each id once; several may have the same hash.
  ///   - leastTime: the least own time of the appends.
  package mutating func finish(
    ids: [(hash: UInt64, distance: UInt32)] = [], leastTime: Int64 = .max
  ) throws(StoreError) {
    precondition(!isFinished, "an index file is finished twice")
    let span = identity.lastSequence - identity.firstSequence
    precondition(ids.allSatisfy { $0.distance <= span }, "an id is that of an append after the range")
    isFinished = true
    if chunkEntryCount > 0 {
      try closeChunk()
    }
    let chunksLength = bufferOffset + UInt64(buffer.count)
    let idParts = IDFingerprints(ids, identity: identity)
    let filter = KeyFilter.make(hashes)
    let chunkCount = fences.count / IndexFormat.fenceLength
    assert(fences.count % IndexFormat.fenceLength == 0, "fences are whole")
    assert(chunkCount <= hashes.count, "there are no more chunks than entries")
    fences.append(contentsOf: fenceKeys)
    let trailer = IndexTrailer(
      identity: identity,
      entryCount: UInt64(hashes.count),
      chunkCount: UInt64(chunkCount),
      chunksLength: chunksLength,
      filterLength: UInt64(filter.count),
      fencesLength: UInt64(fences.count),
      filterChecksum: filter.withUnsafeBytes { $0.checksum() },
      fencesChecksum: fences.withUnsafeBytes { $0.checksum() },
      idCount: UInt64(ids.count),
      fingerprintsChecksum: idParts.fingerprints.withUnsafeBytes { $0.checksum() },
      leastTime: leastTime
    )
    var trailerBytes = [UInt8](repeating: 0, count: IndexFormat.trailerLength)
    trailerBytes.withUnsafeMutableBytes { trailer.encode(into: $0) }
    for part in [idParts.places, idParts.fingerprints, filter, fences, trailerBytes] {
      buffer.append(contentsOf: part)
      if buffer.count >= Self.bufferLength { try writeBuffer() }
    }
    try writeBuffer()
    try file.truncate(to: Int64(bufferOffset))
  }

  /// Writes a long value without buffering it. Its chunk ends with it, and holds nothing else.
  private mutating func addLarge(_ value: UnsafeRawBufferPointer) throws(StoreError) {
    assert(chunkEntryCount == 1, "a long value is alone in its chunk")
    let headLength = buffer.count - chunkStart
    let headChecksum = openChunkChecksum()
    try writeBuffer()
    try file.write(value, at: Int64(bufferOffset))
    bufferOffset += UInt64(value.count)
    try closeChunk(value.checksum(continuing: headChecksum), length: headLength + value.count)
  }

  private mutating func closeChunk() throws(StoreError) {
    try closeChunk(openChunkChecksum(), length: buffer.count - chunkStart)
  }

  private func openChunkChecksum() -> UInt32 { buffer[chunkStart...].withUnsafeBytes { $0.checksum() } }

  /// Adds a fence for the chunk that ends here and begins the next chunk.
  private mutating func closeChunk(_ checksum: UInt32, length: Int) throws(StoreError) {
    assert(chunkEntryCount > 0, "a chunk holds an entry")
    let end = bufferOffset + UInt64(buffer.count)
    assert(UInt64(length) <= end, "a chunk is inside the file")
    IndexFence(
      offset: end - UInt64(length), keyOffset: UInt64(chunkKeyStart), length: UInt32(length),
      keyLength: UInt32(fenceKeys.count - chunkKeyStart), checksum: checksum, entryCount: chunkEntryCount
    ).append(to: &fences)
    chunkEntryCount = 0
    if buffer.count >= Self.bufferLength { try writeBuffer() }
    chunkStart = buffer.count
  }

  private mutating func writeBuffer() throws(StoreError) {
    guard !buffer.isEmpty else { return }
    // Typed errors cannot pass through the array's closure, so this one is returned as a value.
    let failure: StoreError? = buffer.withUnsafeBytes { bytes in
      do throws(StoreError) {
        try file.write(bytes, at: Int64(bufferOffset))
        return nil
      } catch { return error }
    }
    if let failure { throw failure }
    bufferOffset += UInt64(buffer.count)
    buffer.removeAll(keepingCapacity: true)
    chunkStart = 0
  }
}
