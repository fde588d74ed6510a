// The invariants between the trees of a view.

extension View {
  /// Asserts invariants after each change: the sizes of the trees, and all of them if a test enables that.
  func assertAgreement() {
    assert(
      order.count == (definition.isOrderedByKey ? 0 : sections.count),
      "the tree of the order does not hold each section once")
    assert(labels.count == (definition.holdsLabels ? sections.count : 0), "a section does not have its label")
    assert(values.count == (definition.holdsValues ? items.count : 0), "an item does not have its value")
    assert(keys.map { $0.count == items.count } ?? true, "an item does not have its recorded key")
    assert(!TreeCheck.isOn || checkInvariants() == nil, checkInvariants() ?? "")
  }

  /// Checks every item and every section. Returns a sentence about the first broken invariant, nil if all hold.
  /// O(n log n).
  package func checkInvariants() -> String? {
    for tree in [items, sections, order, labels, values, problems, marks, drifts] + (keys.map { [$0] } ?? [])
    {
      if let sentence = tree.checkInvariants() { return sentence }
    }
    return checkSections() ?? checkItems()
  }

  /// Checks that each section has its count, and is at the rank that its order key gives it.
  ///
  /// - Parameter withItems: whether the counts are compared with the items themselves.
  func checkSections(withItems: Bool = true) -> String? {
    var rank = 0
    var total = 0
    while rank < sectionCount {
      let sentence: String? = withSection(at: rank) { section, count in
        total += count
        if count == 0, !isDeclared(section) { return "a section without items was not declared" }
        if itemCount(of: section) != count { return "a section's two counts of its items differ" }
        // A position that depends on items is found by reading them.
        let isChecked = withItems || !definition.dependsOnItems
        if isChecked, self.rank(ofSection: section) != rank {
          return "a section is not where its order key is"
        }
        if withItems, items.ranks(withPrefix: section).count != count {
          return "a section's count is not that of its items"
        }
        return nil
      }
      if let sentence { return sentence }
      rank += 1
    }
    return total == count ? nil : "the counts of the sections are not the number of items"
  }

  /// Checks that each item is in an existing section, has a mark or a recorded key, and is at the position of its key.
  private func checkItems() -> String? {
    var sentence: String?
    var rank = 0
    var ids: Set<[UInt8]> = []
    forEachItem(in: 0..<count) { item in
      defer { rank += 1 }
      guard sentence == nil else { return }
      if item.sectionLength + item.idLength > item.bytes.count {
        sentence = "an item's lengths are more than its key"
      }
      if !holds(item.section) { sentence = "an item is in a section that is not there" }
      if items.rank(of: item.bytes).rank != rank { sentence = "an item is not where its key is" }
      if !ids.insert(Array(item.id)).inserted { sentence = "a row has two items" }
      if keys != nil || definition.calls == .filters {
        if !mayShow(item.id, leftOut: .hidden) { sentence = "an item has neither a mark nor a recorded key" }
      }
    }
    guard sentence == nil, !marks.isEmpty else { return sentence }
    var marked = 0
    marks.forEach(in: 0..<marks.count) { _, count in
      marked += Int(UInt32(littleEndian: count.loadUnaligned(as: UInt32.self)))
    }
    return marked == count ? nil : "the number of marks is not the number of items"
  }
}
