// The payloads of the control blocks: the note of a recovery, and the index of a rewritten segment.

internal import StrataBase

/// The payload of a RECOVERY block: which tail was cut off, and where it is kept.
package struct RecoveryNote: Equatable, Sendable {
  package static let fixedLength = 32
  package static let tornTail: UInt16 = 1

  package enum Offset {
    package static let cutOffset = 0
    package static let cutLength = 8
    package static let time = 16
    package static let checksum = 24
    package static let reason = 28
    package static let pathLength = 30
    package static let path = 32
  }

  package var cutOffset: UInt64
  package var cutLength: UInt64
  package var time: Int64
  package var checksum: UInt32
  package var reason: UInt16
  package var path: String

  package init(
    cutOffset: UInt64, cutLength: UInt64, time: Int64, checksum: UInt32, reason: UInt16, path: String
  ) {
    self.cutOffset = cutOffset
    self.cutLength = cutLength
    self.time = time
    self.checksum = checksum
    self.reason = reason
    self.path = path
  }

  package func encoded() -> [UInt8] {
    let name = Array(path.utf8)
    var bytes = [UInt8](repeating: 0, count: Self.fixedLength)
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      base.setLittleEndian(cutOffset, at: Offset.cutOffset)
      base.setLittleEndian(cutLength, at: Offset.cutLength)
      base.setLittleEndian(time, at: Offset.time)
      base.setLittleEndian(checksum, at: Offset.checksum)
      base.setLittleEndian(reason, at: Offset.reason)
      base.setLittleEndian(UInt16(name.count), at: Offset.pathLength)
    }
    return bytes + name
  }

  package init?(decoding bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.fixedLength, let base = bytes.baseAddress else { return nil }
    let pathLength = Int(base.littleEndian(UInt16.self, at: Offset.pathLength))
    guard bytes.count == Self.fixedLength + pathLength else { return nil }
    cutOffset = base.littleEndian(UInt64.self, at: Offset.cutOffset)
    cutLength = base.littleEndian(UInt64.self, at: Offset.cutLength)
    time = base.littleEndian(Int64.self, at: Offset.time)
    checksum = base.littleEndian(UInt32.self, at: Offset.checksum)
    reason = base.littleEndian(UInt16.self, at: Offset.reason)
    guard let path = String(validating: bytes[Offset.path...], as: UTF8.self) else { return nil }
    self.path = path
  }
}

/// The payload of a FOOTER block: the position of each event block of a rewritten segment.
package enum FooterIndex {
  package static let entryLength = 32

  package static func encoded(_ blocks: [BlockAddress]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 8 + entryLength * blocks.count)
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      base.setLittleEndian(UInt32(blocks.count), at: 0)
      for (index, block) in blocks.enumerated() {
        let entry = base + 8 + index * entryLength
        entry.setLittleEndian(block.firstSequence, at: 0)
        entry.setLittleEndian(block.firstTime, at: 8)
        entry.setLittleEndian(block.appendsBefore, at: 16)
        entry.setLittleEndian(block.offset, at: 24)
      }
    }
    return bytes
  }

  /// The entries, or nil if the bytes are not a footer.
  package static func decoding(_ bytes: UnsafeRawBufferPointer) -> [BlockAddress]? {
    guard bytes.count >= 8, let base = bytes.baseAddress else { return nil }
    let count = Int(base.littleEndian(UInt32.self, at: 0))
    guard (bytes.count - 8) == count * entryLength else { return nil }
    return (0..<count).map { index in
      let entry = base + 8 + index * entryLength
      return BlockAddress(
        firstSequence: entry.littleEndian(UInt64.self, at: 0),
        firstTime: entry.littleEndian(Int64.self, at: 8),
        appendsBefore: entry.littleEndian(UInt64.self, at: 16),
        offset: entry.littleEndian(UInt64.self, at: 24))
    }
  }
}

/// The position of an event block, and what begins there: one row of the table that serves every seek.
package struct BlockAddress: Equatable, Sendable {
  package var firstSequence: UInt64
  package var firstTime: Int64
  package var appendsBefore: UInt64
  package var offset: UInt64

  package init(firstSequence: UInt64, firstTime: Int64, appendsBefore: UInt64, offset: UInt64) {
    self.firstSequence = firstSequence
    self.firstTime = firstTime
    self.appendsBefore = appendsBefore
    self.offset = offset
  }
}
