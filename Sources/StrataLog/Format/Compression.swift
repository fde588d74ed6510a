// Raw LZ4 blocks, through the system's liblz4.

internal import CLZ4

/// One raw LZ4 block a payload, never chained.
package enum Compression {
  /// The most bytes that `count` bytes may compress to.
  package static func bound(_ count: Int) -> Int { Int(LZ4_compressBound(Int32(count))) }

  /// The most bytes that `stored` bytes of LZ4 can decode to; what a header claims is held against it before
  /// anything is allocated.
  package static func rawLengthMax(stored: Int) -> Int { 255 * stored + 64 }

  /// How much work goes into making a payload small. What comes of it is decoded in the same way and as fast.
  package enum Effort {
    /// Stored as it is.
    case none
    /// For groups that somebody waits for: about 1 GB/s.
    case fast
    /// For segments that are rewritten: a tenth of the speed, and a fifth smaller.
    case high
  }

  /// Level 4 of LZ4's high compression: level 9 takes twice as long and gains a hundredth.
  private static let highLevel: Int32 = 4

  /// Compresses into `target` when that saves at least an eighth; nil means "store it as it is".
  package static func compress(
    _ raw: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, _ effort: Effort = .fast
  ) -> Int? {
    let limit = min(target.count, raw.count - raw.count / 8)
    guard raw.count > 0, limit > 0 else { return nil }
    let source = raw.baseAddress!.assumingMemoryBound(to: CChar.self)
    let place = target.baseAddress!.assumingMemoryBound(to: CChar.self)
    let written =
      switch effort {
      case .none: Int32(0)
      case .fast: LZ4_compress_default(source, place, Int32(raw.count), Int32(limit))
      case .high: LZ4_compress_HC(source, place, Int32(raw.count), Int32(limit), highLevel)
      }
    assert(Int(written) <= limit, "LZ4 writes no more than it has room for")
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
    assert(decoded <= count, "LZ4 writes no more than it has room for")
    return decoded == count
  }
}
