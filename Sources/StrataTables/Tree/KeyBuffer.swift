// A whole key, put together from the parts that a page has of it.

/// Memory for one key at a time. A page's prefix is copied once for all keys of the page.
struct KeyBuffer: ~Copyable {
  private(set) var base: UnsafeMutableRawPointer
  private var capacity: Int

  init() {
    capacity = 120
    base = .allocate(byteCount: capacity + 8, alignment: 8)
  }

  deinit { base.deallocate() }

  /// Copies the prefix of the page whose keys come next.
  @inline(__always)
  mutating func begin(_ page: PageRef) {
    let prefix = page.prefix
    if prefix.count > capacity { grow(prefix.count, keeping: 0) }
    base.copyMemory(from: prefix.base, byteCount: prefix.count)
  }

  /// The key of an entry of a leaf for which `begin` was called last. Valid until the next call.
  @inline(__always)
  mutating func leafKey(_ page: PageRef, _ index: Int) -> ByteRun {
    assert(page.isLeaf && index < page.count, "a page is no leaf, or has no such entry")
    let slot = page.slots[index]
    return key(page, slot, restOffset: Int(slot.leafOffset))
  }

  /// The separator of an inner page for which `begin` was called last. Valid until the next call.
  @inline(__always)
  mutating func separator(_ page: PageRef, _ index: Int) -> ByteRun {
    assert(!page.isLeaf && index < page.count - 1, "a page is a leaf, or has no such separator")
    let slot = page.slots[index]
    return key(page, slot, restOffset: Int(slot.wide))
  }

  @inline(__always)
  private mutating func key(_ page: PageRef, _ slot: Slot, restOffset: Int) -> ByteRun {
    let prefixLength = page.prefixLength
    assert(
      ByteRun(base: base, count: min(prefixLength, capacity)).equals(page.prefix),
      "a key is put together behind another page's prefix")
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
  mutating func key(of page: PageRef, _ index: Int) -> ByteRun {
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
