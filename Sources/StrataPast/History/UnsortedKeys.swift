// The keys of one kind before they are written: gathered in any order, and lent in ascending order.

internal import StrataBase
internal import StrataLog
internal import StrataTables

/// Keys with one moment each. A class, so that an array of them does not copy. Belongs to one thread at a time.
final class UnsortedKeys {
  private struct Entry {
    var offset: Int
    var sequence: UInt64
    /// A key may be longer than 16 bits can say: that of a row has its table before the id. With the bit for the birth an
    /// entry has 24 bytes.
    private let lengthAndBirth: UInt32
    var sectionLength: UInt16
    var idLength: UInt16

    var length: Int { Int(lengthAndBirth >> 1) }
    var isBirth: Bool { lengthAndBirth & 1 == 1 }

    init(
      offset: Int, sequence: UInt64, length: Int, sectionLength: Int, idLength: Int, isBirth: Bool
    ) {
      assert(length <= RunKey.lengthMax && idLength <= Tree.keyLengthMax, "a key of a run is too long")
      (self.offset, self.sequence) = (offset, sequence)
      lengthAndBirth = UInt32(truncatingIfNeeded: length << 1) | (isBirth ? 1 : 0)
      self.sectionLength = UInt16(truncatingIfNeeded: sectionLength)
      self.idLength = UInt16(truncatingIfNeeded: idLength)
    }
  }

  // One thread at a time uses them, so the checks of exclusive access are left out.
  @exclusivity(unchecked) private var bytes = RawBuffer(capacity: 1 << 12)
  @exclusivity(unchecked) private var entries: [Entry] = []
  /// Whether the keys were added in ascending order.
  @exclusivity(unchecked) private var isSorted = true
  /// The next of the entries.
  @exclusivity(unchecked) private var position = 0
  /// The parts that were written, each sorted.
  private var parts: [[RecordAddress]] = []
  /// What merges the parts, at the next key; nil while there is nothing to merge.
  @exclusivity(unchecked) private var merge: SortedMerge<KeyPartCursor>?

  /// What is in memory.
  var byteCount: Int { bytes.count + entries.count * MemoryLayout<Entry>.stride }

  func append(
    _ key: UnsafeRawBufferPointer, _ sectionLength: Int, _ idLength: Int, _ sequence: UInt64, isBirth: Bool
  ) {
    if isSorted, let last = entries.last, self.key(last).order(key) > 0 { isSorted = false }
    entries.append(
      Entry(
        offset: bytes.count, sequence: sequence, length: key.count, sectionLength: sectionLength,
        idLength: idLength, isBirth: isBirth))
    bytes.append(key)
  }

  private func key(_ entry: Entry) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes.base + entry.offset, count: entry.length)
  }

  /// The moments of a key are added in order, so keys that came in order are sorted.
  private func sort() {
    guard !isSorted else { return }
    entries.sort { a, b in
      let order = key(a).order(key(b))
      return order != 0 ? order < 0 : a.sequence < b.sequence
    }
    isSorted = true
  }

  /// Moves what is in memory to a part.
  func spill(to parts: KeyParts) throws(StoreError) {
    guard !entries.isEmpty else { return }
    sort()
    for entry in entries {
      try parts.add(
        KeyPartEntry(
          key: key(entry), sectionLength: Int(entry.sectionLength), idLength: Int(entry.idLength),
          sequence: entry.sequence, isBirth: entry.isBirth))
    }
    assert(merge == nil && position == 0, "keys are lent once all of them are gathered")
    self.parts.append(try parts.end())
    entries.removeAll(keepingCapacity: true)
    bytes.removeAll()
    isSorted = true
  }

  // MARK: Lending

  /// To be called after the last key, before the first one is lent.
  func end(_ parts: KeyParts?) throws(StoreError) {
    guard let parts, !self.parts.isEmpty else { return sort() }
    try spill(to: parts)
    merge = try SortedMerge(self.parts.map { KeyPartCursor($0, in: parts) })
    if try merge?.next() != true { merge = nil }
  }

  /// Sets a record to the next key in ascending order, with all of its moments. What a base notes at its begin was there
  /// by then. False at the end.
  func next(_ record: inout KeyRecord, after begin: UInt64) throws(StoreError) -> Bool {
    guard !parts.isEmpty else { return nextInMemory(&record, after: begin) }
    guard let first = merge?.first else { return false }
    record.begin(first.entry, after: begin)
    repeat {
      if let entry = merge?.first.entry { record.add(entry, after: begin) }
      if try merge?.next() != true { merge = nil }
    } while merge.map({ merge in record.key.withUnsafeBytes { $0.hasSameBytes(as: merge.first.entry.key) } })
      ?? false
    return true
  }

  /// The same if all keys are in memory.
  private func nextInMemory(_ record: inout KeyRecord, after begin: UInt64) -> Bool {
    guard position < entries.count else { return false }
    assert(isSorted && parts.isEmpty, "keys are lent in ascending order")
    let first = entries[position]
    record.begin(entry(first), after: begin)
    repeat {
      record.add(entry(entries[position]), after: begin)
      position += 1
    } while position < entries.count && key(entries[position]).hasSameBytes(as: key(first))
    return true
  }

  private func entry(_ entry: Entry) -> KeyPartEntry {
    KeyPartEntry(
      key: key(entry), sectionLength: Int(entry.sectionLength), idLength: Int(entry.idLength),
      sequence: entry.sequence, isBirth: entry.isBirth)
  }
}

extension KeyRecord {
  /// Begins with the first moment of a key.
  fileprivate mutating func begin(_ entry: KeyPartEntry, after begin: UInt64) {
    key.removeAll(keepingCapacity: true)
    key.append(contentsOf: entry.key)
    (sectionLength, idLength) = (entry.sectionLength, entry.idLength)
    moments.removeAll(keepingCapacity: true)
    isAlive = entry.sequence == begin || !entry.isBirth
  }

  fileprivate mutating func add(_ entry: KeyPartEntry, after begin: UInt64) {
    if entry.sequence > begin { moments.append(entry.sequence) }
  }
}
