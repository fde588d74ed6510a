// A whole key, assembled from the parts that a page stores.

/// Memory for one key at a time. A page's prefix is copied once for all of its keys.
package struct KeyBuffer: ~Copyable {
  private(set) var base: UnsafeMutableRawPointer
  private var capacity: Int

  package init() {
    capacity = 120
    base = .allocate(byteCount: capacity + 8, alignment: 8)
  }

  deinit { base.deallocate() }

  /// Copies the prefix of a page. Call it before reading keys of that page.
  @inline(__always)
  package mutating func begin(_ page: PageRef) {
    let prefix = page.prefix
    if prefix.count > capacity { grow(prefix.count, keeping: 0) }
    base.copyMemory(from: prefix.base, byteCount: prefix.count)
  }

  /// The key of an entry of the leaf that `begin` was last called for. Valid until the next call.
  @inline(__always)
  mutating func leafKey(_ page: PageRef, _ index: Int) -> ByteRun {
    assert(page.isLeaf && index < page.count, "a page is not a leaf, or has no such entry")
    let slot = page.slots[index]
    return key(page, slot, restOffset: Int(slot.leafOffset))
  }

  /// A separator of the inner page that `begin` was last called for. Valid until the next call.
  @inline(__always)
  package mutating func separator(_ page: PageRef, _ index: Int) -> ByteRun {
    assert(!page.isLeaf && index < page.count - 1, "a page is a leaf, or has no such separator")
    let slot = page.slots[index]
    return key(page, slot, restOffset: Int(slot.wide))
  }

  @inline(__always)
  private mutating func key(_ page: PageRef, _ slot: Slot, restOffset: Int) -> ByteRun {
    let prefixLength = page.prefixLength
    assert(
      ByteRun(base: base, count: min(prefixLength, capacity)).equals(page.prefix),
      "a key is assembled with another page's prefix")
    let length = prefixLength + Int(slot.suffixLength)
    if length > capacity { grow(length, keeping: prefixLength) }
    base.storeBytes(of: slot.head.bigEndian, toByteOffset: prefixLength, as: UInt64.self)
    let rest = slot.restLength
    if rest > 0 {
      (base + prefixLength + 8).copyMemory(from: page.area + restOffset, byteCount: rest)
    }
    return ByteRun(base: UnsafeRawPointer(base), count: length)
  }

  /// `begin` and `leafKey` in one.
  package mutating func key(of page: PageRef, _ index: Int) -> ByteRun {
    begin(page)
    return leafKey(page, index)
  }

  @inline(never)
  private mutating func grow(_ length: Int, keeping kept: Int) {
    let larger = max(capacity * 2, length)
    let moved = UnsafeMutableRawPointer.allocate(byteCount: larger + 8, alignment: 8)
    moved.copyMemory(from: base, byteCount: kept)
    base.deallocate()
    base = moved
    capacity = larger
  }
}
