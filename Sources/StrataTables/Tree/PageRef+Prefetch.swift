// Prefetching memory before it is needed: in a large tree most of the time of a change is spent waiting for pages.

internal import CStrata

extension PageRef {
  /// The size of a cache line, in bytes.
  private static let line = 64

  /// Prefetches the beginning of a page, with the header, the prefix and the first slots. Without it a search would
  /// wait for each of them in turn.
  @inline(__always)
  func prefetch() {
    let base = UnsafeRawPointer(reference.toOpaque())
    for index in 0..<8 { strata_prefetch(base + index * Self.line) }
  }

  /// Prefetches the slots that the first steps of a binary search over many slots may read.
  @inline(__always)
  static func prefetchMiddles(_ slots: UnsafeMutablePointer<Slot>, _ count: Int) {
    let eighth = count >> 3
    for index in 2..<8 { strata_prefetch(slots + index * eighth) }
  }

  /// Prefetches everything in a leaf.
  func prefetchEntries() {
    let base = UnsafeRawPointer(area)
    let slotsEnd = Self.slotsOffset(prefixLength) + count * Slot.size
    for offset in stride(from: 0, to: slotsEnd, by: Self.line) { strata_prefetch(base + offset) }
    let (top, end) = (Int(header.pointee.heapTop), Int(header.pointee.capacity))
    for offset in stride(from: top, to: end, by: Self.line) { strata_prefetch(base + offset) }
  }

  /// Prefetches the reference count of a page.
  @inline(__always)
  func prefetchCount() { strata_prefetch(reference.toOpaque()) }

  /// Prefetches the reference counts of the children of an inner page.
  @inline(__always)
  func prefetchChildren() {
    for index in 0..<count { link(index).prefetchCount() }
  }
}
