// The 4,096-byte header at the start of a segment.

internal import StrataBase

/// A segment's description of itself, and of the logical end of the previous one.
package struct SegmentHeader: Equatable, Sendable {
  package static let length = 4096

  /// The offset of each field, in bytes from the start of the file.
  package enum Offset {
    package static let magic = 0
    package static let major = 8
    package static let minor = 10
    package static let headerLength = 12
    package static let storeID = 16
    package static let firstSequence = 32
    package static let incompatibleFeatures = 40
    package static let readOnlyFeatures = 48
    package static let compatibleFeatures = 56
    package static let previousFirst = 64
    package static let previousLast = 72
    package static let previousChain = 80
    package static let previousTime = 88
    package static let appendsBefore = 96
    package static let epoch = 104
    package static let created = 112
    package static let revision = 120
    package static let chainAlgorithm = 124
    package static let footerOffset = 128
    package static let rewrittenLast = 136
    package static let rewrittenChain = 144
    package static let rewrittenEnd = 152
    package static let erasures = 160
    package static let checksum = 4092
  }

  package static let magic = Array("STRATASG".utf8)

  package var storeID: StoreID
  package var firstSequence: UInt64
  package var minor = FormatLimits.minor
  package var incompatibleFeatures: UInt64 = 0
  package var readOnlyFeatures: UInt64 = 0
  package var compatibleFeatures: UInt64 = 0
  package var previousFirst: UInt64 = 0
  package var previousLast: UInt64 = 0
  package var previousChain: UInt64 = 0
  package var previousTime: Int64 = FormatLimits.noTime
  package var appendsBefore: UInt64 = 0
  package var epoch: UInt64
  package var created: Int64
  package var revision: UInt32 = 0
  package var footerOffset: UInt64 = 0
  package var rewrittenLast: UInt64 = 0
  package var rewrittenChain: UInt64 = 0
  package var rewrittenEnd: UInt64 = 0
  /// The mark of the erased events of a rewritten segment; `ErasureMark.unknown` if there is none.
  package var erasures = ErasureMark.unknown

  package init(storeID: StoreID, firstSequence: UInt64, epoch: UInt64, created: Int64) {
    self.storeID = storeID
    self.firstSequence = firstSequence
    self.epoch = epoch
    self.created = created
  }

  /// True for a segment whose blocks were merged, or whose events were erased, after it was closed.
  package var isRewritten: Bool { revision > 0 }

  /// The mark of the erased events of the segment; nil if only the events themselves say what is erased.
  package var erasureMark: UInt64? {
    isRewritten ? (erasures == ErasureMark.unknown ? nil : erasures) : ErasureMark.none.value
  }

  /// The segment's name.
  package var segment: SegmentName { SegmentName(firstSequence) }
}

extension SegmentHeader {
  /// The header as 4,096 bytes.
  package func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      buffer.copyBytes(from: Self.magic)
      base.setLittleEndian(FormatLimits.major, at: Offset.major)
      base.setLittleEndian(minor, at: Offset.minor)
      base.setLittleEndian(UInt32(Self.length), at: Offset.headerLength)
      storeID.write(to: base + Offset.storeID)
      base.setLittleEndian(firstSequence, at: Offset.firstSequence)
      base.setLittleEndian(incompatibleFeatures, at: Offset.incompatibleFeatures)
      base.setLittleEndian(readOnlyFeatures, at: Offset.readOnlyFeatures)
      base.setLittleEndian(compatibleFeatures, at: Offset.compatibleFeatures)
      base.setLittleEndian(previousFirst, at: Offset.previousFirst)
      base.setLittleEndian(previousLast, at: Offset.previousLast)
      base.setLittleEndian(previousChain, at: Offset.previousChain)
      base.setLittleEndian(previousTime, at: Offset.previousTime)
      base.setLittleEndian(appendsBefore, at: Offset.appendsBefore)
      base.setLittleEndian(epoch, at: Offset.epoch)
      base.setLittleEndian(created, at: Offset.created)
      base.setLittleEndian(revision, at: Offset.revision)
      base.setLittleEndian(Chain.algorithm, at: Offset.chainAlgorithm)
      base.setLittleEndian(footerOffset, at: Offset.footerOffset)
      base.setLittleEndian(rewrittenLast, at: Offset.rewrittenLast)
      base.setLittleEndian(rewrittenChain, at: Offset.rewrittenChain)
      base.setLittleEndian(rewrittenEnd, at: Offset.rewrittenEnd)
      base.setLittleEndian(erasures, at: Offset.erasures)
      let crc = CRC32C.of(UnsafeRawBufferPointer(start: base, count: Offset.checksum))
      base.setLittleEndian(crc, at: Offset.checksum)
    }
    return bytes
  }

  /// Why the bytes are not a segment header that this version can use.
  package enum Problem: Error, Equatable, Sendable {
    case damaged(String)
    case unsupported(String)
  }

  /// Reads a header. The caller compares it with the store's identity and the file's name.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(Problem) {
    guard bytes.count >= Self.length, let base = bytes.baseAddress else {
      throw .damaged("the segment header is cut short at \(bytes.count) bytes")
    }
    guard bytes.prefix(8).elementsEqual(Self.magic) else {
      throw .damaged("the file does not begin with a segment header")
    }
    guard base.littleEndian(UInt32.self, at: Offset.headerLength) == UInt32(Self.length) else {
      throw .damaged("the segment header has a wrong length field")
    }
    let crc = CRC32C.of(UnsafeRawBufferPointer(start: base, count: Offset.checksum))
    guard base.littleEndian(UInt32.self, at: Offset.checksum) == crc else {
      throw .damaged("the checksum of the segment header does not match")
    }
    let major = base.littleEndian(UInt16.self, at: Offset.major)
    let minor = base.littleEndian(UInt16.self, at: Offset.minor)
    guard major == FormatLimits.major else {
      throw .unsupported("format \(major).\(minor); this version reads format \(FormatLimits.major)")
    }
    self.init(
      storeID: StoreID(at: base + Offset.storeID),
      firstSequence: base.littleEndian(UInt64.self, at: Offset.firstSequence),
      epoch: base.littleEndian(UInt64.self, at: Offset.epoch),
      created: base.littleEndian(Int64.self, at: Offset.created)
    )
    incompatibleFeatures = base.littleEndian(UInt64.self, at: Offset.incompatibleFeatures)
    self.minor = minor
    readOnlyFeatures = base.littleEndian(UInt64.self, at: Offset.readOnlyFeatures)
    compatibleFeatures = base.littleEndian(UInt64.self, at: Offset.compatibleFeatures)
    previousFirst = base.littleEndian(UInt64.self, at: Offset.previousFirst)
    previousLast = base.littleEndian(UInt64.self, at: Offset.previousLast)
    previousChain = base.littleEndian(UInt64.self, at: Offset.previousChain)
    previousTime = base.littleEndian(Int64.self, at: Offset.previousTime)
    appendsBefore = base.littleEndian(UInt64.self, at: Offset.appendsBefore)
    revision = base.littleEndian(UInt32.self, at: Offset.revision)
    footerOffset = base.littleEndian(UInt64.self, at: Offset.footerOffset)
    rewrittenLast = base.littleEndian(UInt64.self, at: Offset.rewrittenLast)
    rewrittenChain = base.littleEndian(UInt64.self, at: Offset.rewrittenChain)
    rewrittenEnd = base.littleEndian(UInt64.self, at: Offset.rewrittenEnd)
    // A segment that was never rewritten has no erased events, and this version ignores what a later minor version
    // stores there.
    if isRewritten { erasures = base.littleEndian(UInt64.self, at: Offset.erasures) }
    guard incompatibleFeatures == 0 else {
      throw .unsupported("incompatible feature bit \(incompatibleFeatures.trailingZeroBitCount)")
    }
    let algorithm = base.load(fromByteOffset: Offset.chainAlgorithm, as: UInt8.self)
    guard algorithm == Chain.algorithm else { throw .unsupported("chain algorithm \(algorithm)") }
    guard firstSequence > 0, previousLast == firstSequence - 1 else {
      throw .damaged("the segment header does not continue the previous segment")
    }
  }
}
