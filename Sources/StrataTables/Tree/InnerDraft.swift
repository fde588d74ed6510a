// The children of one inner page or of two, before they are written.

/// Children in ascending order and the separators between them. The draft owns a reference to each child until a page
/// is built from it.
package struct InnerDraft: ~Copyable {
  private let height: Int
  private var children: [PageRef] = []
  private var separatorBytes: [UInt8] = []
  private var separatorEnds: [Int] = []

  package var count: Int { children.count }

  /// - Parameter height: the height of the pages that are built, one above that of the children.
  package init(height: Int) {
    self.height = height
    children.reserveCapacity(PageLayout.childCountMax + 2)
    separatorEnds.reserveCapacity(PageLayout.childCountMax + 2)
  }

  /// Appends a child and takes over its reference. The separator before the first child is ignored.
  package mutating func append(owned child: PageRef, separator: ByteRun) {
    assert(child.height == height - 1, "a child is not one height below its page")
    if !children.isEmpty {
      assert(isAboveLast(separator), "the separators of an inner page do not ascend")
      separatorBytes.append(contentsOf: separator.buffer)
      separatorEnds.append(separatorBytes.count)
    }
    children.append(child)
  }

  /// Whether a separator orders after the last one.
  private func isAboveLast(_ separator: ByteRun) -> Bool {
    guard let end = separatorEnds.last else { return true }
    let start = separatorEnds.dropLast().last ?? 0
    return separatorBytes.withUnsafeBytes { bytes in
      ByteRun(UnsafeRawBufferPointer(rebasing: bytes[start..<end])).order(against: separator) < 0
    }
  }

  /// Appends children of a page and retains them.
  mutating func append(_ page: PageRef, _ range: Range<Int>, _ buffer: inout KeyBuffer) {
    guard !range.isEmpty else { return }
    buffer.begin(page)
    let empty = ByteRun(base: UnsafeRawPointer(page.area), count: 0)
    for index in range {
      let child = page.link(index)
      child.retain()
      append(owned: child, separator: index == 0 ? empty : buffer.separator(page, index - 1))
    }
  }

  /// The separator before the child at `index`.
  func separator(before index: Int) -> [UInt8] {
    let start = index == 1 ? 0 : separatorEnds[index - 2]
    return Array(separatorBytes[start..<separatorEnds[index - 1]])
  }

  /// Builds a page from a range of the children. The caller owns the page. Each child must be built into one page only.
  package func build(_ range: Range<Int>) -> PageRef {
    assert(
      (1...PageLayout.childCountMax).contains(range.count), "an inner page holds no children, or too many")
    assert(range.upperBound <= count, "a draft has no such children")
    return separatorBytes.withUnsafeBytes { bytes in
      let base = ByteRun(bytes).base
      func separator(_ index: Int) -> ByteRun {
        let start = index == 0 ? 0 : separatorEnds[index - 1]
        return ByteRun(base: base + start, count: separatorEnds[index] - start)
      }
      let separators = range.lowerBound..<range.upperBound - 1
      // A single separator is cheaper to compare without a prefix.
      let prefix =
        separators.count < 2
        ? ByteRun(base: base, count: 0)
        : ByteRun(
          base: separator(separators.lowerBound).base,
          count: separator(separators.lowerBound)
            .commonPrefixLength(separator(separators.upperBound - 1)))
      var restBytes = 0
      for index in separators { restBytes += max(0, separator(index).count - prefix.count - 8) }
      let front =
        PageRef.slotsOffset(prefix.count) + separators.count * Slot.size
        + range.count * (MemoryLayout<PageRef>.stride + MemoryLayout<UInt32>.stride)
      let page = PageRef(
        creating: PageHeader(
          count: UInt16(truncatingIfNeeded: range.count), height: UInt8(truncatingIfNeeded: height),
          flags: [], hint: PageHeader.noHint, prefixLength: UInt16(truncatingIfNeeded: prefix.count),
          capacity: UInt32(truncatingIfNeeded: front + restBytes),
          heapTop: UInt32(truncatingIfNeeded: front), garbage: 0, total: 0))
      page.area.copyMemory(from: prefix.base, byteCount: prefix.count)
      fill(page, range, prefixLength: prefix.count, heap: front, separator)
      return page
    }
  }

  private func fill(
    _ page: PageRef, _ range: Range<Int>, prefixLength: Int, heap: Int, _ separator: (Int) -> ByteRun
  ) {
    var heapEnd = heap
    for (position, index) in (range.lowerBound..<range.upperBound - 1).enumerated() {
      let separator = separator(index)
      let suffixLength = separator.count - prefixLength
      let rest = max(0, suffixLength - 8)
      if rest > 0 {
        (page.area + heapEnd).copyMemory(from: separator.base + prefixLength + 8, byteCount: rest)
      }
      (page.slots + position).initialize(
        to: Slot(
          head: separator.head(prefixLength), suffixLength: UInt16(truncatingIfNeeded: suffixLength),
          leafOffset: 0, wide: UInt32(truncatingIfNeeded: heapEnd)))
      heapEnd += rest
    }
    assert(heapEnd == Int(page.header.pointee.capacity), "an inner page is not as large as it must be")
    var total: UInt32 = 0
    for (position, index) in range.enumerated() {
      (page.children + position).initialize(to: children[index])
      let count = children[index].header.pointee.total
      (page.counts + position).initialize(to: count)
      total += count
    }
    page.header.pointee.total = total
  }
}

extension PageRef {
  /// A copy of an inner page, owned by the caller, with another child at `index`. The copy takes over the child's
  /// reference.
  func copyingInner(_ index: Int, owned child: PageRef) -> PageRef {
    assert(index < count && child.height == height - 1, "a page receives a child that cannot be its own")
    let copy = PageRef(creating: header.pointee)
    // The references to children may be replaced meanwhile, and are copied one by one.
    let front = UnsafeRawPointer(children) - UnsafeRawPointer(area)
    let back = UnsafeRawPointer(counts) - UnsafeRawPointer(area)
    copy.area.copyMemory(from: area, byteCount: front)
    (copy.area + back).copyMemory(from: area + back, byteCount: Int(header.pointee.capacity) - back)
    let children = copy.children
    for position in 0..<count {
      let kept = position == index ? child : link(position)
      if position != index { kept.retain() }
      (children + position).initialize(to: kept)
    }
    let old = copy.counts[index]
    let new = child.header.pointee.total
    copy.counts[index] = new
    copy.header.pointee.total = copy.header.pointee.total - old + new
    assert(copy.isTotalOfCounts, "the total of a copied page is not the sum of its counts")
    return copy
  }
}

extension PageRef {
  /// Whether an inner page's total is the sum of its counts. O(children).
  var isTotalOfCounts: Bool { (0..<count).reduce(0) { $0 + Int(counts[$1]) } == total }
}

/// The shortest bytes that are above `left` and not above `right`, two neighbouring keys: their common prefix and one
/// more byte of the right key.
@inline(__always)
func shortestSeparator(_ left: ByteRun, _ right: ByteRun) -> ByteRun {
  assert(left.order(against: right) < 0, "a separator is made for keys that do not ascend")
  return ByteRun(base: right.base, count: left.commonPrefixLength(right) + 1)
}
