// The fences of an index file: each chunk's offset, checksum and first key.

internal import StrataBase

/// The fence table as it is in the file, checked once so that every later access stays within it.
struct IndexFences: Sendable {
  let count: Int
  private let bytes: FileBytes

  /// Nil unless the bytes are a fence table that agrees with the trailer: its checksum matches, chunks are contiguous
  /// from the beginning of the file to the end of the chunks, keys are contiguous and ascending, and the entry counts add up.
  init?(_ file: any File, _ trailer: IndexTrailer) throws(StoreError) {
    count = Int(trailer.chunkCount)
    guard
      let bytes = try FileBytes(file, at: trailer.fencesOffset, count: Int(trailer.fencesLength))
    else { return nil }
    self.bytes = bytes
    guard bytes.withBytes({ $0.checksum() }) == trailer.fencesChecksum, agrees(with: trailer) else {
      return nil
    }
  }

  var byteCount: Int { bytes.count }

  subscript(_ index: Int) -> IndexFence {
    assert((0..<count).contains(index), "a file has a fence for each of its chunks")
    return bytes.withBytes { IndexFence(decoding: $0, at: index * IndexFormat.fenceLength) }
  }

  /// Runs the body with the first key of a chunk.
  @inline(__always)
  func withKey<Result>(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    assert((0..<count).contains(index), "a file has a fence for each of its chunks")
    return bytes.withBytes { body(key($0, IndexFence(decoding: $0, at: index * IndexFormat.fenceLength))) }
  }

  /// The only chunk that can hold a key: the last one whose first key is not greater. Nil if the key precedes all
  /// chunks. O(log chunks).
  func chunk(holding key: UnsafeRawBufferPointer) -> Int? {
    bytes.withBytes { bytes in
      var low = 0
      var high = count
      while low < high {
        let middle = (low + high) / 2
        let fence = IndexFence(decoding: bytes, at: middle * IndexFormat.fenceLength)
        if self.key(bytes, fence).order(against: key) <= 0 { low = middle + 1 } else { high = middle }
      }
      return low == 0 ? nil : low - 1
    }
  }

  @inline(__always)
  private func key(_ bytes: UnsafeRawBufferPointer, _ fence: IndexFence) -> UnsafeRawBufferPointer {
    let start = count * IndexFormat.fenceLength + Int(fence.keyOffset)
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(fence.keyLength)])
  }

  private func agrees(with trailer: IndexTrailer) -> Bool {
    bytes.withBytes { bytes in
      let keyBytes = UInt64(bytes.count - count * IndexFormat.fenceLength)
      var chunksEnd: UInt64 = 0
      var keysEnd: UInt64 = 0
      var entries: UInt64 = 0
      var before: UnsafeRawBufferPointer?
      for index in 0..<count {
        let fence = IndexFence(decoding: bytes, at: index * IndexFormat.fenceLength)
        guard fence.offset == chunksEnd, fence.keyOffset == keysEnd, fence.entryCount > 0,
          UInt64(fence.keyLength) <= keyBytes - keysEnd,
          UInt64(fence.length) <= trailer.chunksLength - chunksEnd
        else { return false }
        let key = key(bytes, fence)
        if let before, before.order(against: key) >= 0 { return false }
        before = key
        chunksEnd += UInt64(fence.length)
        keysEnd += UInt64(fence.keyLength)
        entries += UInt64(fence.entryCount)
      }
      return chunksEnd == trailer.chunksLength && keysEnd == keyBytes && entries == trailer.entryCount
    }
  }
}
