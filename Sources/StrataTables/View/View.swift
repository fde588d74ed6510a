// A view: the rows of a table in sections and in order, kept by two trees that change together.

/// Items under section ‖ sort keys ‖ id, and sections under their order. A value, as tables are.
///
/// The position of an item is the rank of its section, and its rank behind the first key with that section. A
/// section that moves is one entry of the small tree, however many items it holds.
package struct View: Sendable {
  package let definition: ViewDefinition
  /// Section ‖ sort keys ‖ id → the lengths of section and id, two little-endian bytes each.
  package private(set) var items: Tree
  /// Section → how many items it holds, eight little-endian bytes.
  package private(set) var sections: Tree
  /// Order key ‖ section → the length of the order key. Empty where sections stand by key.
  private var order: Tree
  /// Row id → why the row is not shown, as UTF-8.
  package private(set) var problems: Tree

  package init(_ definition: ViewDefinition) {
    self.definition = definition
    items = Tree(pageSize: TreePages.view)
    sections = Tree()
    order = Tree()
    problems = Tree()
  }

  /// Items in all sections.
  package var count: Int { items.count }
  package var sectionCount: Int { sections.count }

  private var isOrderedByKey: Bool { definition.sectionOrder == .key }
}

// MARK: Changing

extension View {
  /// Takes a row from one place to another. Equal keys leave the view untouched.
  mutating func change(id: UnsafeRawBufferPointer, from old: PlacedKey, to new: PlacedKey) {
    if old.problem != new.problem { note(new.problem, for: id) }
    if old.isShown, new.isShown, old.bytes == new.bytes { return }
    let oldSection = old.isShown ? old.bytes[..<old.sectionLength] : nil
    let newSection = new.isShown ? new.bytes[..<new.sectionLength] : nil
    guard let oldSection, let newSection, oldSection == newSection else {
      if let oldSection { changing(oldSection, by: -1) { $0.removeItem(old) } }
      if let newSection { changing(newSection, by: 1) { $0.insertItem(new) } }
      return
    }
    changing(oldSection, by: 0) {
      $0.removeItem(old)
      $0.insertItem(new)
    }
  }

  private mutating func removeItem(_ key: PlacedKey) {
    let isThere = key.bytes.withUnsafeBytes { items.remove($0) }
    assert(isThere, "a view does not hold a row that it shows")
  }

  private mutating func insertItem(_ key: PlacedKey) {
    key.bytes.withUnsafeBytes { bytes in
      var lengths = (UInt16(key.sectionLength).littleEndian, UInt16(key.idLength).littleEndian)
      let isNew = withUnsafeBytes(of: &lengths) { items.set(bytes, $0) }
      assert(isNew, "a view holds a row twice")
    }
  }

  /// Changes the items of one section, and what follows from it for the order of sections.
  private mutating func changing(
    _ section: ArraySlice<UInt8>, by difference: Int, _ body: (inout View) -> Void
  ) {
    section.withUnsafeBytes { section in
      guard definition.sectionOrder.dependsOnItems else {
        body(&self)
        guard difference != 0 else { return }
        let (before, after) = addItems(difference, to: section)
        if before == 0 { insertOrder(of: section) }
        if after == 0 { removeOrder(of: section) }
        return
      }
      var oldOrder: [UInt8] = []
      let before = itemCount(of: section)
      if before > 0 { oldOrder = orderKey(of: section) }
      body(&self)
      let after = difference == 0 ? before : addItems(difference, to: section).after
      let newOrder = after > 0 ? orderKey(of: section) : []
      if before > 0, after > 0, oldOrder == newOrder { return }
      if before > 0 { oldOrder.withUnsafeBytes { bytes in _ = order.remove(bytes) } }
      if after > 0 { setOrder(newOrder, of: section) }
    }
  }

  private mutating func addItems(
    _ difference: Int, to section: UnsafeRawBufferPointer
  ) -> (before: Int, after: Int) {
    let before = itemCount(of: section)
    let after = before + difference
    assert(after >= 0, "a section holds fewer than no items")
    if after == 0 {
      sections.remove(section)
    } else {
      var count = UInt64(after).littleEndian
      withUnsafeBytes(of: &count) { bytes in _ = sections.set(section, bytes) }
    }
    return (before, after)
  }

  private mutating func insertOrder(of section: UnsafeRawBufferPointer) {
    guard !isOrderedByKey else { return }
    setOrder(orderKey(of: section), of: section)
  }

  private mutating func setOrder(_ key: [UInt8], of section: UnsafeRawBufferPointer) {
    var length = UInt32(key.count - section.count).littleEndian
    key.withUnsafeBytes { key in withUnsafeBytes(of: &length) { length in _ = order.set(key, length) } }
  }

  private mutating func removeOrder(of section: UnsafeRawBufferPointer) {
    guard !isOrderedByKey else { return }
    orderKey(of: section).withUnsafeBytes { bytes in _ = order.remove(bytes) }
  }

  /// Order key ‖ section, as the section's items are now.
  private func orderKey(of section: UnsafeRawBufferPointer) -> [UInt8] {
    var key: [UInt8] = []
    switch definition.sectionOrder {
    case .key: break
    case .keyDescending: key.append(contentsOf: section.lazy.map { ~$0 })
    case .list:
      let place = definition.listed[Array(section)] ?? .max
      withUnsafeBytes(of: place.bigEndian) { key.append(contentsOf: $0) }
    case .count:
      withUnsafeBytes(of: (~UInt64(itemCount(of: section))).bigEndian) { key.append(contentsOf: $0) }
    case .first:
      items.withEntry(at: start(of: section)) { item, value in
        let id = ItemKey(item, value).idLength
        key.append(contentsOf: item[section.count..<item.count - id])
        // The id is made self-delimiting, so that the section behind it does not count.
        for byte in item[(item.count - id)...] {
          key.append(byte)
          if byte == 0 { key.append(0xFF) }
        }
        key.append(0)
        key.append(1)
      }
    }
    key.append(contentsOf: section)
    return key
  }

  private mutating func note(_ problem: RowProblem?, for id: UnsafeRawBufferPointer) {
    guard var what = problem?.what else {
      problems.remove(id)
      return
    }
    what.withUTF8 { text in _ = problems.set(id, UnsafeRawBufferPointer(text)) }
  }
}

extension SectionOrder {
  /// Whether a change of a section's items may move the section.
  var dependsOnItems: Bool { self == .first || self == .count }
}

// MARK: Reading

/// An entry of a view's items. Valid only inside the call that lends it.
package struct ItemKey {
  /// Section ‖ sort keys ‖ id.
  package let bytes: UnsafeRawBufferPointer
  package let sectionLength: Int
  package let idLength: Int

  init(_ bytes: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    self.bytes = bytes
    sectionLength = Int(UInt16(littleEndian: value.loadUnaligned(as: UInt16.self)))
    idLength = Int(UInt16(littleEndian: value.loadUnaligned(fromByteOffset: 2, as: UInt16.self)))
  }

  package var section: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<sectionLength]) }
  package var id: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - idLength)...])
  }
}

extension View {
  /// How many items a section holds; 0 for one that is not there. O(log sections).
  package func itemCount(of section: UnsafeRawBufferPointer) -> Int {
    sections.withValue(of: section) { value in
      value.map { Int(UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self))) } ?? 0
    }
  }

  /// The rank of a section's first item among all items. O(log n).
  package func start(of section: UnsafeRawBufferPointer) -> Int { items.rank(of: section).rank }

  /// The place of a section, nil where it holds nothing. O(log n).
  package func rank(ofSection section: UnsafeRawBufferPointer) -> Int? {
    if isOrderedByKey {
      let (rank, isFound) = sections.rank(of: section)
      return isFound ? rank : nil
    }
    guard itemCount(of: section) > 0 else { return nil }
    return orderKey(of: section).withUnsafeBytes { order.rank(of: $0).rank }
  }

  /// Lends the section at a place. O(log sections).
  package func withSection<Result, Failure: Error>(
    at rank: Int, _ body: (_ section: UnsafeRawBufferPointer, _ count: Int) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    if isOrderedByKey {
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

  /// Whether two versions hold a section under the same order key, so that it did not move by itself.
  package func hasSameOrder(_ section: UnsafeRawBufferPointer, as other: View) -> Bool {
    guard definition.sectionOrder.dependsOnItems else { return true }
    return orderKey(of: section) == other.orderKey(of: section)
  }

  /// Lends the item with `rank` items before it, sections by key. O(log n).
  package func withItem<Result, Failure: Error>(
    at rank: Int, _ body: (ItemKey) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try items.withEntry(at: rank) { (key, value) throws(Failure) in try body(ItemKey(key, value)) }
  }

  /// Lends items by rank, in order.
  package func forEachItem<Failure: Error>(
    in ranks: Range<Int>, _ body: (ItemKey) throws(Failure) -> Void
  ) throws(Failure) {
    try items.forEach(in: ranks) { (key, value) throws(Failure) in try body(ItemKey(key, value)) }
  }
}

// MARK: Building

extension View {
  /// The view of a table as it is. O(n log n).
  package init(_ definition: ViewDefinition, of table: Table) {
    self.init(definition)
    var keys = SortedKeys()
    var key = PlacedKey()
    var writer = SortKeyWriter()
    table.forEachRow { row in
      key.place(row, by: definition, &writer)
      if let problem = key.problem { note(problem, for: row.id) }
      if key.isShown { keys.append(key) }
    }
    var builder = Tree.Builder(pageSize: TreePages.view)
    var counts: [(section: [UInt8], count: Int)] = []
    keys.forEachAscending { bytes, sectionLength, idLength in
      var lengths = (UInt16(sectionLength).littleEndian, UInt16(idLength).littleEndian)
      withUnsafeBytes(of: &lengths) { builder.append(bytes, $0) }
      if let last = counts.last, last.section.count == sectionLength,
        last.section.withUnsafeBytes({ $0.hasSameBytes(as: .init(rebasing: bytes[..<sectionLength])) })
      {
        counts[counts.count - 1].count += 1
      } else {
        counts.append((Array(bytes[..<sectionLength]), 1))
      }
    }
    items = builder.finish()
    for (section, count) in counts {
      section.withUnsafeBytes { section in
        _ = addItems(count, to: section)
        insertOrder(of: section)
      }
    }
  }
}
