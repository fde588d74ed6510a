// Raw LZ4 blocks, through the system's liblz4.

internal import CLZ4

/// LZ4 compression of payloads: one raw block for each, never chained.
package enum Compression {
  /// The most bytes that `count` bytes may compress to.
  package static func bound(_ count: Int) -> Int { Int(LZ4_compressBound(Int32(count))) }

  /// The most bytes that `stored` bytes of LZ4 can decode to; a header's claim is compared with it before anything is
  /// allocated.
  package static func rawLengthMax(stored: Int) -> Int { 255 * stored + 64 }

  /// How much effort goes into compression. Every result is decoded in the same way and equally fast.
  package enum Effort {
    /// Stored as it is.
    case none
    /// For groups, whose callers wait: about 1 GB/s.
    case fast
    /// For segments that are rewritten: a tenth of the speed, and a fifth smaller.
    case high
  }

  /// Level 4 of LZ4's high compression: level 9 takes twice as long and saves only another hundredth.
  private static let highLevel: Int32 = 4

  /// Compresses into `target` if that saves at least an eighth; nil means "store it as it is".
  ///
  /// What takes little effort is compressed in parts if it is long: see `CompressedPart`.
  package static func compress(
    _ raw: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer, _ effort: Effort = .fast
  ) -> Int? {
    if effort == .fast, CompressedPart.count(in: raw.count) > 1 {
      return compressParts(of: raw, into: target)
    }
    let limit = min(target.count, storedMax(of: raw.count))
    guard raw.count > 0, limit > 0 else { return nil }
    let source = raw.baseAddress!.assumingMemoryBound(to: CChar.self)
    let place = target.baseAddress!.assumingMemoryBound(to: CChar.self)
    let written =
      switch effort {
      case .none: Int32(0)
      case .fast: LZ4_compress_default(source, place, Int32(raw.count), Int32(limit))
      case .high: LZ4_compress_HC(source, place, Int32(raw.count), Int32(limit), highLevel)
      }
    assert(Int(written) <= limit, "LZ4 writes at most the room that it was given")
    return written > 0 ? Int(written) : nil
  }

  /// The most bytes to which these must be compressed; if they take more, they are stored as they are.
  static func storedMax(of count: Int) -> Int { count - count / 8 }

  /// Decodes a block that must fill `target` exactly. False if the bytes are not such a block.
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
    assert(decoded <= count, "LZ4 writes at most the room that it was given")
    return decoded == count
  }
}
