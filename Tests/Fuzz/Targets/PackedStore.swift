// Segments and HEAD in few bytes, as the corpus keeps them, and checksums that are made to hold.

internal import StrataBase
internal import StrataLog

/// What a fuzzer cannot guess, a checksum above all, is made right here, so that mutations reach the code behind it.
enum PackedStore {
  /// The bytes of a segment header up to its reserved end, and those of a slot of HEAD.
  static let headerFront = 160
  static let slotFront = 128

  /// A segment header from its front: zeros up to the checksum, which holds.
  static func segmentHeader(_ front: [UInt8]) -> [UInt8] {
    var bytes = front + Array(repeating: 0, count: SegmentHeader.length - front.count)
    setChecksum(of: 0..<SegmentHeader.Offset.checksum, at: SegmentHeader.Offset.checksum, in: &bytes)
    return bytes
  }

  /// A slot of HEAD from its front.
  static func slot(_ front: [UInt8]) -> [UInt8] {
    var bytes = front + Array(repeating: 0, count: HeadSlot.length - front.count)
    setChecksum(of: 0..<HeadSlot.Offset.checksum, at: HeadSlot.Offset.checksum, in: &bytes)
    return bytes
  }

  private static func setChecksum(of range: Range<Int>, at place: Int, in bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { buffer in
      let crc = CRC32C.of(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[range]))
      buffer.baseAddress!.setLittleEndian(crc, at: place)
    }
  }

  /// Makes the checksums of the block at `offset` hold, as far as its lengths lead nowhere else. Returns its header, or
  /// nil where none can stand there.
  @discardableResult
  static func repairChecksums(at offset: Int, in bytes: inout [UInt8]) -> BlockHeader? {
    let room = bytes.count - offset
    guard room >= BlockHeader.length else { return nil }
    return bytes.withUnsafeMutableBytes { buffer -> BlockHeader? in
      let base = buffer.baseAddress! + offset
      let read = UnsafeRawPointer(base)
      let length = Int(read.littleEndian(UInt16.self, at: BlockHeader.Offset.headerLength))
      guard length >= BlockHeader.length, length <= min(room, BlockHeader.lengthMax) else { return nil }
      let stored = Int(read.littleEndian(UInt32.self, at: BlockHeader.Offset.storedLength))
      if stored <= room - length {
        let crc = CRC32C.of(UnsafeRawBufferPointer(start: base + length, count: stored))
        base.setLittleEndian(crc, at: BlockHeader.Offset.payloadChecksum)
      }
      let header = UnsafeRawBufferPointer(start: base, count: length)
      base.setLittleEndian(
        CRC32C.of(header, zeroing: BlockHeader.Offset.headerChecksum), at: BlockHeader.Offset.headerChecksum)
      return BlockHeader(decoding: header)
    }
  }

  /// The header of an empty block of events, to be changed.
  static let plainHeader: BlockHeader = {
    var bytes = BlockHeader.magic + Array(repeating: 0, count: BlockHeader.length - BlockHeader.magic.count)
    bytes[BlockHeader.Offset.headerLength] = UInt8(BlockHeader.length)
    bytes[BlockHeader.Offset.kind] = BlockKind.events
    guard let header = repairChecksums(at: 0, in: &bytes) else {
      preconditionFailure("a header whose checksum holds is a header")
    }
    return header
  }()

  /// Makes the block at `offset` say that it stands there and continues `link`. Its content is left alone.
  static func relink(_ link: BlockLink, _ segment: SegmentHeader, in bytes: inout [UInt8]) {
    let offset = Int(link.offset)
    guard bytes.count - offset >= BlockHeader.length else { return }
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress! + offset
      base.setLittleEndian(link.offset, at: BlockHeader.Offset.ownOffset)
      base.setLittleEndian(link.nextSequence, at: BlockHeader.Offset.firstSequence)
      base.setLittleEndian(link.appends, at: BlockHeader.Offset.appendsBefore)
      base.setLittleEndian(segment.firstSequence, at: BlockHeader.Offset.segment)
      segment.storeID.write(to: base + BlockHeader.Offset.storeID)
      base.setLittleEndian(link.chain, at: BlockHeader.Offset.chainBefore)
    }
  }
}
