// The 128-byte header at the start of every object in a carrier.

internal import StrataBase
package import StrataLog

/// An object's description of itself: what it holds, what it continues, and who put it there.
///
/// It has the fields of a block that are the same on every machine. Where a block is in which segment, in which epoch it
/// was written and what was synced before it are each member's own.
package struct WireHeader: Equatable, Sendable {
  package static let length = 128
  package static let lengthMax = 4096

  /// The offset of each field, in bytes from the start of the object.
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
    package static let storeID = 40
    package static let writer = 56
    package static let number = 72
    package static let firstSequence = 80
    package static let appendsBefore = 88
    package static let firstTime = 96
    package static let lastTime = 104
    package static let chainBefore = 112
    package static let chainAfter = 120
  }

  package static let magic = Array("STRW".utf8)
  /// The flag bits that a reader must know: it must refuse an object with one that it does not know.
  package static let refusedFlags: UInt32 = 0xFFFF

  package var headerLength = UInt16(Self.length)
  package var kind: UInt8
  package var codec: UInt8 = BlockCodec.none
  package var flags: UInt32 = 0
  package var storedLength: UInt32 = 0
  package var rawLength: UInt32 = 0
  package var payloadChecksum: UInt32 = 0
  package var eventCount: UInt32 = 0
  package var appendCount: UInt32 = 0
  package var storeID: StoreID
  /// The member that put the object there.
  package var writer: StoreID
  /// The object's number in its carrier, from 1.
  package var number: UInt64
  /// The sequence of its first event; of the next one if it holds none.
  package var firstSequence: UInt64
  package var appendsBefore: UInt64
  package var firstTime = FormatLimits.noTime
  package var lastTime = FormatLimits.noTime
  package var chainBefore: UInt64
  package var chainAfter: UInt64

  /// The sequence of the last event up to its end.
  package var lastSequence: UInt64 { firstSequence &- 1 &+ UInt64(eventCount) }
}

/// The kinds of objects.
package enum WireKind {
  package static let events: UInt8 = 1
  /// Says that another member writes from now on. Holds no event.
  package static let takeover: UInt8 = 2
}

extension WireHeader {
  /// Writes 128 bytes, with the checksum of the header last.
  package func write(to base: UnsafeMutableRawPointer) {
    base.initializeMemory(as: UInt8.self, repeating: 0, count: Self.length)
    base.copyMemory(from: Self.magic, byteCount: Self.magic.count)
    base.setLittleEndian(headerLength, at: Offset.headerLength)
    base.setLittleEndian(kind, at: Offset.kind)
    base.setLittleEndian(codec, at: Offset.codec)
    base.setLittleEndian(flags, at: Offset.flags)
    base.setLittleEndian(storedLength, at: Offset.storedLength)
    base.setLittleEndian(rawLength, at: Offset.rawLength)
    base.setLittleEndian(payloadChecksum, at: Offset.payloadChecksum)
    base.setLittleEndian(eventCount, at: Offset.eventCount)
    base.setLittleEndian(appendCount, at: Offset.appendCount)
    storeID.write(to: base + Offset.storeID)
    writer.write(to: base + Offset.writer)
    base.setLittleEndian(number, at: Offset.number)
    base.setLittleEndian(firstSequence, at: Offset.firstSequence)
    base.setLittleEndian(appendsBefore, at: Offset.appendsBefore)
    base.setLittleEndian(firstTime, at: Offset.firstTime)
    base.setLittleEndian(lastTime, at: Offset.lastTime)
    base.setLittleEndian(chainBefore, at: Offset.chainBefore)
    base.setLittleEndian(chainAfter, at: Offset.chainAfter)
    let bytes = UnsafeRawBufferPointer(start: base, count: Self.length)
    base.setLittleEndian(
      CRC32C.of(bytes, zeroing: Offset.headerChecksum), at: Offset.headerChecksum)
  }

  /// Reads a header whose own checksum is valid; nil for anything else. None of its fields has been compared with what
  /// the reader expects yet.
  package init?(decoding bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.length, let base = bytes.baseAddress,
      bytes.prefix(Self.magic.count).elementsEqual(Self.magic)
    else { return nil }
    let headerLength = base.littleEndian(UInt16.self, at: Offset.headerLength)
    guard headerLength >= Self.length, headerLength <= Self.lengthMax, Int(headerLength) <= bytes.count,
      base.littleEndian(UInt32.self, at: Offset.headerChecksum)
        == CRC32C.of(
          UnsafeRawBufferPointer(rebasing: bytes[..<Int(headerLength)]), zeroing: Offset.headerChecksum)
    else { return nil }
    self.headerLength = headerLength
    kind = base.littleEndian(UInt8.self, at: Offset.kind)
    codec = base.littleEndian(UInt8.self, at: Offset.codec)
    flags = base.littleEndian(UInt32.self, at: Offset.flags)
    storedLength = base.littleEndian(UInt32.self, at: Offset.storedLength)
    rawLength = base.littleEndian(UInt32.self, at: Offset.rawLength)
    payloadChecksum = base.littleEndian(UInt32.self, at: Offset.payloadChecksum)
    eventCount = base.littleEndian(UInt32.self, at: Offset.eventCount)
    appendCount = base.littleEndian(UInt32.self, at: Offset.appendCount)
    storeID = StoreID(at: base + Offset.storeID)
    writer = StoreID(at: base + Offset.writer)
    number = base.littleEndian(UInt64.self, at: Offset.number)
    firstSequence = base.littleEndian(UInt64.self, at: Offset.firstSequence)
    appendsBefore = base.littleEndian(UInt64.self, at: Offset.appendsBefore)
    firstTime = base.littleEndian(Int64.self, at: Offset.firstTime)
    lastTime = base.littleEndian(Int64.self, at: Offset.lastTime)
    chainBefore = base.littleEndian(UInt64.self, at: Offset.chainBefore)
    chainAfter = base.littleEndian(UInt64.self, at: Offset.chainAfter)
  }

  /// Whether the counts are possible, and a takeover holds nothing.
  var isConsistent: Bool {
    guard firstSequence > 0, firstSequence.addingReportingOverflow(UInt64(eventCount)).overflow == false,
      appendsBefore.addingReportingOverflow(UInt64(appendCount)).overflow == false
    else { return false }
    if kind == WireKind.events { return appendCount > 0 && appendCount <= eventCount }
    return eventCount == 0 && appendCount == 0 && rawLength == 0 && storedLength == 0
      && codec == BlockCodec.none && payloadChecksum == 0 && firstTime == lastTime
      && chainBefore == chainAfter
  }

  /// What in a valid header this version does not know and may not skip, or nil.
  var unsupported: String? {
    if kind != WireKind.events, kind != WireKind.takeover { return "object kind \(kind)" }
    if codec > BlockCodec.lz4 { return "payload codec \(codec)" }
    if flags & Self.refusedFlags != 0 { return "object flags \(flags & Self.refusedFlags)" }
    return nil
  }

  /// The header that a block of the log with this object's payload has, as far as a payload is checked by it.
  var block: BlockHeader {
    var block = BlockHeader.unplaced(
      after: firstSequence - 1, appendsBefore: appendsBefore, chainBefore: chainBefore,
      chainAfter: chainAfter,
      storeID: storeID)
    block.codec = codec
    block.storedLength = storedLength
    block.rawLength = rawLength
    block.eventCount = eventCount
    block.appendCount = appendCount
    block.firstTime = firstTime
    block.lastTime = lastTime
    return block
  }
}
