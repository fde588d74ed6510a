// Raw LZ4 blocks, through the system's liblz4.

internal import CLZ4

/// One raw LZ4 block a payload, never chained.
package enum Compression {
  /// The most bytes that `count` bytes may compress to.
  package static func bound(_ count: Int) -> Int { Int(LZ4_compressBound(Int32(count))) }

  /// The most bytes that `stored` bytes of LZ4 can decode to; what a header claims is held against it before
  /// anything is allocated.
  package static func rawLengthMax(stored: Int) -> Int { 255 * stored + 64 }

  /// Compresses into `target` when that saves at least an eighth; nil means "store it as it is".
  package static func compress(
    _ raw: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
  ) -> Int? {
    let limit = min(target.count, raw.count - raw.count / 8)
    guard raw.count > 0, limit > 0 else { return nil }
    let written = LZ4_compress_default(
      raw.baseAddress!.assumingMemoryBound(to: CChar.self),
      target.baseAddress!.assumingMemoryBound(to: CChar.self), Int32(raw.count), Int32(limit))
    return written > 0 ? Int(written) : nil
  }

  /// Decodes a block that must fill `target` exactly. False where the bytes are no such block.
  package static func decompress(
    _ stored: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let source = stored.baseAddress, let destination = target.baseAddress else {
      return stored.isEmpty && target.isEmpty
    }
    guard let storedCount = Int32(exactly: stored.count), let count = Int32(exactly: target.count) else {
      return false
    }
    let decoded = LZ4_decompress_safe(
      source.assumingMemoryBound(to: CChar.self), destination.assumingMemoryBound(to: CChar.self),
      storedCount, count)
    return decoded == count
  }
}
