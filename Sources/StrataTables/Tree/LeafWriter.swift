// Writing a leaf from entries in ascending order.

/// Fills one new leaf. The entries that are appended must take exactly the bytes that were announced.
package struct LeafWriter {
  let page: PageRef
  private let prefixLength: Int
  private var heapEnd: Int

  /// - Parameters:
  ///   - prefix: the common prefix of all keys; copied.
  ///   - heapBytes: the bytes of all values and of all keys' rests.
  ///   - capacity: bytes after the header.
  package init(prefix: ByteRun, heapBytes: Int, capacity: Int, isLarge: Bool = false) {
    let top = capacity - heapBytes
    page = PageRef(
      creating: PageHeader(
        count: 0, height: 0, flags: isLarge ? .large : [], hint: PageHeader.noHint,
        prefixLength: UInt16(truncatingIfNeeded: prefix.count),
        capacity: UInt32(truncatingIfNeeded: capacity), heapTop: UInt32(truncatingIfNeeded: top),
        garbage: 0, total: 0))
    page.area.copyMemory(from: prefix.base, byteCount: prefix.count)
    prefixLength = prefix.count
    heapEnd = top
  }

  /// The page, once all announced entries are in it.
  package func finish() -> PageRef {
    assert(heapEnd == Int(page.header.pointee.capacity), "a leaf did not receive all announced entries")
    return page
  }

  /// Appends an entry whose key begins with the prefix.
  @inline(__always)
  package mutating func append(_ key: ByteRun, _ value: ByteRun) {
    assert(key.order(againstPrefix: page.prefix) == 0, "a leaf receives a key without its prefix")
    add(key.head(prefixLength), key.base + prefixLength, key.count - prefixLength, value)
  }

  /// Appends an entry whose key is the prefix and these bytes.
  @inline(__always)
  mutating func append(suffix: ByteRun, _ value: ByteRun) {
    add(suffix.head(0), suffix.base, suffix.count, value)
  }

  @inline(__always)
  private mutating func add(
    _ head: UInt64, _ suffix: UnsafeRawPointer, _ suffixLength: Int, _ value: ByteRun
  ) {
    let rest = max(0, suffixLength - 8)
    addSlot(head, suffixLength, value.count)
    let target = page.area + heapEnd
    if rest > 0 { target.copyMemory(from: suffix + 8, byteCount: rest) }
    (target + rest).copyMemory(from: value.base, byteCount: value.count)
    heapEnd += rest + value.count
  }

  /// Appends entries of another leaf.
  mutating func append(_ source: PageRef, _ range: Range<Int>, _ buffer: inout KeyBuffer) {
    guard !range.isEmpty else { return }
    guard source.prefixLength == prefixLength else {
      buffer.begin(source)
      for index in range { append(buffer.leafKey(source, index), ByteRun(source.value(index))) }
      return
    }
    assert(source.prefix.equals(page.prefix), "two prefixes of one length differ between leaves in one range")
    let slots = source.slots
    let area = source.area
    for index in range {
      let slot = slots[index]
      addSlot(slot.head, Int(slot.suffixLength), slot.valueLength)
      (page.area + heapEnd).copyMemory(from: area + Int(slot.leafOffset), byteCount: slot.heapLength)
      heapEnd += slot.heapLength
    }
  }

  @inline(__always)
  private func addSlot(_ head: UInt64, _ suffixLength: Int, _ valueLength: Int) {
    let index = page.count
    assert(page.freeBytes >= Slot.size, "a leaf receives more entries than were announced")
    assert(index == 0 || page.slots[index - 1].head <= head, "the entries of a leaf do not ascend")
    (page.slots + index).initialize(
      to: Slot(
        head: head, suffixLength: UInt16(truncatingIfNeeded: suffixLength),
        leafOffset: UInt16(truncatingIfNeeded: heapEnd), wide: UInt32(truncatingIfNeeded: valueLength)))
    page.header.pointee.count = UInt16(truncatingIfNeeded: index + 1)
    page.header.pointee.total = UInt32(truncatingIfNeeded: index + 1)
  }
}

/// The sizes that decide how entries are distributed over pages.
package struct PageLayout {
  /// The bytes after the header of a page that several entries share.
  package let area: Int
  package static let childCountMax = 16

  @inline(__always) init(pageSize: Int) { area = pageSize - PageHeader.overhead }

  /// Whether an entry gets a page of its own. With entries of at most half a page every split is possible: both sides
  /// fit, whatever the sizes of the other entries.
  @inline(__always)
  func isLarge(_ key: ByteRun, _ value: ByteRun) -> Bool {
    isLarge(keyLength: key.count, valueLength: value.count)
  }

  @inline(__always)
  package func isLarge(keyLength: Int, valueLength: Int) -> Bool {
    Slot.size + keyLength + valueLength > area / 2 - 8
  }

  /// A new page for one entry, owned by the caller. The page of a large entry is exactly as large as it must be.
  package func page(_ key: ByteRun, _ value: ByteRun) -> PageRef {
    let heapBytes = max(0, key.count - 8) + value.count
    let size = Slot.size + heapBytes
    let isLarge = isLarge(key, value)
    let capacity = isLarge ? size : min(area, max(208, 2 * size))
    var writer = LeafWriter(
      prefix: ByteRun(base: key.base, count: 0), heapBytes: heapBytes, capacity: capacity, isLarge: isLarge)
    writer.append(key, value)
    return writer.finish()
  }
}
