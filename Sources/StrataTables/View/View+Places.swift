// Positions in a whole list, for orders in which they follow from ranks.

extension View {
  /// Whether an item's position among all items, in the order of the sections, follows from its rank. It does if
  /// sections are ordered by key, ascending or descending. Otherwise only a walk over the sections finds it.
  package var isPlacedByRank: Bool {
    switch definition.sectionOrder {
    case .key, .keyDescending: true
    default: false
    }
  }

  private var isDescending: Bool { if case .keyDescending = definition.sectionOrder { true } else { false } }

  /// The number of items in the section nil, whose keys are the least of all. This section comes first or last even if
  /// the others are in descending order.
  private var nilCount: Int {
    guard count > 0 else { return 0 }
    return withSection(ofItemAt: 0) { SortKeyTag.isNil($0) ? itemCount(of: $0) : 0 }
  }

  /// The number of items in the sections before one. O(log n). Only if positions follow from ranks.
  package func countBefore(section: UnsafeRawBufferPointer) -> Int {
    let nilCount = nilCount
    if SortKeyTag.isNil(section) { return definition.areNilsLast ? count - nilCount : 0 }
    let start = start(of: section)
    let before = isDescending ? count - start - itemCount(of: section) : start - nilCount
    assert(before >= 0 && before <= count, "more items precede a section than there are")
    return definition.areNilsLast ? before : before + nilCount
  }

  /// Where the item with `index` items before it is: the rank of its section, and the number of items before it in
  /// that section. O(log n). Only if positions follow from ranks.
  package func location(ofIndex index: Int) -> (rank: Int, item: Int) {
    let nilCount = nilCount
    let nilStart = definition.areNilsLast ? count - nilCount : 0
    let rank: Int
    if index >= nilStart, index < nilStart + nilCount {
      rank = index - nilStart
    } else {
      // The position among the items of the other sections, which is reversed for descending sections.
      let other = definition.areNilsLast ? index : index - nilCount
      rank = isDescending ? count - 1 - other : nilCount + other
    }
    return withSection(ofItemAt: rank) { section in
      let sectionRank = self.rank(ofSection: section)
      assert(sectionRank != nil, "a view does not hold the section of its item")
      return (sectionRank ?? 0, index - countBefore(section: section))
    }
  }

  /// The rank that a section has or would have; nil if the view does not hold it and its rank would depend on its
  /// items. O(log n).
  package func insertionRank(ofSection section: UnsafeRawBufferPointer) -> Int? {
    if let rank = rank(ofSection: section) { return rank }
    guard isPlacedByRank else { return nil }
    if SortKeyTag.isNil(section) { return definition.areNilsLast ? sectionCount : 0 }
    let nilCount = sectionCount > 0 && sections.withEntry(at: 0) { key, _ in SortKeyTag.isNil(key) } ? 1 : 0
    let lesser = sections.rank(of: section).rank - nilCount
    let before = isDescending ? sectionCount - nilCount - lesser : lesser
    return definition.areNilsLast ? before : before + nilCount
  }
}
