// The values of a view's items that determine the order of their sections.

/// A tree beside the items, kept only if the order needs it. It holds the values of each section in order, so the least
/// and the greatest value are the first and the last entry of the section, whichever values are removed.
extension View {
  package static func valueKey(
    in section: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, _ value: some Collection<UInt8>
  ) -> [UInt8] {
    var key: [UInt8] = []
    key.reserveCapacity(section.count + value.count + id.count)
    key.append(contentsOf: section)
    key.append(contentsOf: value)
    key.append(contentsOf: id)
    return key
  }

  mutating func insertValue(
    in section: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, _ value: [UInt8]
  ) {
    var lengths = ItemKey.lengths(section: section.count, id: id.count)
    Self.valueKey(in: section, id, value).withUnsafeBytes { key in
      let isNew = withUnsafeBytes(of: &lengths) { values.set(key, $0) }
      assert(isNew, "a view holds the value of a row twice")
    }
  }

  mutating func removeValue(
    in section: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, _ value: [UInt8]
  ) {
    Self.valueKey(in: section, id, value).withUnsafeBytes { key in
      let exists = values.remove(key)
      assert(exists, "a view does not hold the value of a row that it shows")
    }
  }

  /// Changes the value of an item that keeps its position.
  mutating func replaceValue(
    in section: UnsafeRawBufferPointer, _ id: UnsafeRawBufferPointer, _ old: [UInt8], _ new: [UInt8]
  ) {
    if old == new { return }
    let before = beginChange(of: section)
    removeValue(in: section, id, old)
    insertValue(in: section, id, new)
    endChange(of: section, before, by: 0)
  }

  /// Appends the position of a section by the greatest or least of its items' values. Sections without a value come
  /// after all others, and sections without items after these. O(log n).
  func appendExtreme(
    _ aggregate: SectionAggregate, of section: UnsafeRawBufferPointer, to key: inout [UInt8]
  ) {
    let count = itemCount(of: section)
    guard count > 0 else { return key.append(2) }
    let start = values.rank(of: section).rank
    values.withEntry(at: aggregate.isMaximum ? start + count - 1 : start) { item, lengths in
      let value = ItemKey(item, lengths).sortKeys
      guard !SortKeyTag.isNil(value) else { return key.append(1) }
      key.append(0)
      let first = key.count
      key.appendEscaped(value)
      guard aggregate.isDescending else { return }
      for index in first..<key.count { key[index] = ~key[index] }
    }
  }
}
