// The order of a view's sections: their order keys, and the tree that holds them.

extension View {
  package mutating func insertOrder(of section: UnsafeRawBufferPointer) {
    guard !definition.isOrderedByKey else { return }
    switch definition.sectionOrder {
    case .ranked(let rank): setRank(of: section, rank)
    case .compared(let precedes): setLabel(of: section, precedes)
    case .key, .keyDescending, .list, .first, .count, .extreme: break
    }
    setOrder(orderKey(of: section), of: section)
  }

  mutating func setOrder(_ key: [UInt8], of section: UnsafeRawBufferPointer) {
    var length = UInt32(key.count - section.count).littleEndian
    key.withUnsafeBytes { key in
      let isNew = withUnsafeBytes(of: &length) { order.set(key, $0) }
      assert(isNew, "a view has a section in its order twice")
    }
  }

  mutating func removeOrder(_ key: [UInt8]) {
    let exists = key.withUnsafeBytes { order.remove($0) }
    assert(exists, "a view does not have a section where its order key says")
  }

  mutating func removeOrder(of section: UnsafeRawBufferPointer) {
    guard !definition.isOrderedByKey else { return }
    removeOrder(orderKey(of: section))
    if definition.holdsLabels { labels.remove(section) }
  }

  /// Order key ‖ section, computed from the section's current items.
  func orderKey(of section: UnsafeRawBufferPointer) -> [UInt8] {
    var key: [UInt8] = []
    let isNil = SortKeyTag.isNil(section)
    switch definition.sectionOrder {
    case .key: break
    case .keyDescending:
      key.append(isNil == definition.areNilsLast ? 1 : 0)
      key.append(contentsOf: section.lazy.map { ~$0 })
    case .list:
      let position = definition.listed[Array(section)] ?? .max
      withUnsafeBytes(of: position.bigEndian) { key.append(contentsOf: $0) }
    case .count:
      withUnsafeBytes(of: (~UInt64(itemCount(of: section))).bigEndian) { key.append(contentsOf: $0) }
    case .first: appendFirst(of: section, to: &key)
    case .extreme(let aggregate): appendExtreme(aggregate, of: section, to: &key)
    case .ranked, .compared:
      labels.withValue(of: section) { label in if let label { key.append(contentsOf: label) } }
    }
    // An order key that is cut is not the beginning of another one, since all are cut at the same length.
    if key.count > ViewDefinition.orderLengthMax {
      key.removeLast(key.count - ViewDefinition.orderLengthMax)
    }
    // Ties are ordered by section.
    if definition.areNilsLast { key.append(isNil ? 1 : 0) }
    key.append(contentsOf: section)
    return key
  }

  /// Appends the position of a section's first item among all items. A section without items comes after all
  /// others: no component of a sort key begins with FF.
  private func appendFirst(of section: UnsafeRawBufferPointer, to key: inout [UInt8]) {
    guard itemCount(of: section) > 0 else { return key.append(0xFF) }
    items.withEntry(at: start(of: section)) { item, lengths in
      let item = ItemKey(item, lengths)
      key.append(contentsOf: item.sortKeys)
      key.appendEscaped(item.id)
    }
  }

  /// Stores the key that a closure makes for a section. The closure is called once per section, so a section that is
  /// removed is found at its position even if the closure would return another key by then.
  private mutating func setRank(of section: UnsafeRawBufferPointer, _ rank: SectionOrder.Rank) {
    var writer = SortKeyWriter()
    rank(section, &writer)
    var label: [UInt8] = []
    writer.withUnsafeBytes { bytes in
      label.appendEscaped(UnsafeRawBufferPointer(rebasing: bytes[..<min(bytes.count, Self.rankLengthMax)]))
    }
    label.withUnsafeBytes { _ = labels.set(section, $0) }
  }

  /// The length to which a rank key is truncated, since an order key holds it escaped and followed by a section.
  private static var rankLengthMax: Int { 16_000 }
}

extension [UInt8] {
  /// Appends bytes so that they delimit themselves, and the bytes that follow do not affect their order.
  mutating func appendEscaped(_ bytes: UnsafeRawBufferPointer) {
    for byte in bytes {
      append(byte)
      if byte == 0 { append(SortKeyTag.escaped) }
    }
    append(0)
    append(SortKeyTag.end)
  }
}
