// HEAD: what a writer promises, in two slots that are written alternately.

internal import StrataBase

/// A position after a block: its offset in the segment, and the last event before it with its chain.
package struct LogMark: Equatable, Sendable {
  package var offset: UInt64
  package var sequence: UInt64
  package var chain: UInt64

  package init(offset: UInt64, sequence: UInt64, chain: UInt64) {
    self.offset = offset
    self.sequence = sequence
    self.chain = chain
  }
}

/// One slot of HEAD.
package struct HeadSlot: Equatable, Sendable {
  package static let length = 512
  /// The offsets of the two slots, which are in different pages.
  package static let offsets = [0, 4096]
  package static let fileLength = 4096 + 512
  /// The generation below which a writer opens a store, so that it cannot run out of generations while the store is
  /// open.
  package static let generationLimit: UInt64 = .max - 1 << 48

  package enum Offset {
    package static let magic = 0
    package static let major = 8
    package static let minor = 10
    package static let slotLength = 12
    package static let storeID = 16
    package static let generation = 32
    package static let segment = 40
    package static let epoch = 48
    package static let flags = 56
    package static let durability = 60
    package static let visible = 64
    package static let durable = 88
    package static let lastTime = 112
    package static let logBegin = 120
    package static let checksum = 508
  }

  package static let magic = Array("STRATAHD".utf8)
  package static let cleanFlag: UInt32 = 1
  package static let erasingFlag: UInt32 = 2
  package static let extendingFlag: UInt32 = 4

  package var storeID: StoreID
  package var generation: UInt64
  package var segment: SegmentName
  package var epoch: UInt64
  package var isClean: Bool
  /// Whether an erasure may have begun that was not completed.
  package var isErasing = false
  /// Whether a backup adds blocks after the durable mark, which do not count before another HEAD names them.
  package var isExtending = false
  package var durability: UInt32
  package var visible: LogMark
  package var durable: LogMark
  package var lastTime: Int64
  package var logBegin: UInt64

  package init(
    storeID: StoreID, generation: UInt64, segment: SegmentName, epoch: UInt64, isClean: Bool,
    durability: UInt32,
    visible: LogMark, durable: LogMark, lastTime: Int64, logBegin: UInt64, isErasing: Bool = false
  ) {
    self.storeID = storeID
    self.generation = generation
    self.segment = segment
    self.epoch = epoch
    self.isClean = isClean
    self.isErasing = isErasing
    self.durability = durability
    self.visible = visible
    self.durable = durable
    self.lastTime = lastTime
    self.logBegin = logBegin
  }
}

extension HeadSlot {
  package func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      buffer.copyBytes(from: Self.magic)
      base.setLittleEndian(FormatLimits.major, at: Offset.major)
      base.setLittleEndian(FormatLimits.minor, at: Offset.minor)
      base.setLittleEndian(UInt32(Self.length), at: Offset.slotLength)
      storeID.write(to: base + Offset.storeID)
      base.setLittleEndian(generation, at: Offset.generation)
      base.setLittleEndian(segment.firstSequence, at: Offset.segment)
      base.setLittleEndian(epoch, at: Offset.epoch)
      let flags =
        (isClean ? Self.cleanFlag : 0) | (isErasing ? Self.erasingFlag : 0)
        | (isExtending ? Self.extendingFlag : 0)
      base.setLittleEndian(flags, at: Offset.flags)
      base.setLittleEndian(durability, at: Offset.durability)
      visible.write(to: base + Offset.visible)
      durable.write(to: base + Offset.durable)
      base.setLittleEndian(lastTime, at: Offset.lastTime)
      base.setLittleEndian(logBegin, at: Offset.logBegin)
      let crc = CRC32C.of(UnsafeRawBufferPointer(start: base, count: Offset.checksum))
      base.setLittleEndian(crc, at: Offset.checksum)
    }
    return bytes
  }

  /// Reads a valid slot; nil for anything else.
  package init?(decoding bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.length, let base = bytes.baseAddress,
      bytes.prefix(8).elementsEqual(Self.magic),
      base.littleEndian(UInt16.self, at: Offset.major) == FormatLimits.major,
      base.littleEndian(UInt32.self, at: Offset.slotLength) == UInt32(Self.length)
    else { return nil }
    let crc = CRC32C.of(UnsafeRawBufferPointer(start: base, count: Offset.checksum))
    guard base.littleEndian(UInt32.self, at: Offset.checksum) == crc else { return nil }
    storeID = StoreID(at: base + Offset.storeID)
    generation = base.littleEndian(UInt64.self, at: Offset.generation)
    segment = SegmentName(base.littleEndian(UInt64.self, at: Offset.segment))
    epoch = base.littleEndian(UInt64.self, at: Offset.epoch)
    let flags = base.littleEndian(UInt32.self, at: Offset.flags)
    isClean = flags & Self.cleanFlag != 0
    isErasing = flags & Self.erasingFlag != 0
    isExtending = flags & Self.extendingFlag != 0
    durability = base.littleEndian(UInt32.self, at: Offset.durability)
    visible = LogMark(at: UnsafeRawPointer(base) + Offset.visible)
    durable = LogMark(at: UnsafeRawPointer(base) + Offset.durable)
    lastTime = base.littleEndian(Int64.self, at: Offset.lastTime)
    logBegin = base.littleEndian(UInt64.self, at: Offset.logBegin)
  }

  /// The newest valid slot of a whole HEAD file, or nil if there is none.
  package static func newest(in bytes: UnsafeRawBufferPointer) -> HeadSlot? {
    var newest: HeadSlot?
    for offset in offsets where bytes.count >= offset + length {
      guard let slot = HeadSlot(decoding: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length]))
      else { continue }
      if newest.map({ slot.generation > $0.generation }) ?? true { newest = slot }
    }
    return newest
  }
}

extension HeadSlot {
  /// The length of a segment's file that counts, of this many bytes: what a backup adds to it is not part of the log.
  package func length(of segment: SegmentHeader, fileSize: UInt64) -> UInt64 {
    guard isExtending, self.segment == segment.segment, !segment.isRewritten else { return fileSize }
    return min(fileSize, durable.offset)
  }
}

extension LogMark {
  fileprivate func write(to base: UnsafeMutableRawPointer) {
    base.setLittleEndian(offset, at: 0)
    base.setLittleEndian(sequence, at: 8)
    base.setLittleEndian(chain, at: 16)
  }

  fileprivate init(at base: UnsafeRawPointer) {
    offset = base.littleEndian(UInt64.self, at: 0)
    sequence = base.littleEndian(UInt64.self, at: 8)
    chain = base.littleEndian(UInt64.self, at: 16)
  }
}
