// The indexes of closed segments that are in memory, within a bound.

/// A cache of indexes by what they cover. Beyond its bound it drops the least recently used ones; a dropped index is
/// read or built again when it is needed.
struct ClosedIndexCache {
  /// The default bound in bytes of tables, filters and fences.
  static let bytesMaxDefault = 64 << 20

  private struct Entry {
    var index: ClosedIndex
    var byteCount: Int
    var used: UInt64
  }

  let bytesMax: Int
  private(set) var byteCount = 0
  private var entries: [IndexPart: Entry] = [:]
  private var clock: UInt64 = 0

  init(bytesMax: Int = bytesMaxDefault) { self.bytesMax = bytesMax }

  var count: Int { entries.count }

  /// The index of a segment. Setting one may evict others, but never the one that is set.
  subscript(part: IndexPart) -> ClosedIndex? {
    mutating get {
      guard let entry = entries[part] else { return nil }
      clock += 1
      entries[part]!.used = clock
      return entry.index
    }
    set {
      if let old = entries.removeValue(forKey: part) { byteCount -= old.byteCount }
      assert(byteCount >= 0, "an evicted index frees no more bytes than it added")
      guard let newValue else { return }
      assert(newValue.part == part, "an index is stored under its own segment")
      clock += 1
      entries[part] = Entry(index: newValue, byteCount: newValue.residentBytes, used: clock)
      byteCount += newValue.residentBytes
      while byteCount > bytesMax, entries.count > 1,
        let oldest = entries.min(by: { $0.value.used < $1.value.used })?.key
      {
        byteCount -= entries.removeValue(forKey: oldest)!.byteCount
      }
    }
  }
}

extension ClosedIndex {
  /// Bytes in memory while the index is kept.
  var residentBytes: Int {
    switch content {
    case .memory(let tables): tables.allocatedBytes
    case .file(let file): file.residentBytes
    }
  }
}
