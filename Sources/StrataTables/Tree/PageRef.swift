// An unowned reference to a page, and access to the parts of the page.

internal import CStrata

/// An unowned reference to a page. Functions that receive one do not extend the page's lifetime: the function that
/// begins an operation holds the root until the operation ends, and a `PageReads`, which keeps the leaves.
package struct PageRef: Equatable {
  package let reference: Unmanaged<Page>

  @inline(__always) package init(_ page: Page) { reference = .passUnretained(page) }
  @inline(__always) init(_ reference: Unmanaged<Page>) { self.reference = reference }

  @inline(__always)
  package static func == (one: PageRef, other: PageRef) -> Bool {
    one.reference.toOpaque() == other.reference.toOpaque()
  }

  /// A new page, owned by the caller.
  @inline(__always)
  init(creating header: PageHeader) {
    let words = (MemoryLayout<PageAddress>.size + Int(header.capacity) + 7) / 8
    let buffer = Page.create(minimumCapacity: words) { _ in header }
    reference = .passRetained(unsafeDowncast(buffer, to: Page.self))
    assert(
      buffer.withUnsafeMutablePointerToHeader { UnsafeRawPointer($0) } == UnsafeRawPointer(self.header),
      "a page's header is not where it should be")
    address.initialize(to: .none)
  }

  /// The header, found by its offset from the object. Reading it through the object would retain and release the object
  /// each time.
  @inline(__always) package var header: UnsafeMutablePointer<PageHeader> {
    (reference.toOpaque() + PageHeader.offset).assumingMemoryBound(to: PageHeader.self)
  }

  @inline(__always) static func area(_ header: UnsafeMutablePointer<PageHeader>) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(header + 1) + MemoryLayout<PageAddress>.size
  }

  /// Where the page is on disk: see `PageAddress` for who may touch it.
  @inline(__always) package var address: UnsafeMutablePointer<PageAddress> {
    UnsafeMutableRawPointer(header + 1).assumingMemoryBound(to: PageAddress.self)
  }

  /// The bytes after the address.
  @inline(__always) var area: UnsafeMutableRawPointer { Self.area(header) }
  @inline(__always) package var count: Int { Int(header.pointee.count) }
  @inline(__always) package var total: Int { Int(header.pointee.total) }
  @inline(__always) package var height: Int { Int(header.pointee.height) }
  @inline(__always) package var isLeaf: Bool { header.pointee.height == 0 }
  @inline(__always) var isLarge: Bool { header.pointee.flags.contains(.large) }
  @inline(__always) var prefixLength: Int { Int(header.pointee.prefixLength) }
  @inline(__always) var prefix: ByteRun { ByteRun(base: UnsafeRawPointer(area), count: prefixLength) }

  /// The offset of the slots: after a prefix of this length, padded to 8 bytes.
  @inline(__always) package static func slotsOffset(_ prefixLength: Int) -> Int {
    (prefixLength + 7) & ~7
  }

  @inline(__always) var slots: UnsafeMutablePointer<Slot> { Self.slots(header) }

  @inline(__always)
  static func slots(_ header: UnsafeMutablePointer<PageHeader>) -> UnsafeMutablePointer<Slot> {
    (area(header) + slotsOffset(Int(header.pointee.prefixLength))).assumingMemoryBound(to: Slot.self)
  }
}

extension PageRef {
  /// The references to the children of an inner page, for its owner. Others use `link` and `child`.
  @inline(__always)
  package static func children(_ header: UnsafeMutablePointer<PageHeader>) -> UnsafeMutablePointer<PageRef> {
    assert(header.pointee.height > 0, "a leaf has no children")
    return UnsafeMutableRawPointer(slots(header) + (Int(header.pointee.count) - 1))
      .assumingMemoryBound(to: PageRef.self)
  }

  @inline(__always) var children: UnsafeMutablePointer<PageRef> { Self.children(header) }

  /// The reference to a child of an inner page, which may be a stub. A leaf that is on disk may be replaced by a stub
  /// for it at any time, if the page is shared.
  @inline(__always)
  package func link(_ index: Int) -> PageRef {
    assert(index < count, "a page has no such child")
    return PageRef(Unmanaged.fromOpaque(strata_load_address(word(index)).unsafelyUnwrapped))
  }

  /// Replaces the reference to a child in a page that other threads may read, and returns the old one.
  package func exchange(_ index: Int, with child: PageRef) -> PageRef {
    assert(child.height == height - 1, "a page receives a child that cannot be its own")
    let old = strata_exchange_address(word(index), child.reference.toOpaque())
    return PageRef(Unmanaged.fromOpaque(old.unsafelyUnwrapped))
  }

  @inline(__always)
  private func word(_ index: Int) -> UnsafeMutablePointer<UnsafeMutableRawPointer?> {
    UnsafeMutableRawPointer(children + index).assumingMemoryBound(to: UnsafeMutableRawPointer?.self)
  }

  /// A child of an inner page, read from disk if it is not in memory.
  @inline(__always)
  func child(_ index: Int) -> PageRef { link(index).loaded }

  /// The number of entries under each child of an inner page.
  @inline(__always) var counts: UnsafeMutablePointer<UInt32> {
    UnsafeMutableRawPointer(children + count).assumingMemoryBound(to: UInt32.self)
  }
}

extension PageRef {
  /// Whether this is the only reference to a child.
  @inline(__always)
  package static func isUnique(_ child: UnsafeMutablePointer<PageRef>) -> Bool {
    let pointer = UnsafeMutableRawPointer(child).assumingMemoryBound(to: Page.self)
    return isKnownUniquelyReferenced(&pointer.pointee)
  }

  /// Releases one reference. Not inlined, so that no read of the page's bytes moves after the release.
  @inline(never) package func release() { reference.release() }

  @inline(__always) package func retain() { _ = reference.retain() }

  /// The size of the allocation in bytes.
  package var allocatedBytes: Int { Int(header.pointee.capacity) + PageHeader.overhead }

  /// The bytes of a leaf that are in use: prefix, slots, and the heap without its garbage.
  @inline(__always) var usedBytes: Int {
    let fields = header.pointee
    return Self.slotsOffset(prefixLength) + count * Slot.size + Int(fields.capacity - fields.heapTop)
      - Int(fields.garbage)
  }

  /// The bytes between a leaf's slots and its heap.
  @inline(__always) var freeBytes: Int {
    Int(header.pointee.heapTop) - Self.slotsOffset(prefixLength) - count * Slot.size
  }

  /// The value of a leaf's entry.
  @inline(__always)
  func value(_ index: Int) -> UnsafeRawBufferPointer {
    assert(isLeaf && index < count, "a page is not a leaf, or has no such value")
    let slot = slots[index]
    return UnsafeRawBufferPointer(
      start: area + Int(slot.leafOffset) + slot.restLength, count: slot.valueLength)
  }
}
