// One state of a list, untyped: a version of a table, a view over it, and a window.

package import StrataTables

/// How much of a list is shown.
package struct ListWindow: Hashable, Sendable {
  /// At most so many items of the whole list, sections in their order. At least 0.
  package var limit: Int?
  /// At most so many items of each section. At least 0.
  package var sectionLimit: Int?

  package init(limit: Int? = nil, sectionLimit: Int? = nil) {
    precondition(limit ?? 0 >= 0 && sectionLimit ?? 0 >= 0, "a limit is at least 0")
    self.limit = limit
    self.sectionLimit = sectionLimit
  }

  package static let all = ListWindow()
}

/// Where an item is shown: the place of its section, and its place in the section.
package struct ListPosition: Hashable, Comparable, Sendable {
  package var section: Int
  package var item: Int

  package init(section: Int, item: Int) {
    self.section = section
    self.item = item
  }

  package static func < (a: ListPosition, b: ListPosition) -> Bool {
    (a.section, a.item) < (b.section, b.item)
  }
}

/// A list at one moment: a value that never changes.
///
/// A list without sections has exactly one, whose key is empty, also when it shows nothing. Otherwise sections
/// that show nothing are not there, and positions do not count them.
package final class ListVersion: Sendable {
  // A class, so that a snapshot is one reference however many trees it holds.
  package let table: Table
  package let view: View
  package let window: ListWindow
  package let isSectioned: Bool
  /// Everything up to this sequence is in it.
  package let sequence: UInt64
  /// The commit time of the last append that is in it; nil at the beginning.
  package let time: Int64?
  /// How many sections are shown.
  package let sectionCount: Int
  /// Where the limit cuts the last section: how many of its items are shown.
  private let lastShownCount: Int

  /// O(1) without a limit; with one O(sections shown × log n).
  package init(
    table: Table, view: View, window: ListWindow, isSectioned: Bool, sequence: UInt64, time: Int64?
  ) {
    self.table = table
    self.view = view
    self.window = window
    self.isSectioned = isSectioned
    self.sequence = sequence
    self.time = time
    var lastShownCount = Int.max
    if !isSectioned {
      sectionCount = 1
      lastShownCount = window.limit ?? .max
    } else if window.sectionLimit == 0 || window.limit == 0 {
      sectionCount = 0
    } else if let limit = window.limit, limit < view.count {
      var left = limit
      var shown = 0
      while left > 0, shown < view.sectionCount {
        let count = view.withSection(at: shown) { _, count in min(count, window.sectionLimit ?? .max) }
        lastShownCount = min(count, left)
        left -= lastShownCount
        shown += 1
      }
      sectionCount = shown
    } else {
      sectionCount = view.sectionCount
    }
    self.lastShownCount = lastShownCount
  }

  /// The version of a state that holds the view. The view must have been added to the table.
  package convenience init(
    _ set: TableSet, table name: String, view identity: ViewIdentity, window: ListWindow, isSectioned: Bool
  ) {
    let table = set[name]
    guard let view = table.view(identity) else {
      preconditionFailure("the state does not hold the list's view")
    }
    self.init(
      table: table, view: view, window: window, isSectioned: isSectioned, sequence: set.sequence,
      time: set.time)
  }
}

extension ListVersion {
  /// How many of a section's items are shown.
  ///
  /// - Parameter count: how many it holds.
  func shownCount(ofSectionAt rank: Int, count: Int) -> Int {
    guard rank < sectionCount else { return 0 }
    let shown = min(count, window.sectionLimit ?? .max)
    return rank == sectionCount - 1 ? min(shown, lastShownCount) : shown
  }

  /// Whether some item of the list may be hidden by a limit.
  var isCut: Bool {
    if window.sectionLimit != nil { return true }
    guard let limit = window.limit else { return false }
    return limit < view.count
  }

  /// Lends a section: its key, how many items it holds, how many are shown. O(log sections).
  package func withSection<Result, Failure: Error>(
    at rank: Int,
    _ body: (_ section: UnsafeRawBufferPointer, _ count: Int, _ shown: Int) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(rank >= 0 && rank < sectionCount, "there is no section \(rank) of \(sectionCount)")
    if !isSectioned {
      return try body(
        UnsafeRawBufferPointer(start: nil, count: 0), view.count,
        shownCount(ofSectionAt: 0, count: view.count))
    }
    return try view.withSection(at: rank) { (section, count) throws(Failure) in
      try body(section, count, shownCount(ofSectionAt: rank, count: count))
    }
  }

  /// The place of a section, nil where it is not shown. O(log sections).
  package func rank(ofSection section: UnsafeRawBufferPointer) -> Int? {
    guard isSectioned else { return 0 }
    guard let rank = view.rank(ofSection: section), rank < sectionCount else { return nil }
    return rank
  }

  /// How many items are shown. O(1), or O(sections shown) where limits cut.
  package var itemCount: Int {
    guard isCut else { return view.count }
    if window.sectionLimit == nil, let limit = window.limit { return min(limit, view.count) }
    var sum = 0
    for rank in 0..<sectionCount { sum += withSection(at: rank) { _, _, shown in shown } }
    return sum
  }

  /// Lends the items of a section by their places in it.
  package func forEachItem<Failure: Error>(
    inSectionAt rank: Int, _ places: Range<Int>, _ body: (ItemKey) throws(Failure) -> Void
  ) throws(Failure) {
    let start = withSection(at: rank) { section, _, shown in
      precondition(
        places.lowerBound >= 0 && places.upperBound <= shown,
        "items \(places) of section \(rank), which shows \(shown)")
      return view.start(of: section)
    }
    try view.forEachItem(in: start + places.lowerBound..<start + places.upperBound, body)
  }

  /// Where a row is shown, nil where it is not. O(log n), and the making of the row's key.
  package func position(of id: UnsafeRawBufferPointer) -> ListPosition? {
    let key = table.withRow(id) { row in
      guard let row else { return PlacedKey() }
      var key = PlacedKey()
      var writer = SortKeyWriter()
      key.place(row, by: view.definition, &writer)
      return key
    }
    return key.bytes.withUnsafeBytes {
      key.isShown ? position(key: $0, sectionLength: key.sectionLength) : nil
    }
  }

  private func position(key: UnsafeRawBufferPointer, sectionLength: Int) -> ListPosition? {
    let section = UnsafeRawBufferPointer(rebasing: key[..<sectionLength])
    guard let rank = isSectioned ? view.rank(ofSection: section) : 0 else { return nil }
    let item = view.items.rank(of: key).rank - view.start(of: section)
    let count = view.itemCount(of: section)
    return item < shownCount(ofSectionAt: rank, count: count) ? ListPosition(section: rank, item: item) : nil
  }
}
