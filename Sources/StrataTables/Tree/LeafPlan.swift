// A leaf after an insertion or a replaced value, before it is written as one page or two.

/// The entries of a leaf with one entry inserted or replaced.
struct LeafPlan {
  let page: PageRef
  let index: Int
  let isReplacing: Bool
  let key: ByteRun
  let value: ByteRun

  var count: Int { page.count + (isReplacing ? 0 : 1) }

  /// The index in the page of the plan's entry at `place`; nil for the new entry.
  @inline(__always)
  private func source(_ position: Int) -> Int? {
    position < index ? position : position == index ? nil : isReplacing ? position : position - 1
  }

  func loadKey(_ position: Int, _ buffer: inout KeyBuffer) -> ByteRun {
    guard let source = source(position) else { return key }
    return buffer.key(of: page, source)
  }

  /// The slot and heap bytes of one entry in a page with a prefix of this length.
  @inline(__always)
  func bytes(of position: Int, prefixLength: Int) -> Int {
    guard let source = source(position) else {
      return Slot.size + max(0, key.count - prefixLength - 8) + value.count
    }
    let slot = page.slots[source]
    return Slot.size + max(0, Int(slot.suffixLength) + page.prefixLength - prefixLength - 8)
      + slot.valueLength
  }

  /// The longest prefix for a range of the plan. For a single entry it is what the key has in common with the page's
  /// prefix, and not the whole key: the prefix that its neighbours will share is worth more.
  func prefixLength(_ range: Range<Int>) -> Int {
    var first = KeyBuffer()
    var last = KeyBuffer()
    let low = loadKey(range.lowerBound, &first)
    guard range.count > 1 else { return low.commonPrefixLength(page.prefix) }
    return low.commonPrefixLength(loadKey(range.upperBound - 1, &last))
  }

  /// The size of a range of the plan as a page: prefix, slots and heap.
  func size(_ range: Range<Int>, prefixLength: Int) -> Int {
    var size = PageRef.slotsOffset(prefixLength)
    for position in range { size += bytes(of: position, prefixLength: prefixLength) }
    return size
  }

  /// Writes a range of the plan into a new page, owned by the caller.
  func write(_ range: Range<Int>, capacity: Int) -> PageRef {
    var buffer = KeyBuffer()
    var prefixLength = prefixLength(range)
    var size = size(range, prefixLength: prefixLength)
    if size > capacity {
      // A longer prefix saves nothing for keys that fit in their slots, and takes space itself.
      prefixLength = min(prefixLength, page.prefixLength)
      size = self.size(range, prefixLength: prefixLength)
    }
    assert(size <= capacity, "a split left too many bytes on one side")
    let heapBytes = size - PageRef.slotsOffset(prefixLength) - range.count * Slot.size
    let prefix = ByteRun(base: loadKey(range.lowerBound, &buffer).base, count: prefixLength)
    var writer = LeafWriter(prefix: prefix, heapBytes: heapBytes, capacity: capacity)
    let before = range.clamped(to: 0..<index)
    writer.append(page, before, &buffer)
    if range.contains(index) {
      writer.append(key, value)
      writer.page.header.pointee.hint = UInt16(truncatingIfNeeded: index - range.lowerBound)
    }
    let shift = isReplacing ? 0 : 1
    let after = range.clamped(to: index + 1..<max(count, index + 1))
    writer.append(page, after.lowerBound - shift..<after.upperBound - shift, &buffer)
    let written = writer.finish()
    assert(written.count == range.count, "a leaf does not have the entries that were planned for it")
    return written
  }
}

extension LeafPlan {
  /// The number of entries of the plan that go to the left page in a split.
  ///
  /// An insertion next to the previous one predicts where the next one will be. The page is then split at that
  /// position, so a run of insertions leaves full pages. All other splits are by bytes.
  func splitPosition(_ layout: PageLayout) -> Int {
    let hint = Int(page.header.pointee.hint)
    if !isReplacing {
      if index == page.count { return count - 1 }
      if index == 0 { return 1 }
      let position = index == hint ? index : index == hint + 1 ? index + 1 : 0
      if position > 0, position < count, fits(0..<position, layout), fits(position..<count, layout) {
        return position
      }
    }
    return splitPositionByBytes()
  }

  private func fits(_ range: Range<Int>, _ layout: PageLayout) -> Bool {
    size(range, prefixLength: page.prefixLength) <= layout.area
  }

  /// Splits in the middle of the bytes. The entry in the middle goes to the side that has less.
  private func splitPositionByBytes() -> Int {
    let prefixLength = page.prefixLength
    var total = 0
    for position in 0..<count { total += bytes(of: position, prefixLength: prefixLength) }
    var left = 0
    for position in 0..<count {
      let size = bytes(of: position, prefixLength: prefixLength)
      if 2 * (left + size) >= total {
        let isLeft = left < total - left - size
        return min(max(isLeft ? position + 1 : position, 1), count - 1)
      }
      left += size
    }
    return count - 1
  }
}

extension PageRef {
  /// Two neighbouring leaves in one new page, nil if the page would be filled past `sizeMax` bytes.
  static func merging(_ left: PageRef, _ right: PageRef, sizeMax: Int, area: Int) -> PageRef? {
    // A lower bound of the merged size, which is enough to reject a pair without reading its entries.
    let least = left.usedBytes + right.usedBytes - 2 * min(left.prefixLength, right.prefixLength) - 64
    guard !left.isLarge, !right.isLarge, least <= sizeMax else { return nil }
    var first = KeyBuffer()
    var last = KeyBuffer()
    let low = first.key(of: left, 0)
    let high = last.key(of: right, right.count - 1)
    assert(low.order(against: high) < 0, "two leaves are merged that are not in this order")
    let prefixLength = low.commonPrefixLength(high)
    var heapBytes = 0
    for page in [left, right] {
      for index in 0..<page.count {
        let slot = page.slots[index]
        heapBytes += max(0, page.prefixLength + Int(slot.suffixLength) - prefixLength - 8) + slot.valueLength
      }
    }
    let size = slotsOffset(prefixLength) + (left.count + right.count) * Slot.size + heapBytes
    guard size <= sizeMax else { return nil }
    var writer = LeafWriter(
      prefix: ByteRun(base: low.base, count: prefixLength), heapBytes: heapBytes, capacity: area)
    writer.append(left, 0..<left.count, &last)
    writer.append(right, 0..<right.count, &last)
    return writer.finish()
  }
}
