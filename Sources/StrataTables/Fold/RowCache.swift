// The decoded rows of one table that a fold read or wrote last.

internal import StrataBase
internal import StrataDocuments

/// Decoded rows by id, a bounded number of them. Of the rows whose ids share a set, the one that was not used for the
/// longest time makes room. Room is made for more rows only while rows are used again: those of a table that is only
/// written to would just fill the processor's caches.
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
  @exclusivity(unchecked) private var hashes: UnsafeMutablePointer<UInt64>
  @exclusivity(unchecked) private var uses: UnsafeMutablePointer<UInt64>
  /// Initialized where there is a hash.
  @exclusivity(unchecked) private var entries: UnsafeMutablePointer<Entry>
  @exclusivity(unchecked) private var setCount = 0
  @exclusivity(unchecked) private var useCount: UInt64 = 0
  /// How often rows were used again since there was room for more.
  @exclusivity(unchecked) private var hitCount = 0
  /// The slot of the entry that was found last: an event often reads a row and then sets it.
  @exclusivity(unchecked) private var last = 0
  /// The numbers of rows that were kept after they were read, and after they were written.
  @exclusivity(unchecked) private var readCount: UInt64 = 0
  @exclusivity(unchecked) private var writtenCount: UInt64 = 0
  /// False once a row did not come back from its encoding as it was. Then nothing is kept.
  @exclusivity(unchecked) private(set) var isFaithful = true

  init(countMax: Int) {
    wayCount = min(4, max(0, countMax))
    let most = wayCount == 0 ? 0 : countMax / wayCount
    setCountMax = most == 0 ? 0 : 1 << (Int.bitWidth - 1 - most.leadingZeroBitCount)
    (hashes, uses, entries) = (.allocate(capacity: 0), .allocate(capacity: 0), .allocate(capacity: 0))
  }

  deinit { free() }

  private func free() {
    for slot in 0..<setCount * wayCount where hashes[slot] != 0 { (entries + slot).deinitialize(count: 1) }
    hashes.deallocate()
    uses.deallocate()
    entries.deallocate()
  }

  private func allocate(setCount count: Int) {
    setCount = count
    let countMax = count * wayCount
    (hashes, uses) = (.allocate(capacity: countMax), .allocate(capacity: countMax))
    hashes.initialize(repeating: 0, count: countMax)
    uses.initialize(repeating: 0, count: countMax)
    entries = .allocate(capacity: countMax)
    (last, hitCount) = (0, 0)
  }

  /// The hash of a row's id, never 0.
  static func hash(_ id: String) -> UInt64 {
    var id = id
    return id.withUTF8 { XXH64.of(UnsafeRawBufferPointer($0)) } | 1 << 63
  }

  /// The same, without computing it again for the row that was found last.
  @inline(__always)
  func hash(of id: String) -> UInt64 {
    if setCount > 0, hashes[last] != 0, entries[last].id.hasSameBits(as: id) { return hashes[last] }
    return Self.hash(id)
  }

  /// The address of a row that is kept, valid until another is kept or removed.
  @inline(__always)
  func address(of id: String) -> UnsafeMutableRawPointer? {
    guard let slot = slot(of: id, hash(of: id)) else { return nil }
    last = slot
    hitCount &+= 1
    useCount &+= 1
    uses[slot] = useCount
    return entries[slot].row.address
  }

  /// Whether the table's bytes are those of this very value, so that it need not be encoded to be compared. False if that
  /// is not known.
  func isStored(_ row: DecodedRow, _ id: String, _ hash: UInt64) -> Bool {
    guard let slot = slot(of: id, hash), entries[slot].isEncoded else { return false }
    hitCount &+= 1
    return row.hasSameBits(as: entries[slot].row)
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
      free()
      allocate(setCount: 0)
      return
    }
    if setCount == 0 { resize(to: min(16, setCountMax)) }
    let slot = slot(of: id, hash) ?? freeSlot(hash)
    useCount &+= 1
    uses[slot] = useCount
    let entry = Entry(id: id, row: row, isEncoded: isEncoded)
    if hashes[slot] == 0 { (entries + slot).initialize(to: entry) } else { entries[slot] = entry }
    hashes[slot] = hash
    last = slot
  }

  func remove(_ id: String, _ hash: UInt64) {
    guard let slot = slot(of: id, hash) else { return }
    (entries + slot).deinitialize(count: 1)
    (hashes[slot], uses[slot]) = (0, 0)
  }

  @inline(__always)
  private func slots(_ hash: UInt64) -> Range<Int> {
    let first = Int(truncatingIfNeeded: hash & UInt64(setCount &- 1)) &* wayCount
    return first..<first &+ wayCount
  }

  @inline(__always)
  private func slot(of id: String, _ hash: UInt64) -> Int? {
    guard setCount > 0 else { return nil }
    for slot in slots(hash) where hashes[slot] == hash {
      if entries[slot].id.hasSameUTF8(as: id) { return slot }
    }
    return nil
  }

  /// A slot for a new row: a free one, or that of the row in the same set that was not used for the longest time.
  private func freeSlot(_ hash: UInt64) -> Int {
    while true {
      var oldest = slots(hash).lowerBound
      for slot in slots(hash) {
        if hashes[slot] == 0 { return slot }
        if uses[slot] < uses[oldest] { oldest = slot }
      }
      if setCount == setCountMax || hitCount < setCount { return oldest }
      resize(to: setCount * 2)
    }
  }

  private func resize(to count: Int) {
    let (hashes, uses, entries, oldCount) = (hashes, uses, entries, setCount * wayCount)
    allocate(setCount: count)
    for index in 0..<oldCount where hashes[index] != 0 {
      // A set is split in two, so there is room.
      guard let slot = slots(hashes[index]).first(where: { self.hashes[$0] == 0 }) else {
        preconditionFailure("a set of rows grew when it was split")
      }
      (self.hashes[slot], self.uses[slot]) = (hashes[index], uses[index])
      (self.entries + slot).moveInitialize(from: entries + index, count: 1)
    }
    hashes.deallocate()
    uses.deallocate()
    entries.deallocate()
  }
}

extension UInt64 {
  /// Whether it is 1, 4, 16, 64 and so on.
  fileprivate var isPowerOfFour: Bool { nonzeroBitCount == 1 && trailingZeroBitCount % 2 == 0 }
}

extension String {
  /// Whether both are the same string in memory, and so have the same bytes: short strings are their bits, and copies
  /// of a long one share them.
  @inline(__always)
  func hasSameBits(as other: String) -> Bool {
    unsafeBitCast(self, to: (UInt64, UInt64).self) == unsafeBitCast(other, to: (UInt64, UInt64).self)
  }

  /// Whether both strings have the same UTF-8 bytes.
  @inline(__always)
  func hasSameUTF8(as other: String) -> Bool {
    if hasSameBits(as: other) { return true }
    guard utf8.count == other.utf8.count else { return false }
    var (a, b) = (self, other)
    return a.withUTF8 { a in
      b.withUTF8 { b in UnsafeRawBufferPointer(a).hasSameBytes(as: UnsafeRawBufferPointer(b)) }
    }
  }
}
