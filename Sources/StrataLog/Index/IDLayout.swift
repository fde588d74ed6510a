// How the fingerprints of append ids, and the places of their appends, are laid out in an index file.
//
// An id's hash selects a page of about 32 ids; its lowest 16 bits are compared there. So about one absent id in 2,000
// is looked for in vain, and only the log says whether an id is the one that was asked for.
//
//   places         the distance of each append's first sequence from the index's first, packed to the same number of
//                  bits; groups of 512
//   fingerprints   pages + 1 numbers of 4 bytes: how many ids come before each page, and in all
//                  4 bytes for each group of places: its CRC32C
//                  2 bytes for each id: the lowest bits of its hash, ascending within a page

internal import StrataBase

/// The sizes of the two parts, which follow from the number of ids and the range of the index.
struct IDLayout: Equatable, Sendable {
  static var idsPerPage: Int { 32 }
  static var idsPerGroup: Int { 512 }

  let count: Int
  /// The bits of a place: those of the largest distance.
  let width: Int

  init(count: Int, identity: IndexIdentity) {
    assert(identity.firstSequence <= identity.lastSequence, "an index covers an event")
    self.count = count
    width = UInt64.bitWidth - (identity.lastSequence - identity.firstSequence).leadingZeroBitCount
  }

  var pageCount: Int { (count + Self.idsPerPage - 1) / Self.idsPerPage }
  var groupCount: Int { (count + Self.idsPerGroup - 1) / Self.idsPerGroup }
  /// The offset of the groups' checksums in the fingerprints.
  var checksumsOffset: Int { count == 0 ? 0 : 4 * (pageCount + 1) }
  var remaindersOffset: Int { checksumsOffset + 4 * groupCount }
  var fingerprintsLength: Int { remaindersOffset + 2 * count }
  var placesLength: Int { groupOffset(groupCount) }

  /// The page of a hash: the upper half of the product scales it to the number of pages without a division.
  @inline(__always)
  func page(of hash: UInt64) -> Int { Int(hash.multipliedFullWidth(by: UInt64(pageCount)).high) }

  /// The offset of a group in the places; of the one after the last: their length.
  func groupOffset(_ group: Int) -> Int {
    let full = Self.idsPerGroup * width / 8
    guard group == groupCount, count % Self.idsPerGroup > 0 else { return group * full }
    return (group - 1) * full + (count % Self.idsPerGroup * width + 7) / 8
  }
}

/// The ids of a segment while its index is written.
struct IDFingerprints {
  let places: [UInt8]
  let fingerprints: [UInt8]

  /// - Parameter ids: the hash of each id, and the distance of its append's first sequence from the index's first.
  init(_ ids: [(hash: UInt64, distance: UInt32)], identity: IndexIdentity) {
    let layout = IDLayout(count: ids.count, identity: identity)
    guard ids.count > 0 else {
      (places, fingerprints) = ([], [])
      return
    }
    let (pages, sorted) = Self.sorted(ids, layout)
    places = Self.packed(sorted, layout)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(layout.fingerprintsLength)
    for page in pages { bytes.appendLittleEndian(page) }
    places.withUnsafeBytes { places in
      for group in 0..<layout.groupCount {
        let range = layout.groupOffset(group)..<layout.groupOffset(group + 1)
        bytes.appendLittleEndian(UnsafeRawBufferPointer(rebasing: places[range]).checksum())
      }
    }
    for word in sorted { bytes.appendLittleEndian(UInt16(truncatingIfNeeded: word >> 32)) }
    assert(bytes.count == layout.fingerprintsLength && places.count == layout.placesLength, "lengths follow")
    fingerprints = bytes
  }

  /// The number of ids before each page, and for each id its remainder above its distance: by page, then ascending.
  private static func sorted(
    _ ids: [(hash: UInt64, distance: UInt32)], _ layout: IDLayout
  ) -> (pages: [UInt32], words: [UInt64]) {
    var pages = [UInt32](repeating: 0, count: layout.pageCount + 1)
    for id in ids { pages[layout.page(of: id.hash) + 1] += 1 }
    for page in 0..<layout.pageCount { pages[page + 1] += pages[page] }
    var next = pages
    var words = [UInt64](repeating: 0, count: ids.count)
    for id in ids {
      let page = layout.page(of: id.hash)
      words[Int(next[page])] = (id.hash & 0xFFFF) << 32 | UInt64(id.distance)
      next[page] += 1
    }
    for page in 0..<layout.pageCount { words[Int(pages[page])..<Int(pages[page + 1])].sort() }
    return (pages, words)
  }

  private static func packed(_ words: [UInt64], _ layout: IDLayout) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(layout.placesLength)
    var bits: UInt64 = 0
    var bitCount = 0
    for (number, word) in words.enumerated() {
      bits |= (word & 0xFFFF_FFFF) << UInt64(bitCount)
      bitCount += layout.width
      while bitCount >= 8 {
        bytes.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        bitCount -= 8
      }
      let isLastOfGroup = (number + 1) % IDLayout.idsPerGroup == 0 || number + 1 == words.count
      if isLastOfGroup, bitCount > 0 {
        bytes.append(UInt8(truncatingIfNeeded: bits))
        (bits, bitCount) = (0, 0)
      }
    }
    return bytes
  }
}
