// Which whole segments a carrier has, and where its objects begin.

internal import StrataBase
package import StrataLog

/// A list of closed segments from the beginning of the log, without gaps, and the number of the first object that is kept
/// beside them. The one with the largest number counts.
package struct CarrierManifest: Equatable, Sendable {
  /// A whole segment, as one member has sealed it.
  package struct Entry: Equatable, Sendable {
    /// The number of the manifest that it was put for.
    package var since: UInt64
    package var first: UInt64
    package var last: UInt64
    /// The chain after the last sequence.
    package var chain: UInt64
    /// The length of the file, in bytes.
    package var size: UInt64
    /// The mark of what is erased in it, and how often it was rewritten.
    package var erasures: UInt64
    package var revision: UInt32
    /// What tells the file from others that are put for the same number, by a writer that does not know of this one.
    package var token: UInt32

    /// The name of the file in `segments/`. It is never that of another file: who puts a segment for a number that is
    /// then taken puts it again for the next.
    package var fileName: String {
      let hex = String(token, radix: 16)
      return "\(SegmentName(since).digits)-\(SegmentName(first).digits)-"
        + String(repeating: "0", count: 8 - hex.utf8.count) + hex
    }

    /// Whether two are files of the same segment with the same events and erasures.
    func holdsSame(as other: Entry) -> Bool {
      var other = other
      (other.since, other.token) = (since, token)
      return self == other
    }
  }

  package var storeID: StoreID
  /// The member that has put it.
  package var writer: StoreID
  package var number: UInt64
  /// Objects with smaller numbers may be removed: the segments hold their events.
  package var firstObject: UInt64
  /// Every order to erase up to this sequence is carried out in the segments.
  package var erasedThrough: UInt64
  package var entries: [Entry]

  /// The last sequence that a segment holds, 0 if there is none.
  package var last: UInt64 { entries.last?.last ?? 0 }

  package static let magic = Array("STRL".utf8)
  package static let fixedLength = 80
  package static let entryLength = 56
  /// The longest that is read, and how many segments it has.
  package static let lengthMax = 16 << 20
  static let countMax = (lengthMax - fixedLength) / entryLength

  package enum Offset {
    package static let version = 4
    package static let checksum = 8
    package static let count = 12
    package static let storeID = 16
    package static let writer = 32
    package static let number = 48
    package static let firstObject = 56
    package static let erasedThrough = 64
  }
  package enum EntryOffset {
    package static let since = 0
    package static let first = 8
    package static let last = 16
    package static let chain = 24
    package static let size = 32
    package static let erasures = 40
    package static let revision = 48
    package static let token = 52
  }

  package func encoded() -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.fixedLength + entries.count * Self.entryLength)
    bytes.withUnsafeMutableBytes { buffer in
      let base = buffer.baseAddress!
      base.copyMemory(from: Self.magic, byteCount: Self.magic.count)
      base.setLittleEndian(UInt16(1), at: Offset.version)
      base.setLittleEndian(UInt32(entries.count), at: Offset.count)
      storeID.write(to: base + Offset.storeID)
      writer.write(to: base + Offset.writer)
      base.setLittleEndian(number, at: Offset.number)
      base.setLittleEndian(firstObject, at: Offset.firstObject)
      base.setLittleEndian(erasedThrough, at: Offset.erasedThrough)
      for (index, entry) in entries.enumerated() {
        let place = base + Self.fixedLength + index * Self.entryLength
        place.setLittleEndian(entry.since, at: EntryOffset.since)
        place.setLittleEndian(entry.first, at: EntryOffset.first)
        place.setLittleEndian(entry.last, at: EntryOffset.last)
        place.setLittleEndian(entry.chain, at: EntryOffset.chain)
        place.setLittleEndian(entry.size, at: EntryOffset.size)
        place.setLittleEndian(entry.erasures, at: EntryOffset.erasures)
        place.setLittleEndian(entry.revision, at: EntryOffset.revision)
        place.setLittleEndian(entry.token, at: EntryOffset.token)
      }
      let crc = CRC32C.of(UnsafeRawBufferPointer(buffer), zeroing: Offset.checksum)
      base.setLittleEndian(crc, at: Offset.checksum)
    }
    return bytes
  }

  package init(
    of storeID: StoreID, by writer: StoreID, number: UInt64, firstObject: UInt64, erasedThrough: UInt64,
    _ entries: [Entry]
  ) {
    self.storeID = storeID
    self.writer = writer
    self.number = number
    self.firstObject = firstObject
    self.erasedThrough = erasedThrough
    self.entries = entries
  }

  /// Decodes a manifest. Throws what it is not.
  package init(decoding bytes: UnsafeRawBufferPointer) throws(DecodingProblem) {
    guard bytes.count >= Self.fixedLength, let base = bytes.baseAddress,
      bytes.prefix(Self.magic.count).elementsEqual(Self.magic),
      base.littleEndian(UInt32.self, at: Offset.checksum) == CRC32C.of(bytes, zeroing: Offset.checksum)
    else { throw .damaged("the manifest is cut short, or its checksum differs") }
    let version = base.littleEndian(UInt16.self, at: Offset.version)
    guard version == 1 else { throw .unsupported("version \(version) of the manifest") }
    let count = Int(base.littleEndian(UInt32.self, at: Offset.count))
    guard bytes.count == Self.fixedLength + count * Self.entryLength else {
      throw .damaged("the length of the manifest is not its own")
    }
    storeID = StoreID(at: base + Offset.storeID)
    writer = StoreID(at: base + Offset.writer)
    number = base.littleEndian(UInt64.self, at: Offset.number)
    firstObject = base.littleEndian(UInt64.self, at: Offset.firstObject)
    erasedThrough = base.littleEndian(UInt64.self, at: Offset.erasedThrough)
    entries = (0..<count).map { index in
      let place = base + Self.fixedLength + index * Self.entryLength
      return Entry(
        since: place.littleEndian(UInt64.self, at: EntryOffset.since),
        first: place.littleEndian(UInt64.self, at: EntryOffset.first),
        last: place.littleEndian(UInt64.self, at: EntryOffset.last),
        chain: place.littleEndian(UInt64.self, at: EntryOffset.chain),
        size: place.littleEndian(UInt64.self, at: EntryOffset.size),
        erasures: place.littleEndian(UInt64.self, at: EntryOffset.erasures),
        revision: place.littleEndian(UInt32.self, at: EntryOffset.revision),
        token: place.littleEndian(UInt32.self, at: EntryOffset.token))
    }
    guard isConsistent else { throw .damaged("the manifest contradicts itself") }
  }

  private var isConsistent: Bool {
    guard number > 0, number <= CarrierExtent.numberMax, firstObject > 0,
      firstObject <= CarrierExtent.numberMax,
      !entries.isEmpty
    else { return false }
    var next: UInt64 = 1
    for entry in entries {
      guard entry.first == next, entry.last >= entry.first, entry.last < .max, entry.since > 0,
        entry.since <= number, entry.size > UInt64(SegmentHeader.length), entry.size <= UInt64(Int64.max),
        entry.revision > 0
      else { return false }
      next = entry.last + 1
    }
    return true
  }
}
