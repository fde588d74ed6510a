// Asking for memory before it is needed: in a large tree most of a change is waiting for pages.

internal import CStrata

extension PageRef {
  /// Bytes that the processor fetches at once.
  private static let line = 64

  /// Asks for the beginning of a page, where the header, the prefix and the first slots are. A search would
  /// wait for one after the other.
  @inline(__always)
  func prefetch() {
    let base = UnsafeRawPointer(reference.toOpaque())
    for index in 0..<8 { strata_prefetch(base + index * Self.line) }
  }

  /// Asks for the slots that the first steps of a search among many may look at.
  @inline(__always)
  static func prefetchMiddles(_ slots: UnsafeMutablePointer<Slot>, _ count: Int) {
    let eighth = count >> 3
    for index in 2..<8 { strata_prefetch(slots + index * eighth) }
  }

  /// Asks for all that a leaf holds.
  func prefetchEntries() {
    let base = UnsafeRawPointer(area)
    let slotsEnd = Self.slotsOffset(prefixLength) + count * Slot.size
    for offset in stride(from: 0, to: slotsEnd, by: Self.line) { strata_prefetch(base + offset) }
    let (top, end) = (Int(header.pointee.heapTop), Int(header.pointee.capacity))
    for offset in stride(from: top, to: end, by: Self.line) { strata_prefetch(base + offset) }
  }

  /// Asks for what counts the references to a page.
  @inline(__always)
  func prefetchCount() { strata_prefetch(reference.toOpaque()) }

  /// Asks for what counts the references to each child of an inner page.
  @inline(__always)
  func prefetchChildren() {
    let children = self.children
    for index in 0..<count { children[index].prefetchCount() }
  }
}
