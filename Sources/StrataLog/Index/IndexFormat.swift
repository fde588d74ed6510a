// The layout of an index file. IndexFormat.md describes it byte by byte.
//
//   ┌───────────────┐ 0
//   │ chunks        │ entries in the order of their keys, about 4 KiB together
//   ├───────────────┤ length of the chunks
//   │ places        │ where the append with each id is, packed; groups of 512
//   ├───────────────┤
//   │ fingerprints  │ of append ids: pages, the groups' checksums, 16 bits for each id
//   ├───────────────┤
//   │ filter        │ of keys: blocks of 64 bytes
//   ├───────────────┤
//   │ fences        │ a record of 32 bytes for each chunk, then the chunks' first keys
//   ├───────────────┤
//   │ trailer       │ 128 bytes
//   └───────────────┘ the file's length
//
// Every byte is covered by a CRC that is checked before the byte is used: the trailer's own, those of fingerprints,
// filter and fences in the trailer, each chunk's in its fence, each group's beside the fingerprints.

internal import StrataBase

/// The constants of the format.
package enum IndexFormat {
  /// `STRATAIX`, read as a little-endian number.
  static var magic: UInt64 { 0x5849_4154_4152_5453 }
  /// The format version; a reader rebuilds files of any other version.
  package static var version: UInt32 { 3 }
  package static var trailerLength: Int { 128 }
  /// The key of the times, before the keys of names.
  static var timesKey: [UInt8] { [0x61] }
  package static var fenceLength: Int { 32 }
  /// The length of the shortest entry: three numbers of one byte.
  static var entryLengthMin: Int { 3 }
  /// The target length of a chunk; only a chunk with a single entry is longer.
  package static var chunkLengthTarget: Int { 4096 }
  package static var keyLengthMax: Int { 65_535 }
  package static var valueLengthMax: Int { 1 << 30 }
}

/// The last bytes of the file: its identity, and the lengths of its parts.
struct IndexTrailer {
  var identity: IndexIdentity
  var entryCount: UInt64
  var chunkCount: UInt64
  var chunksLength: UInt64
  var filterLength: UInt64
  var fencesLength: UInt64
  var filterChecksum: UInt32
  var fencesChecksum: UInt32
  var idCount: UInt64
  var fingerprintsChecksum: UInt32
  /// The least own time of the appends.
  var leastTime: Int64

  /// Writes the trailer into 128 bytes.
  func encode(into bytes: UnsafeMutableRawBufferPointer) {
    precondition(bytes.count == IndexFormat.trailerLength, "a trailer has 128 bytes")
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
    bytes.storeLittleEndian(IndexFormat.magic, at: 0)
    bytes.storeLittleEndian(IndexFormat.version, at: 8)
    bytes.storeLittleEndian(UInt32(IndexFormat.trailerLength), at: 12)
    bytes.storeLittleEndian(identity.store.low, at: 16)
    bytes.storeLittleEndian(identity.store.high, at: 24)
    bytes.storeLittleEndian(identity.firstSequence, at: 32)
    bytes.storeLittleEndian(identity.lastSequence, at: 40)
    bytes.storeLittleEndian(identity.chain, at: 48)
    bytes.storeLittleEndian(entryCount, at: 56)
    bytes.storeLittleEndian(chunkCount, at: 64)
    bytes.storeLittleEndian(chunksLength, at: 72)
    bytes.storeLittleEndian(filterLength, at: 80)
    bytes.storeLittleEndian(fencesLength, at: 88)
    bytes.storeLittleEndian(filterChecksum, at: 96)
    bytes.storeLittleEndian(fencesChecksum, at: 100)
    bytes.storeLittleEndian(idCount, at: 104)
    bytes.storeLittleEndian(fingerprintsChecksum, at: 112)
    bytes.storeLittleEndian(leastTime, at: 116)
    bytes.storeLittleEndian(UnsafeRawBufferPointer(bytes).prefixChecksum(124), at: 124)
  }
}

extension IndexTrailer {
  /// Nil if the bytes are not a trailer of this version, or its parts do not fill a file of that length.
  init?(decoding bytes: UnsafeRawBufferPointer, fileLength: UInt64) {
    guard bytes.count == IndexFormat.trailerLength,
      bytes.littleEndian(at: 0) == IndexFormat.magic,
      bytes.littleEndian(at: 8) == IndexFormat.version,
      bytes.littleEndian(at: 12) == UInt32(IndexFormat.trailerLength),
      bytes.littleEndian(at: 124) == bytes.prefixChecksum(124)
    else { return nil }
    identity = IndexIdentity(
      store: StoreID(at: bytes.baseAddress! + 16),
      firstSequence: bytes.littleEndian(at: 32),
      lastSequence: bytes.littleEndian(at: 40),
      chain: bytes.littleEndian(at: 48)
    )
    entryCount = bytes.littleEndian(at: 56)
    chunkCount = bytes.littleEndian(at: 64)
    chunksLength = bytes.littleEndian(at: 72)
    filterLength = bytes.littleEndian(at: 80)
    fencesLength = bytes.littleEndian(at: 88)
    filterChecksum = bytes.littleEndian(at: 96)
    fencesChecksum = bytes.littleEndian(at: 100)
    idCount = bytes.littleEndian(at: 104)
    fingerprintsChecksum = bytes.littleEndian(at: 112)
    leastTime = bytes.littleEndian(at: 116)
    guard partsFill(fileLength) else { return nil }
  }

  /// How the ids' parts are laid out. Only after the number of ids was compared with the file's length.
  var ids: IDLayout { IDLayout(count: Int(idCount), identity: identity) }

  var fingerprintsOffset: UInt64 { chunksLength + UInt64(ids.placesLength) }
  var filterOffset: UInt64 { fingerprintsOffset + UInt64(ids.fingerprintsLength) }
  var fencesOffset: UInt64 { filterOffset + filterLength }

  /// Whether the parts fill the file up to the trailer, so that none of the lengths can request more memory than the
  /// file has bytes.
  private func partsFill(_ fileLength: UInt64) -> Bool {
    guard fileLength >= UInt64(IndexFormat.trailerLength), identity.firstSequence <= identity.lastSequence,
      idCount <= fileLength / 2, identity.lastSequence - identity.firstSequence <= UInt64(UInt32.max)
    else { return false }
    var left = fileLength - UInt64(IndexFormat.trailerLength)
    let ids = [UInt64(ids.placesLength), UInt64(ids.fingerprintsLength)]
    for length in [chunksLength, filterLength, fencesLength] + ids {
      guard length <= left else { return false }
      left -= length
    }
    guard left == 0,
      entryCount <= chunksLength / UInt64(IndexFormat.entryLengthMin),
      entryCount <= UInt64(Int.max) / 16,
      chunkCount <= entryCount,
      chunkCount <= fencesLength / UInt64(IndexFormat.fenceLength)
    else { return false }
    return filterLength == UInt64(KeyFilter.length(forKeys: Int(entryCount)))
  }
}

/// The record of one chunk.
struct IndexFence {
  var offset: UInt64
  /// The offset of the first key among the keys after the records.
  var keyOffset: UInt64
  var length: UInt32
  var keyLength: UInt32
  var checksum: UInt32
  var entryCount: UInt32

  init(
    offset: UInt64, keyOffset: UInt64, length: UInt32, keyLength: UInt32, checksum: UInt32, entryCount: UInt32
  ) {
    self.offset = offset
    self.keyOffset = keyOffset
    self.length = length
    self.keyLength = keyLength
    self.checksum = checksum
    self.entryCount = entryCount
  }

  @inline(__always)
  init(decoding bytes: UnsafeRawBufferPointer, at place: Int) {
    offset = bytes.littleEndian(at: place)
    keyOffset = bytes.littleEndian(at: place + 8)
    length = bytes.littleEndian(at: place + 16)
    keyLength = bytes.littleEndian(at: place + 20)
    checksum = bytes.littleEndian(at: place + 24)
    entryCount = bytes.littleEndian(at: place + 28)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendLittleEndian(offset)
    bytes.appendLittleEndian(keyOffset)
    bytes.appendLittleEndian(length)
    bytes.appendLittleEndian(keyLength)
    bytes.appendLittleEndian(checksum)
    bytes.appendLittleEndian(entryCount)
  }
}
