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
    let room = max(payload.count, Compression.bound(payload.count))
    let body = UnsafeMutableRawBufferPointer(
      start: reserve(BlockHeader.length + room + FormatLimits.alignment) + BlockHeader.length, count: room)
    append(
      &header, payload, stored: Compression.compress(payload, into: body, effort), padsToPages: padsToPages)
  }

  /// Appends a block whose payload was compressed in parts.
  mutating func append(
    block header: inout BlockHeader, payload: UnsafeRawBufferPointer, _ parts: ArraySlice<CompressedPart>,
    padsToPages: Bool
  ) {
    let room = max(payload.count, parts.reduce(0) { $0 + $1.bytes.count })
    let body = UnsafeMutableRawBufferPointer(
      start: reserve(BlockHeader.length + room + FormatLimits.alignment) + BlockHeader.length, count: room)
    append(
      &header, payload, stored: Compression.join(parts, of: payload.count, into: body),
      padsToPages: padsToPages)
  }

  /// Appends a block whose compressed payload is in its place already, if it was compressed. There is room for all of it.
  private mutating func append(
    _ header: inout BlockHeader, _ payload: UnsafeRawBufferPointer, stored: Int?, padsToPages: Bool
  ) {
    let start = count
    let target = base + start
    let body = target + BlockHeader.length
    if let stored {
      header.codec = BlockCodec.lz4
      header.storedLength = UInt32(stored)
    } else {
      header.codec = BlockCodec.none
      if let first = payload.baseAddress { body.copyMemory(from: first, byteCount: payload.count) }
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
      UnsafeRawBufferPointer(start: body, count: Int(header.storedLength)))
    header.write(to: target)
    count = start + used
    pad(to: start + Int(header.span))
    assert(count == start + Int(header.span), "a block takes up its span")
  }
}
