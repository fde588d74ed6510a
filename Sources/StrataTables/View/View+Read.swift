// Reading a view: sections and items by their ranks, and ranks by their keys.

internal import StrataBase

/// An entry of a view's items. Valid only inside the call that lends it.
package struct ItemKey {
  /// Section ‖ sort keys ‖ id.
  package let bytes: UnsafeRawBufferPointer
  package let sectionLength: Int
  package let idLength: Int

  init(bytes: UnsafeRawBufferPointer, sectionLength: Int, idLength: Int) {
    (self.bytes, self.sectionLength, self.idLength) = (bytes, sectionLength, idLength)
  }

  package init(_ bytes: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    self.bytes = bytes
    sectionLength = Int(UInt16(littleEndian: value.loadUnaligned(as: UInt16.self)))
    idLength = Int(UInt16(littleEndian: value.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
  }

  /// The value of an entry: the lengths of its section and id.
  @inline(__always)
  package static func lengths(section: Int, id: Int) -> (UInt16, UInt16) {
    (UInt16(section).littleEndian, UInt16(id).littleEndian)
  }

  package var section: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<sectionLength]) }
  package var id: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - idLength)...])
  }
  /// The bytes between section and id.
  var sortKeys: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[sectionLength..<bytes.count - idLength])
  }
}

extension View {
  /// The number of items in a section; 0 if the view does not hold it. O(log sections).
  package func itemCount(of section: UnsafeRawBufferPointer) -> Int {
    sections.withValue(of: section) { value in
      value.map { Int(UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self))) } ?? 0
    }
  }

  /// Whether the view holds a section: it has items, or was declared. O(log sections).
  package func holds(_ section: UnsafeRawBufferPointer) -> Bool {
    sections.withValue(of: section) { $0 != nil }
  }

  /// Whether the view holds a section even without items. O(1).
  package func isDeclared(_ section: UnsafeRawBufferPointer) -> Bool {
    !definition.declaredSections.isEmpty && definition.declared.contains(Array(section))
  }

  /// The rank of a section's first item among all items. O(log n).
  package func start(of section: UnsafeRawBufferPointer) -> Int {
    knownItems?.start(of: section) ?? items.rank(of: section).rank
  }

  /// The rank of a section, nil if the view does not hold it. O(log n).
  package func rank(ofSection section: UnsafeRawBufferPointer) -> Int? {
    if definition.isOrderedByKey {
      let (rank, isFound) = sections.rank(of: section)
      return isFound ? rank : nil
    }
    guard holds(section) else { return nil }
    return orderKey(of: section).withUnsafeBytes { order.rank(of: $0).rank }
  }

  /// Lends the section at a rank. O(log sections).
  package func withSection<Result, Failure: Error>(
    at rank: Int, _ body: (_ section: UnsafeRawBufferPointer, _ count: Int) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if definition.isOrderedByKey {
      return try sections.withEntry(at: rank) { (section, value) throws(Failure) in
        try body(section, Int(UInt64(littleEndian: value.loadUnaligned(as: UInt64.self))))
      }
    }
    return try order.withEntry(at: rank) { (key, value) throws(Failure) in
      let length = Int(UInt32(littleEndian: value.loadUnaligned(as: UInt32.self)))
      let section = UnsafeRawBufferPointer(rebasing: key[length...])
      return try body(section, itemCount(of: section))
    }
  }

  /// Whether two versions hold a section under the same order key, so that the section itself did not move.
  ///
  /// For ranks and comparisons the stored labels are compared. Two views with different histories may have different
  /// labels although the order is the same. Then the section is examined and found not to have moved.
  package func hasSameOrder(_ section: UnsafeRawBufferPointer, as other: View) -> Bool {
    guard definition.dependsOnItems || definition.holdsLabels else { return true }
    return orderKey(of: section) == other.orderKey(of: section)
  }

  /// Lends the section of the item with `rank` items before it, with sections in key order. O(log n).
  func withSection<Result, Failure: Error>(
    ofItemAt rank: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if let knownItems { return try knownItems.section(at: rank).lendBytes(body) }
    return try withItem(at: rank) { (item) throws(Failure) in try body(item.section) }
  }

  /// Lends the item with `rank` items before it, with sections in key order. O(log n).
  package func withItem<Result, Failure: Error>(
    at rank: Int, _ body: (ItemKey) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if let copied = knownItems?.items(in: rank..<rank + 1) {
      return try copied.first(body)
    }
    return try items.withEntry(at: rank) { (key, value) throws(Failure) in try body(ItemKey(key, value)) }
  }

  /// Lends the items in a range of ranks, in order.
  package func forEachItem<Failure: Error>(
    in ranks: Range<Int>, _ body: (ItemKey) throws(Failure) -> Void
  ) throws(Failure) {
    if let copied = knownItems?.items(in: ranks) { return try copied.forEach(body) }
    try items.forEach(in: ranks) { (key, value) throws(Failure) in try body(ItemKey(key, value)) }
  }
}
