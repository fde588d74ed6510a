// Lookup of append ids in an index file: which appends may have an id.

internal import StrataBase

/// The fingerprints of an index file, in memory and checked.
struct IndexIDs: Sendable {
  let layout: IDLayout
  private let bytes: FileBytes
  /// The offset of the places in the file.
  private let placesOffset: UInt64
  /// How often a group was read, and all places once that was often: who looks up many ids does so in another order than
  /// that of the file.
  private let kept = Lock<(readCount: Int, places: FileBytes?)>((0, nil))
  private static let readCountMax = 8

  /// Nil unless the bytes are fingerprints that agree with the trailer: their checksum matches, and the pages ascend
  /// from none to all ids.
  init?(_ file: any File, _ trailer: IndexTrailer) throws(StoreError) {
    layout = trailer.ids
    placesOffset = trailer.chunksLength
    let bytes = try FileBytes(file, at: trailer.fingerprintsOffset, count: trailer.ids.fingerprintsLength)
    guard let bytes, bytes.withBytes({ $0.checksum() }) == trailer.fingerprintsChecksum else { return nil }
    self.bytes = bytes
    guard pagesAscend else { return nil }
  }

  /// The bytes in memory, the places included, as if they were.
  var byteCount: Int { bytes.count + layout.placesLength }

  private var pagesAscend: Bool {
    guard layout.count > 0 else { return true }
    return bytes.withBytes { bytes in
      var before: UInt32 = 0
      for page in 0...layout.pageCount {
        let number: UInt32 = bytes.littleEndian(at: 4 * page)
        guard number >= before, page > 0 || number == 0 else { return false }
        before = number
      }
      return Int(before) == layout.count
    }
  }

  /// The numbers of the ids that have the same fingerprint as this hash. Reads nothing. O(ids of a page).
  func matches(_ hash: UInt64) -> Range<Int> {
    guard layout.count > 0 else { return 0..<0 }
    let page = layout.page(of: hash)
    let remainder = UInt16(truncatingIfNeeded: hash)
    return bytes.withBytes { bytes in
      var low = Int(bytes.littleEndian(at: 4 * page) as UInt32)
      let end = Int(bytes.littleEndian(at: 4 * page + 4) as UInt32)
      assert(low <= end && end <= layout.count, "a page holds ids of the file")
      while low < end, self.remainder(low, in: bytes) < remainder { low += 1 }
      var high = low
      while high < end, self.remainder(high, in: bytes) == remainder { high += 1 }
      return low..<high
    }
  }

  @inline(__always)
  private func remainder(_ id: Int, in bytes: UnsafeRawBufferPointer) -> UInt16 {
    bytes.littleEndian(at: layout.remaindersOffset + 2 * id)
  }

  /// The distances of the appends with these ids, in their order, if the places are in memory.
  func distances(_ ids: Range<Int>) -> [UInt64]? {
    guard let places = kept.withLock({ $0.places }) else { return nil }
    return places.withBytes { places in
      ids.map { id in
        let group = id / IDLayout.idsPerGroup
        let range = layout.groupOffset(group)..<layout.groupOffset(group + 1)
        return distance(id % IDLayout.idsPerGroup, in: UnsafeRawBufferPointer(rebasing: places[range]))
      }
    }
  }

  /// The same from the file; nil if their groups are not as they were written.
  func distances(_ ids: Range<Int>, in file: any File) throws(StoreError) -> [UInt64]? {
    var distances: [UInt64] = []
    var next = ids.lowerBound
    while next < ids.upperBound {
      let group = next / IDLayout.idsPerGroup
      let end = min(ids.upperBound, (group + 1) * IDLayout.idsPerGroup)
      let (start, stop) = (layout.groupOffset(group), layout.groupOffset(group + 1))
      guard let places = try FileBytes(file, at: placesOffset + UInt64(start), count: stop - start),
        places.withBytes({ $0.checksum() }) == checksum(ofGroup: group)
      else { return nil }
      for id in next..<end {
        distances.append(places.withBytes { distance(id % IDLayout.idsPerGroup, in: $0) })
      }
      next = end
    }
    try keep(file)
    return distances
  }

  /// Reads all places into memory after some reads of groups. If a group of them is damaged, none are kept, and who reads
  /// that group finds it.
  private func keep(_ file: any File) throws(StoreError) {
    let isOften = kept.withLock { kept in
      kept.readCount += 1
      return kept.readCount == Self.readCountMax
    }
    guard isOften, let places = try FileBytes(file, at: placesOffset, count: layout.placesLength) else {
      return
    }
    let areWhole = places.withBytes { places in
      (0..<layout.groupCount).allSatisfy { group in
        let range = layout.groupOffset(group)..<layout.groupOffset(group + 1)
        return UnsafeRawBufferPointer(rebasing: places[range]).checksum() == checksum(ofGroup: group)
      }
    }
    if areWhole { kept.withLock { $0.places = places } }
  }

  private func checksum(ofGroup group: Int) -> UInt32 {
    bytes.withBytes { $0.littleEndian(at: layout.checksumsOffset + 4 * group) }
  }

  /// The distance at a position of a group, lowest bit first.
  private func distance(_ position: Int, in bytes: UnsafeRawBufferPointer) -> UInt64 {
    let begin = position * layout.width
    var distance: UInt64 = 0
    var shift = -(begin % 8)
    var byte = begin / 8
    while shift < layout.width {
      let bits = UInt64(bytes[byte])
      distance |= shift < 0 ? bits >> UInt64(-shift) : bits << UInt64(shift)
      shift += 8
      byte += 1
    }
    return layout.width == 0 ? 0 : distance & (.max >> UInt64(64 - layout.width))
  }
}
