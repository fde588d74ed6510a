// One state of a list, untyped: a version of a table, a view over it, and its windows.

internal import StrataBase
package import StrataEvents
package import StrataTables

/// A list at one moment: an immutable value.
///
/// A list without sections has exactly one, with an empty key, even if it shows nothing. Otherwise a section that shows
/// nothing is left out, and indexes do not count it, unless it is declared. A section's index is among the
/// shown sections, and its rank is its index in the view.
package final class ListVersion: Sendable {
  // A class, so that a snapshot is one reference, however many trees it holds.
  package let table: Table
  package let view: View
  package let window: ListWindows
  package let isSectioned: Bool
  /// The list includes everything up to this sequence.
  package let sequence: UInt64
  /// The own time of the last append in the list; nil at the beginning.
  package let time: Int64?
  /// The events up to `sequence` that the projection could not apply.
  package let failures: ProjectionFailures
  /// Counts the version as held; nil if it is not counted.
  private let held: HeldVersion?
  /// The part that the window over the whole list leaves; nil if it leaves everything.
  let cut: ListCut?
  let sections: ShownSections
  /// The aggregates; nil if the request has none.
  package let totals: ListTotals?

  /// O(1) without a window. With a window, O(log n) if sections are ordered by key, otherwise O(log n) for each section
  /// between the pin and the window's far end; if sections have windows with an offset, for each section.
  package init(
    table: Table, view: View, window: ListWindows, isSectioned: Bool, sequence: UInt64, time: Int64?,
    failures: ProjectionFailures = ProjectionFailures(), held: HeldVersion? = nil,
    aggregates: AggregatePlan? = nil
  ) {
    totals = aggregates.map { ListTotals($0, table: table, view: view, sequence: sequence) }
    self.held = held
    self.table = table
    self.view = view
    self.window = window
    self.isSectioned = isSectioned
    self.sequence = sequence
    self.time = time
    self.failures = failures
    cut = ListCut(window, of: view, isSectioned: isSectioned)
    sections = ShownSections(window, of: view, isSectioned: isSectioned, cut: cut)
  }

  /// The version of a state that holds the view. The view must have been added to the table.
  ///
  /// - Parameter store: where the version is counted as held, if it is.
  package convenience init(
    _ set: TableSet, table name: String, _ list: CompiledList, heldBy store: EventStore? = nil
  ) {
    let table = set[name]
    guard let view = table.view(list.definition.identity) else {
      preconditionFailure("the state does not hold the list's view")
    }
    self.init(
      table: table, view: view, window: list.window, isSectioned: list.isSectioned, sequence: set.sequence,
      time: set.time, failures: set.failures, held: store?.hold(table, sequence: set.sequence),
      aggregates: list.aggregates)
  }
}

extension ListVersion {
  /// The number of shown sections.
  package var sectionCount: Int { sections.count }

  /// The range of a section's items that is shown. Empty for a section that is not shown.
  ///
  /// - Parameters:
  ///   - rank: the section's rank in the view.
  ///   - count: the number of items in the section.
  func shownRange(ofRank rank: Int, count: Int) -> Range<Int> {
    let own = window.section.range(of: count)
    return cut?.range(ofSectionAt: rank, own: own) ?? own
  }

  /// Whether the list certainly shows every row of its table. O(1).
  var showsEveryRow: Bool { !isCut && view.count == table.count }

  /// Whether a window may hide items of the list.
  var isCut: Bool { cut != nil || !window.section.isAll }

  /// Passes a section to the body: its key, its number of items, and the number of shown items. O(log sections).
  package func withSection<Result, Failure: Error>(
    at index: Int,
    _ body: (_ section: UnsafeRawBufferPointer, _ count: Int, _ shown: Int) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withRange(ofSectionAt: index) { (section, count, range) throws(Failure) in
      try body(section, count, range.count)
    }
  }

  /// Passes a section to the body: its key, its number of items, and the range of shown items. O(log sections).
  private func withRange<Result, Failure: Error>(
    ofSectionAt index: Int,
    _ body: (_ section: UnsafeRawBufferPointer, _ count: Int, _ range: Range<Int>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(index >= 0 && index < sectionCount, "no section \(index): there are \(sectionCount)")
    if !isSectioned {
      return try body(
        UnsafeRawBufferPointer(start: nil, count: 0), view.count, shownRange(ofRank: 0, count: view.count))
    }
    let rank = sections.rank(at: index)
    return try view.withSection(at: rank) { (section, count) throws(Failure) in
      try body(section, count, shownRange(ofRank: rank, count: count))
    }
  }

  /// The number of items that the section at an index shows. O(log sections).
  package func shownCount(ofSectionAt index: Int) -> Int { withSection(at: index) { _, _, shown in shown } }

  /// The index of a section among the shown ones, nil if it is not shown. O(log sections).
  package func index(ofSection section: UnsafeRawBufferPointer) -> Int? {
    guard isSectioned else { return 0 }
    return view.rank(ofSection: section).flatMap { sections.index(ofRank: $0) }
  }

  /// The number of shown items. O(1), or O(sections shown) if sections have windows of their own.
  package var itemCount: Int {
    guard isCut else { return view.count }
    if window.section.isAll { return window.list.range(of: view.count).count }
    var sum = 0
    for index in 0..<sectionCount { sum += shownCount(ofSectionAt: index) }
    return sum
  }

  /// Passes items of a section to the body, by their indexes among those that it shows.
  package func forEachItem<Failure: Error>(
    inSectionAt index: Int, _ indexes: Range<Int>, _ body: (ItemKey) throws(Failure) -> Void
  ) throws(Failure) {
    let start = withRange(ofSectionAt: index) { section, _, range in
      precondition(
        indexes.lowerBound >= 0 && indexes.upperBound <= range.count,
        "items \(indexes) are out of range: section \(index) shows \(range.count)")
      return view.start(of: section) + range.lowerBound
    }
    try view.forEachItem(in: start + indexes.lowerBound..<start + indexes.upperBound, body)
  }

  /// Lends the rows of such items, nil for one that the table lacks.
  func forEachRow<Failure: Error>(
    inSectionAt index: Int, _ indexes: Range<Int>, _ body: (RowView?) throws(Failure) -> Void
  ) throws(Failure) {
    guard table.readsRows else {
      return try forEachItem(inSectionAt: index, indexes) { (key) throws(Failure) in
        try table.withRow(key.id, body)
      }
    }
    var ids: [[UInt8]] = []
    forEachItem(inSectionAt: index, indexes) { ids.append(Array($0.id)) }
    for first in stride(from: 0, to: ids.count, by: Self.readAheadCount) {
      let next = ids[first..<min(first + Self.readAheadCount, ids.count)]
      table.willRead(Array(next))
      for id in next { try id.lendBytes { (id) throws(Failure) in try table.withRow(id, body) } }
    }
  }

  /// How many rows are asked for before the first of them is waited for.
  private static var readAheadCount: Int { 256 }

  /// The position of a row, nil if it is not shown. O(log n), plus making the row's key; O(n log n) once for a list in
  /// which the program's code makes another key of the row than it did.
  package func position(of id: UnsafeRawBufferPointer) -> ListIndex? {
    let key = table.withRow(id) { row in row.map { view.key(of: $0) } ?? PlacedKey() }
    return key.bytes.withUnsafeBytes {
      key.isShown ? position(key: $0, sectionLength: key.sectionLength) : nil
    }
  }

  private func position(key: UnsafeRawBufferPointer, sectionLength: Int) -> ListIndex? {
    let section = UnsafeRawBufferPointer(rebasing: key[..<sectionLength])
    guard let rank = isSectioned ? view.rank(ofSection: section) : 0 else { return nil }
    let item = view.rank(of: key) - view.start(of: section)
    let range = shownRange(ofRank: rank, count: isSectioned ? view.itemCount(of: section) : view.count)
    guard range.contains(item), let index = sections.index(ofRank: rank) else { return nil }
    return ListIndex(section: index, item: item - range.lowerBound)
  }
}
