// Items that enter or leave a window though their rows did not change.

internal import StrataTables

// Two facts make this cheap. Unchanged items are in the same order in both lists, so those that both windows show are
// one contiguous range in each list: a walk inward from an end of a window may stop at the first item that both show.
// The same holds for the sections of a list.

/// The classification of an item at the end of a window.
private enum EdgeItem {
  /// Its row changed: it is handled elsewhere.
  case changed
  /// Both lists show it.
  case shared
  /// Only one of the lists shows it.
  case crossing(DiffFinder.Entry)
}

extension DiffFinder {
  /// Adds the sections that the two windows show or cut differently although no row in them changed. They are at both
  /// ends of the windows, interleaved with sections of changed rows, which are known already.
  mutating func lookAtEdges() {
    let knownCount = sections.all.count
    for list in [old, new] {
      var end = list.sectionCount
      while end > 0, !isSharedWhole(sectionAt: end - 1, of: list, knownCount: knownCount) { end -= 1 }
      var start = 0
      while start < end - 1, !isSharedWhole(sectionAt: start, of: list, knownCount: knownCount) { start += 1 }
    }
  }

  /// Adds the sections that either list shows.
  mutating func lookAtAllSections() {
    for list in [old, new] {
      for section in 0..<list.sectionCount {
        list.withSection(at: section) { key, _, _ in _ = sections.index(of: key) }
      }
    }
  }

  /// Whether no row of a section changed and both lists show all items that the section's own window leaves.
  private mutating func isSharedWhole(sectionAt shown: Int, of list: ListVersion, knownCount: Int) -> Bool {
    let index = list.withSection(at: shown) { section, _, _ in sections.index(of: section) }
    return index >= knownCount && sections.all[index].old.isWhole && sections.all[index].new.isWhole
  }

  /// Finds the unchanged items of a section that one list shows and the other does not. They are at both ends of the
  /// shown range, interleaved with changed ones.
  ///
  /// - Parameters:
  ///   - side: the list that shows them.
  ///   - touched: the keys of changed rows in that list.
  mutating func findCrossing(_ index: Int, _ side: SectionPair.End, touched: Set<[UInt8]>) {
    let shown = sections.all[index][side].shown
    let there = sections.all[index][side == .old ? .new : .old]
    guard !shown.isEmpty, there.shown.count < there.count else { return }
    var end = shown.upperBound
    while end > shown.lowerBound, !isShared(itemAt: end - 1, ofSection: index, side, touched) { end -= 1 }
    var start = shown.lowerBound
    while start < end - 1, !isShared(itemAt: start, ofSection: index, side, touched) { start += 1 }
  }

  /// Whether an item is unchanged and both lists show it. An item that only this list shows becomes an entry.
  private mutating func isShared(
    itemAt item: Int, ofSection index: Int, _ side: SectionPair.End, _ touched: Set<[UInt8]>
  ) -> Bool {
    cost.items += 1
    let isOld = side == .old
    let otherSide: SectionPair.End = isOld ? .new : .old
    let (start, shown) = sections.window(index, side)
    let there = sections.window(index, otherSide)
    let otherItems = sections.items(otherSide)
    let edge = sections.items(side).withEntry(at: start + item) { key, value -> EdgeItem in
      if touched.contains(Array(key)) { return .changed }
      if there.shown.contains(otherItems.rank(of: key).rank - there.start) { return .shared }
      let position = (section: index, item: item - shown.lowerBound)
      return .crossing(
        Entry(
          id: String(decoding: ItemKey(key, value).id, as: UTF8.self), old: isOld ? position : nil,
          new: isOld ? nil : position, isFree: false))
    }
    switch edge {
    case .changed: return false
    case .shared: return true
    case .crossing(let entry):
      entries.append(entry)
      return false
    }
  }
}
