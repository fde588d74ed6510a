// The 176-byte header before every payload.

internal import StrataBase

/// A block's description of itself: its lengths, its position, what it continues.
package struct BlockHeader: Equatable, Sendable {
  package static let length = 176
  package static let lengthMax = 4096

  /// The offset of each field, in bytes from the start of the block.
  package enum Offset {
    package static let magic = 0
    package static let headerLength = 4
    package static let kind = 6
    package static let codec = 7
    package static let flags = 8
    package static let headerChecksum = 12
    package static let storedLength = 16
    package static let rawLength = 20
    package static let payloadChecksum = 24
    package static let eventCount = 28
    package static let appendCount = 32
    package static let span = 40
    package static let ownOffset = 48
    package static let firstSequence = 56
    package static let appendsBefore = 64
    package static let segment = 72
    package static let storeID = 80
    package static let epoch = 96
    package static let syncedThrough = 104
    package static let firstTime = 112
    package static let lastTime = 120
    package static let chainBefore = 128
    package static let chainAfter = 136
    package static let reserved = 144
  }

  package static let magic = Array("STRB".utf8)
  /// The flag bits that a reader must know: it must refuse a block with one that it does not know.
  package static let refusedFlags: UInt32 = 0xFFFF

  package var headerLength: UInt16 = UInt16(Self.length)
  package var kind: UInt8
  package var codec: UInt8 = BlockCodec.none
  package var flags: UInt32 = 0
  package var storedLength: UInt32 = 0
  package var rawLength: UInt32 = 0
  package var payloadChecksum: UInt32 = 0
  package var eventCount: UInt32 = 0
  package var appendCount: UInt32 = 0
  package var span: UInt64 = 0
  package var ownOffset: UInt64
  package var firstSequence: UInt64
  package var appendsBefore: UInt64
  package var segment: SegmentName
  package var storeID: StoreID
  package var epoch: UInt64
  package var syncedThrough: UInt64
  package var firstTime: Int64 = FormatLimits.noTime
  package var lastTime: Int64 = FormatLimits.noTime
  package var chainBefore: UInt64
  package var chainAfter: UInt64

  /// The offset of the next block.
  package var end: UInt64 { ownOffset &+ span }
  /// The sequence of the first event after this block.
  package var nextSequence: UInt64 { firstSequence &+ UInt64(eventCount) }
  package var isControl: Bool { kind != BlockKind.events }
}

/// The kinds of blocks.
package enum BlockKind {
  package static let events: UInt8 = 1
  package static let recovery: UInt8 = 2
  package static let footer: UInt8 = 3
  /// Kinds from here on may be skipped by a reader that does not know them.
  package static let firstSkippable: UInt8 = 128
}

/// How a payload is stored.
package enum BlockCodec {
  package static let none: UInt8 = 0
  package static let lz4: UInt8 = 1
}

extension BlockHeader {
  /// The header of a block that is not in a segment, as far as its payload is checked by it.
  package static func unplaced(
    after sequence: UInt64, appendsBefore: UInt64, chainBefore: UInt64, chainAfter: UInt64, storeID: StoreID
  ) -> BlockHeader {
    BlockHeader(
      kind: BlockKind.events, ownOffset: 0, firstSequence: sequence + 1, appendsBefore: appendsBefore,
      segment: SegmentName(1), storeID: storeID, epoch: 0, syncedThrough: 0, chainBefore: chainBefore,
      chainAfter: chainAfter)
  }

  /// Writes 176 bytes, with the checksum of the header last.
  package func write(to base: UnsafeMutableRawPointer) {
    base.initializeMemory(as: UInt8.self, repeating: 0, count: Self.length)
    base.copyMemory(from: Self.magic, byteCount: 4)
    base.setLittleEndian(headerLength, at: Offset.headerLength)
    base.setLittleEndian(kind, at: Offset.kind)
    base.setLittleEndian(codec, at: Offset.codec)
    base.setLittleEndian(flags, at: Offset.flags)
    base.setLittleEndian(storedLength, at: Offset.storedLength)
    base.setLittleEndian(rawLength, at: Offset.rawLength)
    base.setLittleEndian(payloadChecksum, at: Offset.payloadChecksum)
    base.setLittleEndian(eventCount, at: Offset.eventCount)
    base.setLittleEndian(appendCount, at: Offset.appendCount)
    base.setLittleEndian(span, at: Offset.span)
    base.setLittleEndian(ownOffset, at: Offset.ownOffset)
    base.setLittleEndian(firstSequence, at: Offset.firstSequence)
    base.setLittleEndian(appendsBefore, at: Offset.appendsBefore)
    base.setLittleEndian(segment.firstSequence, at: Offset.segment)
    storeID.write(to: base + Offset.storeID)
    base.setLittleEndian(epoch, at: Offset.epoch)
    base.setLittleEndian(syncedThrough, at: Offset.syncedThrough)
    base.setLittleEndian(firstTime, at: Offset.firstTime)
    base.setLittleEndian(lastTime, at: Offset.lastTime)
    base.setLittleEndian(chainBefore, at: Offset.chainBefore)
    base.setLittleEndian(chainAfter, at: Offset.chainAfter)
    let crc = CRC32C.of(
      UnsafeRawBufferPointer(start: base, count: Self.length), zeroing: Offset.headerChecksum)
    base.setLittleEndian(crc, at: Offset.headerChecksum)
  }

  /// Reads a header whose own checksum is valid; nil for anything else. Its fields are as they were written, but none
  /// has been compared with the block's position yet.
  package init?(decoding bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.length, let base = bytes.baseAddress,
      bytes.prefix(4).elementsEqual(Self.magic)
    else { return nil }
    let headerLength = base.littleEndian(UInt16.self, at: Offset.headerLength)
    guard headerLength >= Self.length, headerLength <= Self.lengthMax, headerLength % 8 == 0,
      Int(headerLength) <= bytes.count
    else { return nil }
    let crc = CRC32C.of(
      UnsafeRawBufferPointer(start: base, count: Int(headerLength)), zeroing: Offset.headerChecksum)
    guard base.littleEndian(UInt32.self, at: Offset.headerChecksum) == crc else { return nil }
    self.headerLength = headerLength
    kind = base.littleEndian(UInt8.self, at: Offset.kind)
    codec = base.littleEndian(UInt8.self, at: Offset.codec)
    flags = base.littleEndian(UInt32.self, at: Offset.flags)
    storedLength = base.littleEndian(UInt32.self, at: Offset.storedLength)
    rawLength = base.littleEndian(UInt32.self, at: Offset.rawLength)
    payloadChecksum = base.littleEndian(UInt32.self, at: Offset.payloadChecksum)
    eventCount = base.littleEndian(UInt32.self, at: Offset.eventCount)
    appendCount = base.littleEndian(UInt32.self, at: Offset.appendCount)
    span = base.littleEndian(UInt64.self, at: Offset.span)
    ownOffset = base.littleEndian(UInt64.self, at: Offset.ownOffset)
    firstSequence = base.littleEndian(UInt64.self, at: Offset.firstSequence)
    appendsBefore = base.littleEndian(UInt64.self, at: Offset.appendsBefore)
    segment = SegmentName(base.littleEndian(UInt64.self, at: Offset.segment))
    storeID = StoreID(at: base + Offset.storeID)
    epoch = base.littleEndian(UInt64.self, at: Offset.epoch)
    syncedThrough = base.littleEndian(UInt64.self, at: Offset.syncedThrough)
    firstTime = base.littleEndian(Int64.self, at: Offset.firstTime)
    lastTime = base.littleEndian(Int64.self, at: Offset.lastTime)
    chainBefore = base.littleEndian(UInt64.self, at: Offset.chainBefore)
    chainAfter = base.littleEndian(UInt64.self, at: Offset.chainAfter)
  }
}
