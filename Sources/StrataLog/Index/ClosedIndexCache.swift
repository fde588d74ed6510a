// The indexes of closed segments that are in memory, within a bound.

internal import StrataBase

/// A cache of indexes by what they cover. What is evicted beyond its bound is read or built again when it is needed.
struct ClosedIndexCache {
  /// The default bound in bytes of tables, filters and fences.
  static let bytesMaxDefault = 64 << 20

  private final class Entry: CacheEntry {
    let index: ClosedIndex
    let byteCount: Int
    var cacheIndex: Int?
    var wasUsed = true

    init(_ index: ClosedIndex) { (self.index, byteCount) = (index, index.residentBytes) }

    func unmark() -> Bool {
      defer { wasUsed = false }
      return wasUsed
    }
  }

  private var ring: CacheRing<Entry>
  private var entries: [IndexPart: Entry] = [:]

  init(bytesMax: Int = bytesMaxDefault) { ring = CacheRing(limit: bytesMax) }

  var count: Int { entries.count }
  var byteCount: Int { ring.byteCount }

  /// The index of a segment. Setting one may evict others, but never the one that is set.
  subscript(part: IndexPart) -> ClosedIndex? {
    get {
      entries[part]?.wasUsed = true
      return entries[part]?.index
    }
    set {
      if let old = entries.removeValue(forKey: part) { ring.remove(old) }
      guard let newValue else { return }
      assert(newValue.part == part, "an index is stored under its own segment")
      for evicted in ring.evict(for: newValue.residentBytes) { entries[evicted.index.part] = nil }
      let entry = Entry(newValue)
      ring.add(entry)
      entries[part] = entry
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
