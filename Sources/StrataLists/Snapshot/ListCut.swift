// The part of a list's sections that a window over the whole list leaves.

internal import StrataTables

/// The sections that a window over the whole list touches, and how far it cuts the first and the last of them.
struct ListCut: Hashable, Sendable {
  /// The ranks of the sections that have items in the window. A single rank if the list has no sections.
  private(set) var ranks = 0..<0
  /// The number of items of the first section that are before the window. Items that the section's own window hides do
  /// not count.
  private(set) var skipped = 0
  /// The number of items of the last section that are before the window's end, counted in the same way.
  private(set) var end = 0
  /// The number of sections visited to find the cut.
  private(set) var walkedCount = 0

  /// Nil if the window leaves everything.
  ///
  /// O(log n) if sections are ordered by key and have no windows of their own, otherwise O(log n) for each section
  /// between the pin and the far end of the window.
  init?(_ window: ListWindows, of view: View, isSectioned: Bool) {
    if !isSectioned {
      let count = window.section.range(of: view.count).count
      let indexes = window.list.range(of: count)
      if indexes == 0..<count { return nil }
      (ranks, skipped, end) = (0..<1, indexes.lowerBound, indexes.upperBound)
      return
    }
    // If the window leaves all items, it also leaves all items that the sections' windows leave.
    let indexes = window.list.range(of: view.count)
    if indexes == 0..<view.count { return nil }
    if indexes.isEmpty { return }
    if window.section.isAll, view.isPlacedByRank {
      let first = view.location(ofIndex: indexes.lowerBound)
      let last = view.location(ofIndex: indexes.upperBound - 1)
      (ranks, skipped, end) = (first.rank..<last.rank + 1, first.item, last.item + 1)
      return
    }
    switch window.list.pin {
    case .beginning: walkForward(window, view)
    case .end: walkBackward(window, view)
    }
  }

  private mutating func walkForward(_ window: ListWindows, _ view: View) {
    var passed = window.list.offset
    var left = window.list.length ?? .max
    for rank in 0..<view.sectionCount where left > 0 {
      let count = view.withSection(at: rank) { _, count in window.section.range(of: count).count }
      walkedCount += 1
      guard passed < count else {
        passed -= count
        continue
      }
      if ranks.isEmpty { (ranks, skipped) = (rank..<rank, passed) }
      let taken = min(count - passed, left)
      (ranks, end) = (ranks.lowerBound..<rank + 1, passed + taken)
      left -= taken
      passed = 0
    }
  }

  private mutating func walkBackward(_ window: ListWindows, _ view: View) {
    var passed = window.list.offset
    var left = window.list.length ?? .max
    for rank in (0..<view.sectionCount).reversed() where left > 0 {
      let count = view.withSection(at: rank) { _, count in window.section.range(of: count).count }
      walkedCount += 1
      guard passed < count else {
        passed -= count
        continue
      }
      if ranks.isEmpty { (ranks, end) = (rank + 1..<rank + 1, count - passed) }
      let taken = min(count - passed, left)
      (ranks, skipped) = (rank..<ranks.upperBound, count - passed - taken)
      left -= taken
      passed = 0
    }
  }

  /// The part of a section that the window leaves.
  ///
  /// - Parameter own: the range that the section's own window leaves.
  func range(ofSectionAt rank: Int, own: Range<Int>) -> Range<Int> {
    guard ranks.contains(rank) else { return own.lowerBound..<own.lowerBound }
    let lower = rank == ranks.lowerBound ? own.lowerBound + skipped : own.lowerBound
    let upper = rank == ranks.upperBound - 1 ? own.lowerBound + end : own.upperBound
    return lower..<upper
  }
}
