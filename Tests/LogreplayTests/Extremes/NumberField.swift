// The numbers in a store's files, and how another one takes the place of each under checksums that hold.

import StrataBase
import StrataLog

/// The files of a store by their paths in it.
typealias FileBytesByPath = [String: [UInt8]]

/// One number in a file.
struct NumberField: CustomStringConvertible {
  /// Which checksums lie over it.
  enum Seal {
    case segmentHeader
    /// Either slot of HEAD.
    case head
    /// The header of the block at an offset.
    case block(Int)
    /// The payload of the block at an offset, which is stored as it is.
    case payload(Int)
    case indexTrailer
  }

  var path: String
  var name: String
  var offset: Int
  /// Bytes, 2, 4 or 8.
  var width: Int
  var seal: Seal

  var description: String { "\(name) at \(offset) of \(path)" }

  /// The ends of the ranges that programs count in, as far as this field can hold them.
  var extremes: [UInt64] {
    let mask = width == 8 ? UInt64.max : 1 << UInt64(width * 8) - 1
    let shorter: [UInt64] = width == 2 ? [1 << 15 - 1, 1 << 15] : []
    return Set((Self.extremes + shorter).map { $0 & mask }).sorted()
  }

  static let extremes: [UInt64] = [
    0, 1, 1 << 31 - 1, 1 << 31, 1 << 32 - 1, 1 << 32, 1 << 53, 1 << 63 - 1, 1 << 63, .max - 1, .max,
  ]

  /// The files with this number, nil where they have it already.
  func put(_ number: UInt64, in files: FileBytesByPath) -> FileBytesByPath? {
    guard var bytes = files[path] else { return nil }
    let places =
      if case .head = seal { HeadSlot.offsets.map { $0 + offset } } else { [offset] }
    for place in places {
      for index in 0..<width { bytes[place + index] = UInt8(truncatingIfNeeded: number >> UInt64(8 * index)) }
    }
    guard bytes != files[path] else { return nil }
    seal.close(&bytes)
    var copy = files
    copy[path] = bytes
    return copy
  }
}

extension NumberField.Seal {
  /// Sets the checksums.
  func close(_ bytes: inout [UInt8]) {
    func sum(_ range: Range<Int>) -> UInt32 { bytes[range].withUnsafeBytes { CRC32C.of($0) } }
    switch self {
    case .segmentHeader:
      bytes.set(sum(0..<SegmentHeader.Offset.checksum), at: SegmentHeader.Offset.checksum)
    case .head:
      for start in HeadSlot.offsets {
        bytes.set(sum(start..<start + HeadSlot.Offset.checksum), at: start + HeadSlot.Offset.checksum)
      }
    case .indexTrailer:
      let start = bytes.count - IndexFormat.trailerLength
      bytes.set(sum(start..<start + 124), at: start + 124)
    case .payload(let start):
      let begin = start + BlockHeader.length
      let end = begin + Int(bytes.number(UInt32.self, at: start + BlockHeader.Offset.storedLength))
      bytes.set(sum(begin..<end), at: start + BlockHeader.Offset.payloadChecksum)
      Self.block(start).close(&bytes)
    case .block(let start):
      let begin = start + BlockHeader.length
      let stored = Int(bytes.number(UInt32.self, at: start + BlockHeader.Offset.storedLength))
      // A length that leads out of the file has no checksum that would be right.
      if stored <= bytes.count - begin {
        bytes.set(sum(begin..<begin + stored), at: start + BlockHeader.Offset.payloadChecksum)
      }
      let said = Int(bytes.number(UInt16.self, at: start + BlockHeader.Offset.headerLength))
      let isLonger =
        (BlockHeader.length...BlockHeader.lengthMax).contains(said) && said <= bytes.count - start
      let end = start + (isLonger ? said : BlockHeader.length)
      let checksum = bytes[start..<end].withUnsafeBytes {
        CRC32C.of($0, zeroing: BlockHeader.Offset.headerChecksum)
      }
      bytes.set(checksum, at: start + BlockHeader.Offset.headerChecksum)
    }
  }
}

extension [UInt8] {
  func number<Number: FixedWidthInteger>(_ type: Number.Type, at offset: Int) -> Number {
    withUnsafeBytes { Number(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: type)) }
  }

  mutating func set<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
    Swift.withUnsafeBytes(of: number.littleEndian) { replaceSubrange(offset..<offset + $0.count, with: $0) }
  }
}
