// Places in a whole list where they follow from ranks.

internal import StrataTables

extension View {
  /// Whether an item's place among all items, sections in their order, follows from its rank: sections stand by
  /// key, up or down. Otherwise only a walk over the sections tells.
  var isPlacedByRank: Bool {
    switch definition.sectionOrder {
    case .key, .keyDescending: true
    default: false
    }
  }

  /// How many items stand in the sections before one. O(log n). Only where places follow from ranks.
  func countBefore(section: UnsafeRawBufferPointer) -> Int {
    let start = start(of: section)
    return definition.sectionOrder == .key ? start : count - start - itemCount(of: section)
  }

  /// Where the item with `place` items before it stands: the rank of its section, and how many items of that
  /// stand before it. O(log n). Only where places follow from ranks.
  func location(ofPlace place: Int) -> (rank: Int, item: Int) {
    withItem(at: definition.sectionOrder == .key ? place : count - 1 - place) { key in
      let rank = rank(ofSection: key.section)
      assert(rank != nil, "a view does not hold the section of its item")
      return (rank ?? 0, place - countBefore(section: key.section))
    }
  }
}
