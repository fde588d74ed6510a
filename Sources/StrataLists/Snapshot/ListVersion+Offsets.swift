// Items by their offset in the list: the number of shown items before them, section after section.

internal import StrataTables

extension ListVersion {
  /// Whether offsets follow from ranks, so that no walk over sections is needed.
  private var hasRankedOffsets: Bool { window.section.isAll && view.isPlacedByRank }

  /// The number of items shown before the section at an index.
  ///
  /// O(log n) if sections are ordered by key and have no windows of their own, otherwise O(sections before it).
  package func offset(ofSectionAt index: Int) -> Int {
    guard isSectioned else { return 0 }
    guard hasRankedOffsets else {
      var offset = 0
      for earlier in 0..<index { offset += shownCount(ofSectionAt: earlier) }
      return offset
    }
    let shown = window.list.range(of: view.count)
    let before = withSection(at: index) { section, _, _ in view.countBefore(section: section) }
    // A section may begin before the window, and a declared one may be outside of it.
    return min(max(before, shown.lowerBound), shown.upperBound) - shown.lowerBound
  }

  /// The position of the item at an offset. Costs as much as `offset(ofSectionAt:)`.
  package func position(atOffset offset: Int) -> ListIndex {
    precondition(
      offset >= 0 && offset < itemCount,
      "the list shows \(itemCount) items; offset \(offset) is out of range")
    guard isSectioned else { return ListIndex(section: 0, item: offset) }
    if hasRankedOffsets {
      let (rank, item) = view.location(ofIndex: window.list.range(of: view.count).lowerBound + offset)
      let first = view.withSection(at: rank) { _, count in shownRange(ofRank: rank, count: count).lowerBound }
      if let index = sections.index(ofRank: rank) { return ListIndex(section: index, item: item - first) }
      assertionFailure("the section of a shown item is shown")
    }
    var left = offset
    for index in 0..<sectionCount {
      let shown = shownCount(ofSectionAt: index)
      if left < shown { return ListIndex(section: index, item: left) }
      left -= shown
    }
    preconditionFailure("the sections show fewer items than the list")
  }

  /// The positions of a range of offsets, section by section. Costs as much as `offset(ofSectionAt:)`, plus O(log
  /// sections) for each section in between.
  package func runs(of offsets: Range<Int>) -> [(section: Int, items: Range<Int>)] {
    guard !offsets.isEmpty else { return [] }
    var runs: [(section: Int, items: Range<Int>)] = []
    var position = position(atOffset: offsets.lowerBound)
    var left = offsets.count
    while left > 0 {
      let taken = min(left, shownCount(ofSectionAt: position.section) - position.item)
      if taken > 0 { runs.append((position.section, position.item..<position.item + taken)) }
      left -= taken
      position = ListIndex(section: position.section + 1, item: 0)
    }
    return runs
  }
}
