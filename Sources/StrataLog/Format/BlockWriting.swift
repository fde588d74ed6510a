// Encodes a block: header, stored payload, zeros.

internal import StrataBase

extension RawBuffer {
  /// Appends a block. Sets the lengths, the codec, the checksums and the span of the header; the caller has set the
  /// rest.
  ///
  /// - Parameter padsToPages: whether the block ends at a multiple of 4,096 bytes of the segment, not of 8. This
  ///   applies to every block and not only to the last of a group, because a torn tail may be cut after any block, and
  ///   what is written next must share no sector with that block.
  package mutating func append(
    block header: inout BlockHeader, payload: UnsafeRawBufferPointer, _ effort: Compression.Effort,
    padsToPages: Bool = false
  ) {
    let start = count
    let room = max(payload.count, Compression.bound(payload.count))
    let target = reserve(BlockHeader.length + room + FormatLimits.alignment)
    let body = UnsafeMutableRawBufferPointer(start: target + BlockHeader.length, count: room)
    if let stored = Compression.compress(payload, into: body, effort) {
      header.codec = BlockCodec.lz4
      header.storedLength = UInt32(stored)
    } else {
      header.codec = BlockCodec.none
      body.copyMemory(from: payload)
      header.storedLength = UInt32(payload.count)
    }
    header.rawLength = UInt32(payload.count)
    let used = BlockHeader.length + Int(header.storedLength)
    let end = header.ownOffset + UInt64(used)
    header.span =
      padsToPages
      ? ((end + 4095) & ~4095) - header.ownOffset : UInt64(FormatLimits.aligned(used))
    assert(header.span >= UInt64(used), "a block's span covers its payload")
    header.payloadChecksum = CRC32C.of(
      UnsafeRawBufferPointer(start: body.baseAddress, count: Int(header.storedLength)))
    header.write(to: target)
    count = start + used
    pad(to: start + Int(header.span))
    assert(count == start + Int(header.span), "a block takes up its span")
  }
}
