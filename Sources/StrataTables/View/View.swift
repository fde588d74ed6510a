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
    sections = Tree(pageSize: TreePages.sections)
    order = Tree(pageSize: TreePages.sections)
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
    if old.problem != nil || new.problem != nil, old.problem != new.problem { note(new.problem, for: id) }
    guard old.isShown || new.isShown else { return }
    old.bytes.withUnsafeBytes { oldBytes in
      new.bytes.withUnsafeBytes { newBytes in
        let oldItem = old.isShown ? oldBytes : nil
        let newItem = new.isShown ? newBytes : nil
        let oldSection = oldItem.map { UnsafeRawBufferPointer(rebasing: $0[..<old.sectionLength]) }
        let newSection = newItem.map { UnsafeRawBufferPointer(rebasing: $0[..<new.sectionLength]) }
        if let oldItem, let newItem, oldItem.hasSameBytes(as: newItem) { return }
        let isSameSection = oldSection.flatMap { old in newSection.map { $0.hasSameBytes(as: old) } } ?? false
        if isSameSection, let oldSection, let oldItem, let newItem {
          let place = beginChange(of: oldSection)
          removeItem(oldItem)
          insertItem(newItem, new)
          return endChange(of: oldSection, place, by: 0)
        }
        if let oldSection, let oldItem {
          let place = beginChange(of: oldSection)
          removeItem(oldItem)
          endChange(of: oldSection, place, by: -1)
        }
        if let newSection, let newItem {
          let place = beginChange(of: newSection)
          insertItem(newItem, new)
          endChange(of: newSection, place, by: 1)
        }
      }
    }
  }

  private mutating func removeItem(_ key: UnsafeRawBufferPointer) {
    let isThere = items.remove(key)
    assert(isThere, "a view does not hold a row that it shows")
  }

  private mutating func insertItem(_ key: UnsafeRawBufferPointer, _ placed: borrowing PlacedKey) {
    var lengths = (UInt16(placed.sectionLength).littleEndian, UInt16(placed.idLength).littleEndian)
    let isNew = withUnsafeBytes(of: &lengths) { items.set(key, $0) }
    assert(isNew, "a view holds a row twice")
  }

  /// The place of a section before its items change: its order key where the items decide on it, and it holds
  /// any.
  @inline(__always)
  private func beginChange(of section: UnsafeRawBufferPointer) -> [UInt8]? {
    guard definition.sectionOrder.dependsOnItems, itemCount(of: section) > 0 else { return nil }
    return orderKey(of: section)
  }

  /// What follows for a section from a change of its items.
  @inline(__always)
  private mutating func endChange(of section: UnsafeRawBufferPointer, _ old: [UInt8]?, by difference: Int) {
    let isDependent = definition.sectionOrder.dependsOnItems
    guard difference != 0 || isDependent else { return }
    let (before, after) =
      difference == 0 ? (itemCount(of: section), itemCount(of: section)) : addItems(difference, to: section)
    guard isDependent else {
      if before == 0 { insertOrder(of: section) }
      if after == 0 { removeOrder(of: section) }
      return
    }
    let new = after > 0 ? orderKey(of: section) : nil
    if let old, let new, old == new { return }
    if let old { old.withUnsafeBytes { bytes in _ = order.remove(bytes) } }
    if let new { setOrder(new, of: section) }
  }

  /// Counts items of a section, in one way down the tree unless the section goes.
  private mutating func addItems(
    _ difference: Int, to section: UnsafeRawBufferPointer
  ) -> (before: Int, after: Int) {
    var before = 0
    var count: UInt64 = 0
    withUnsafeMutableBytes(of: &count) { count in
      _ = sections.set(section, UnsafeRawBufferPointer(count)) { old in
        before = old.map { Int(UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self))) } ?? 0
        assert(before + difference >= 0, "a section holds fewer than no items")
        count.storeBytes(of: UInt64(before + difference).littleEndian, as: UInt64.self)
        return before + difference > 0
      }
    }
    let after = before + difference
    if after == 0 { sections.remove(section) }
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

  package init(_ bytes: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
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
