// What a member says of itself in a carrier: how far its store is, and what it has erased.

internal import StrataBase
package import StrataLog

/// The 80-byte note of a member.
package struct MemberNote: Equatable, Sendable {
  package enum Part: UInt8, Sendable {
    case writer = 1
    case follower = 2
  }

  package var part: Part
  package var storeID: StoreID
  package var member: StoreID
  /// The last sequence that the member has on disk, and the chain after it.
  package var sequence: UInt64
  package var chain: UInt64
  /// Every order to erase up to this sequence was carried out in the member's store.
  package var erasedThrough: UInt64
  /// When the note was written, by the member's clock; for people.
  package var time: Int64

  package init(
    _ part: Part, of storeID: StoreID, member: StoreID, sequence: UInt64, chain: UInt64,
    erasedThrough: UInt64, time: Int64
  ) {
    self.part = part
    self.storeID = storeID
    self.member = member
    self.sequence = sequence
    self.chain = chain
    self.erasedThrough = erasedThrough
    self.time = time
  }

  package static let magic = Array("STRM".utf8)
  package static let length = 80
  package enum Offset {
    package static let version = 4
    package static let part = 6
    package static let checksum = 8
    package static let storeID = 16
    package static let member = 32
    package static let sequence = 48
    package static let chain = 56
    package static let erasedThrough = 64
    package static let time = 72
  }

  package func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      base.copyMemory(from: Self.magic, byteCount: Self.magic.count)
      base.setLittleEndian(UInt16(1), at: Offset.version)
      base.setLittleEndian(part.rawValue, at: Offset.part)
      storeID.write(to: base + Offset.storeID)
      member.write(to: base + Offset.member)
      base.setLittleEndian(sequence, at: Offset.sequence)
      base.setLittleEndian(chain, at: Offset.chain)
      base.setLittleEndian(erasedThrough, at: Offset.erasedThrough)
      base.setLittleEndian(time, at: Offset.time)
      let crc = CRC32C.of(UnsafeRawBufferPointer(buffer), zeroing: Offset.checksum)
      base.setLittleEndian(crc, at: Offset.checksum)
    }
    return bytes
  }

  /// Decodes a note; nil for anything else, and for one of a version that is not known.
  package init?(decoding bytes: UnsafeRawBufferPointer) {
    guard bytes.count == Self.length, let base = bytes.baseAddress,
      bytes.prefix(Self.magic.count).elementsEqual(Self.magic),
      base.littleEndian(UInt32.self, at: Offset.checksum) == CRC32C.of(bytes, zeroing: Offset.checksum),
      base.littleEndian(UInt16.self, at: Offset.version) == 1,
      let part = Part(rawValue: base.littleEndian(UInt8.self, at: Offset.part))
    else { return nil }
    self.part = part
    storeID = StoreID(at: base + Offset.storeID)
    member = StoreID(at: base + Offset.member)
    sequence = base.littleEndian(UInt64.self, at: Offset.sequence)
    chain = base.littleEndian(UInt64.self, at: Offset.chain)
    erasedThrough = base.littleEndian(UInt64.self, at: Offset.erasedThrough)
    time = base.littleEndian(Int64.self, at: Offset.time)
  }
}
