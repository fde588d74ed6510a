// The decoded rows of one table that a fold read or wrote last.

internal import StrataBase
internal import StrataDocuments

/// Decoded rows by id, a bounded number of them. Of the rows whose ids share a set, the one that was not used for the
/// longest time makes room.
///
/// It holds rows as they are after the events that were folded in, never a change of an event that may still fail.
final class RowCache {
  private struct Entry {
    let id: String
    let row: DecodedRow
    /// Whether the table's bytes are known to be what the row encodes as.
    let isEncoded: Bool
  }

  private let wayCount: Int
  private let setCountMax: Int
  /// The hash of each entry, 0 where there is none. Apart, so that looking for a row touches no other.
  @exclusivity(unchecked) private var hashes: [UInt64] = []
  @exclusivity(unchecked) private var uses: [UInt64] = []
  @exclusivity(unchecked) private var entries: [Entry?] = []
  @exclusivity(unchecked) private var setCount = 0
  @exclusivity(unchecked) private var useCount: UInt64 = 0
  /// The numbers of rows that were kept after they were read, and after they were written.
  @exclusivity(unchecked) private var readCount: UInt64 = 0
  @exclusivity(unchecked) private var writtenCount: UInt64 = 0
  /// False once a row did not come back from its encoding as it was. Then nothing is kept.
  @exclusivity(unchecked) private(set) var isFaithful = true

  init(countMax: Int) {
    wayCount = min(4, max(0, countMax))
    let most = wayCount == 0 ? 0 : countMax / wayCount
    setCountMax = most == 0 ? 0 : 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
  }

  /// The hash of a row's id, never 0.
  static func hash(_ id: String) -> UInt64 {
    var id = id
    return id.withUTF8 { XXH64.of(UnsafeRawBufferPointer($0)) } | 1 << 63
  }

  /// A row that is kept.
  func row(_ id: String) -> DecodedRow? {
    guard let place = place(of: id, Self.hash(id)) else { return nil }
    useCount &+= 1
    uses[place] = useCount
    return entries[place]?.row
  }

  /// Whether the table's bytes are those of this very value, so that it need not be encoded to be compared. False if that
  /// is not known.
  func isStored(_ row: DecodedRow, _ id: String, _ hash: UInt64) -> Bool {
    guard let place = place(of: id, hash), let entry = entries[place], entry.isEncoded else { return false }
    return row.hasSameBits(as: entry.row)
  }

  /// Keeps a row that the table holds.
  func keep(
    _ row: DecodedRow, _ id: String, _ hash: UInt64, _ document: UnsafeRawBufferPointer, isEncoded: Bool
  ) {
    guard setCountMax > 0, isFaithful else { return }
    guard document.count <= KeptRows.documentLengthMax else { return remove(id, hash) }
    if isEncoded { writtenCount &+= 1 } else { readCount &+= 1 }
    // A row that was read has come from its encoding, so that only one that was written tells what is lost there.
    if (isEncoded ? writtenCount : readCount).isPowerOfFour, !row.type.isFaithful(row.address, document) {
      isFaithful = false
      (entries, hashes, uses, setCount) = ([], [], [], 0)
      return
    }
    if setCount == 0 { resize(to: min(16, setCountMax)) }
    let place = place(of: id, hash) ?? freePlace(hash)
    useCount &+= 1
    hashes[place] = hash
    uses[place] = useCount
    entries[place] = Entry(id: id, row: row, isEncoded: isEncoded)
  }

  func remove(_ id: String, _ hash: UInt64) {
    guard let place = place(of: id, hash) else { return }
    (hashes[place], uses[place], entries[place]) = (0, 0, nil)
  }

  @inline(__always)
  private func places(_ hash: UInt64) -> Range<Int> {
    let first = Int(truncatingIfNeeded: hash & UInt64(setCount &- 1)) &* wayCount
    return first..<first &+ wayCount
  }

  @inline(__always)
  private func place(of id: String, _ hash: UInt64) -> Int? {
    guard setCount > 0 else { return nil }
    for place in places(hash) where hashes[place] == hash {
      if let other = entries[place]?.id, other.hasSameUTF8(as: id) { return place }
    }
    return nil
  }

  /// A place for a new row: a free one, or that of the row in the same set that was not used for the longest time.
  private func freePlace(_ hash: UInt64) -> Int {
    while true {
      var oldest = places(hash).lowerBound
      for place in places(hash) {
        if hashes[place] == 0 { return place }
        if uses[place] < uses[oldest] { oldest = place }
      }
      if setCount == setCountMax { return oldest }
      resize(to: setCount * 2)
    }
  }

  private func resize(to count: Int) {
    let old = (hashes, uses, entries)
    setCount = count
    hashes = Array(repeating: 0, count: count * wayCount)
    uses = hashes
    entries = Array(repeating: nil, count: count * wayCount)
    for index in old.0.indices where old.0[index] != 0 {
      // A set is split in two, so there is room.
      let place = places(old.0[index]).first { hashes[$0] == 0 }
      assert(place != nil, "a set of rows grew when it was split")
      guard let place else { continue }
      (hashes[place], uses[place], entries[place]) = (old.0[index], old.1[index], old.2[index])
    }
  }
}

extension UInt64 {
  /// Whether it is 1, 4, 16, 64 and so on.
  fileprivate var isPowerOfFour: Bool { nonzeroBitCount == 1 && trailingZeroBitCount % 2 == 0 }
}

extension String {
  /// Whether both strings have the same UTF-8 bytes.
  @inline(__always)
  func hasSameUTF8(as other: String) -> Bool {
    // Short strings are their bits, and copies of a long one share them.
    if unsafeBitCast(self, to: (UInt64, UInt64).self) == unsafeBitCast(other, to: (UInt64, UInt64).self) {
      return true
    }
    guard utf8.count == other.utf8.count else { return false }
    var (a, b) = (self, other)
    return a.withUTF8 { a in
      b.withUTF8 { b in UnsafeRawBufferPointer(a).hasSameBytes(as: UnsafeRawBufferPointer(b)) }
    }
  }
}
