// The invariants of every page of a tree.

extension Tree {
  /// Checks every page in memory. Returns a sentence about the first broken invariant, nil if all hold. O(bytes).
  package func checkInvariants() -> String? {
    guard let root else { return nil }
    return PageReads.of(root) {
      let page = PageRef(root)
      if page.height > 0, !page.isStub, page.count < 2 { return "the root has only one child" }
      do throws(BrokenLaw) {
        try check(page, low: nil, high: nil)
        return nil
      } catch {
        return error.sentence
      }
    }
  }

  private struct BrokenLaw: Error {
    var sentence: String
  }

  private func hold(_ condition: Bool, _ page: PageRef, _ sentence: String) throws(BrokenLaw) {
    guard condition else {
      throw BrokenLaw(sentence: "\(sentence) (height \(page.height), \(page.count) entries or children)")
    }
  }

  /// Checks a page whose keys must be at or above `low` and below `high`.
  private func check(_ page: PageRef, low: [UInt8]?, high: [UInt8]?) throws(BrokenLaw) {
    if page.isStub { return try checkStub(page, low, high) }
    try hold(page.count > 0, page, "a page is empty")
    if page.isLeaf {
      try checkLeaf(page, low, high)
    } else {
      try checkInner(page, low, high)
    }
  }

  private func checkStub(_ page: PageRef, _ low: [UInt8]?, _ high: [UInt8]?) throws(BrokenLaw) {
    let part = PagePart(page)
    try hold(part.total > 0, page, "a stub has no entries")
    try hold(!part.address.isNone, page, "a stub is for a page that is not on disk")
    guard let loaded = page.loadedPage else { return }
    try hold(loaded.height == page.height, page, "a stub's page has another height")
    try hold(loaded.total == page.total, page, "a stub's page has another total")
    try check(loaded, low: low, high: high)
  }

  private func checkLeaf(_ page: PageRef, _ low: [UInt8]?, _ high: [UInt8]?) throws(BrokenLaw) {
    let fields = page.header.pointee
    let slotsEnd = PageRef.slotsOffset(page.prefixLength) + page.count * Slot.size
    try hold(page.total == page.count, page, "a leaf's total is not its count")
    try hold(slotsEnd <= Int(fields.heapTop), page, "slots and heap overlap")
    try hold(fields.heapTop <= fields.capacity, page, "the heap begins past the page's end")
    let area = layout.area
    try hold(page.isLarge || Int(fields.capacity) <= area, page, "a shared page is larger than a page")
    let isHintEntry = fields.hint == PageHeader.noHint || Int(fields.hint) < page.count
    try hold(isHintEntry, page, "the hint is not the index of an entry")
    var runs: [Range<Int>] = []
    for index in 0..<page.count {
      let slot = page.slots[index]
      let start = Int(slot.leafOffset)
      runs.append(start..<start + slot.heapLength)
      let isLarge = Slot.size + page.prefixLength + Int(slot.suffixLength) + slot.valueLength > area / 2 - 8
      try hold(isLarge == page.isLarge, page, "an entry's size does not match the kind of its page")
    }
    try hold(!page.isLarge || page.count == 1, page, "a large page has more than one entry")
    runs.removeAll(where: \.isEmpty)
    runs.sort { $0.lowerBound < $1.lowerBound }
    var end = Int(fields.heapTop)
    for run in runs {
      try hold(run.lowerBound >= end, page, "two entries share bytes of the heap, or one is outside it")
      end = run.upperBound
    }
    try hold(end <= Int(fields.capacity), page, "an entry reaches past the page's end")
    let live = runs.reduce(0) { $0 + $1.count }
    try hold(
      live + Int(fields.garbage) == Int(fields.capacity) - Int(fields.heapTop), page,
      "the heap is not the sum of its entries and its garbage")
    var buffer = KeyBuffer()
    try checkKeys((0..<page.count).map { Array(buffer.key(of: page, $0).buffer) }, page, low, high)
  }

  private func checkInner(_ page: PageRef, _ low: [UInt8]?, _ high: [UInt8]?) throws(BrokenLaw) {
    try hold(page.count <= PageLayout.childCountMax, page, "an inner page has too many children")
    var buffer = KeyBuffer()
    buffer.begin(page)
    let separators = (0..<page.count - 1).map { Array(buffer.separator(page, $0).buffer) }
    try checkKeys(separators, page, low, high)
    let fields = page.header.pointee
    let rests = (0..<page.count - 1).reduce(0) { $0 + page.slots[$1].restLength }
    try hold(
      Int(fields.heapTop) + rests == Int(fields.capacity), page, "the heap does not match the separators")
    for index in 0..<page.count - 1 {
      let slot = page.slots[index]
      let isInside = slot.wide >= fields.heapTop && Int(slot.wide) + slot.restLength <= Int(fields.capacity)
      try hold(isInside, page, "a separator is outside the heap")
    }
    var total = 0
    for index in 0..<page.count {
      let child = page.link(index)
      try hold(child.height == page.height - 1, page, "a child is not one level below its page")
      try hold(child.total == Int(page.counts[index]), page, "a count is not its child's total")
      total += child.total
      try check(
        child, low: index == 0 ? low : separators[index - 1],
        high: index == page.count - 1 ? high : separators[index])
    }
    try hold(total == page.total, page, "a total is not the sum of the counts")
  }

  /// Checks the keys of a leaf or the separators of an inner page.
  private func checkKeys(
    _ keys: [[UInt8]], _ page: PageRef, _ low: [UInt8]?, _ high: [UInt8]?
  ) throws(BrokenLaw) {
    let prefix = Array(page.prefix.buffer)
    for (index, key) in keys.enumerated() {
      try hold(key.starts(with: prefix), page, "a key does not have its page's prefix")
      let suffix = key.dropFirst(prefix.count)
      let head = suffix.prefix(8).reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) }
      let padded = suffix.count >= 8 ? head : suffix.isEmpty ? 0 : head << UInt64(8 * (8 - suffix.count))
      try hold(page.slots[index].head == padded, page, "a slot's head is not its key's")
      if index > 0 {
        try hold(keys[index - 1].lexicographicallyPrecedes(key), page, "keys do not ascend")
      }
    }
    if let low, let first = keys.first {
      try hold(!first.lexicographicallyPrecedes(low), page, "a key is below the separator before its page")
    }
    if let high, let last = keys.last {
      try hold(last.lexicographicallyPrecedes(high), page, "a key is not below the separator after its page")
    }
  }
}
