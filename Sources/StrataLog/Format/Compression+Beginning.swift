// The beginning of what a raw LZ4 block decodes to.

internal import CLZ4

extension Compression {
  /// Decodes the beginning of a block, which must fill `target`. False if the bytes are not a block that begins so.
  package static func decompress(
    _ stored: UnsafeRawBufferPointer, beginningInto target: UnsafeMutableRawBufferPointer
  ) -> Bool {
    guard let source = stored.baseAddress, let destination = target.baseAddress,
      let storedCount = Int32(exactly: stored.count), let count = Int32(exactly: target.count)
    else { return target.isEmpty }
    let decoded = LZ4_decompress_safe_partial(
      source.assumingMemoryBound(to: CChar.self), destination.assumingMemoryBound(to: CChar.self),
      storedCount, count, count)
    assert(decoded <= count, "LZ4 writes at most the room that it was given")
    return decoded == count
  }
}
