// Places in a whole list, where they follow from ranks.

extension View {
  /// Whether an item's place among all items, sections in their order, follows from its rank: sections stand by
  /// key, up or down. Otherwise only a walk over the sections tells.
  package var isPlacedByRank: Bool {
    switch definition.sectionOrder {
    case .key, .keyDescending: true
    default: false
    }
  }

  private var isDescending: Bool { if case .keyDescending = definition.sectionOrder { true } else { false } }

  /// How many items the section nil holds, whose keys are the least of all. It stands first or last also where
  /// the others stand the other way round.
  private var nilCount: Int {
    guard count > 0 else { return 0 }
    return withItem(at: 0) { SortKeyTag.isNil($0.section) ? itemCount(of: $0.section) : 0 }
  }

  /// How many items stand in the sections before one. O(log n). Only where places follow from ranks.
  package func countBefore(section: UnsafeRawBufferPointer) -> Int {
    let nilCount = nilCount
    if SortKeyTag.isNil(section) { return definition.areNilsLast ? count - nilCount : 0 }
    let start = start(of: section)
    let before = isDescending ? count - start - itemCount(of: section) : start - nilCount
    assert(before >= 0 && before <= count, "more items stand before a section than there are")
    return definition.areNilsLast ? before : before + nilCount
  }

  /// Where the item with `place` items before it stands: the rank of its section, and how many items of that
  /// stand before it. O(log n). Only where places follow from ranks.
  package func location(ofPlace place: Int) -> (rank: Int, item: Int) {
    let nilCount = nilCount
    let nilStart = definition.areNilsLast ? count - nilCount : 0
    let rank: Int
    if place >= nilStart, place < nilStart + nilCount {
      rank = place - nilStart
    } else {
      // Among the items of the other sections, of which the descending ones stand the other way round.
      let other = definition.areNilsLast ? place : place - nilCount
      rank = isDescending ? count - 1 - other : nilCount + other
    }
    return withItem(at: rank) { key in
      let sectionRank = self.rank(ofSection: key.section)
      assert(sectionRank != nil, "a view does not hold the section of its item")
      return (sectionRank ?? 0, place - countBefore(section: key.section))
    }
  }

  /// The rank that a section has, or would have; nil where it is not there and its rank would depend on what it
  /// holds. O(log n).
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
