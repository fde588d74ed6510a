// Finding the changes between two states of a list.

internal import StrataTables

extension ListDiff {
  /// The changes that turn `old` into `new`, two states of one store's table.
  ///
  /// If both lists are the same function of the table, this costs O(k log n) for k rows that changed or that only one
  /// of the windows shows, plus O(sections shown) if the windows inside the sections differ; or O(m log n) for m items
  /// and sections that the two show, if they are fewer than the rows that changed. If the requests differ, it costs
  /// O(n log n) for n items shown. If the program's code orders the sections and the lists come from separate folds, as
  /// after a replay, O(sections) is added, and O(n log n) if a comparison is inconsistent. If the program's code makes
  /// keys and the lists come from separate folds, O(what their views do not share) is added, and O(n log n) if that code
  /// now makes other keys of a row than it did.
  package init(from old: ListVersion, to new: ListVersion) {
    self = Self.found(from: old, to: new).diff
  }

  /// The changes, and what was visited to find them.
  ///
  /// - Parameter rowCountMax: how many rows that changed are visited before the items that are shown are visited instead;
  ///   nil for as many as there are of those.
  package static func found(
    from old: ListVersion, to new: ListVersion, rowCountMax: Int? = nil
  ) -> (diff: ListDiff, cost: DiffCost) {
    var finder = DiffFinder(old: old, new: new)
    let isSameList =
      old.view.definition.identity == new.view.definition.identity && old.isSectioned == new.isSectioned
      && old.view.hasSectionOrder(of: new.view)
    if !isSameList || !finder.findSameList(rowCountMax: rowCountMax) {
      finder.beginAgain()
      finder.findByItems()
    }
    finder.findChangedAggregates()
    var diff = finder.batch(areSectionsFree: !isSameList)
    diff.fromSequence = old.sequence
    diff.toSequence = new.sequence
    finder.cost.sections = finder.sections.all.count
    return (diff, finder.cost)
  }
}

/// The work that it took to find a batch.
package struct DiffCost: Hashable, Sendable {
  /// Rows that differ between the two tables.
  package var rows = 0
  /// Items that were visited one by one: at the ends of windows, or all of them.
  package var items = 0
  /// Sections that were visited.
  package var sections = 0
}

/// Collects what changed, and then decides which items move.
struct DiffFinder {
  /// An item that may become part of the batch.
  struct Entry {
    var id: String
    /// Where the old list shows it: the section's index among the pairs, and the item's index in it.
    var old: (section: Int, item: Int)?
    var new: (section: Int, item: Int)?
    /// Whether it may move. An entry that may not move keeps its order among the fixed items of its section.
    var isFree: Bool
    /// The fields that changed; nil if the row's content did not.
    var changedFields: [String]?
  }

  /// A row that differs between the two tables, with the numbers of its collected keys.
  private struct ChangedRow {
    /// The number of the collected key, and the length of its section prefix.
    typealias Key = (number: Int, sectionLength: Int)

    var id: String
    var old: Key?
    var new: Key?
    var hasSameKey: Bool
    var changedFields: [String]?

    /// The number of differing keys in the two lists that the row's change explains.
    var differingKeyCount: Int { hasSameKey ? 0 : (old == nil ? 0 : 1) + (new == nil ? 0 : 1) }
  }

  let old: ListVersion
  let new: ListVersion
  var sections: SectionPairs
  var entries: [Entry] = []
  var cost = DiffCost()
  /// The indexes of the sections among the pairs whose aggregates changed.
  var aggregated: Set<Int> = []

  init(old: ListVersion, new: ListVersion) {
    self.old = old
    self.new = new
    sections = SectionPairs(old: old, new: new)
  }

  /// Forgets what was collected, but for what it cost.
  mutating func beginAgain() {
    let cost = cost
    self = DiffFinder(old: old, new: new)
    self.cost = cost
  }
}

// MARK: Collecting

extension DiffFinder {
  private struct TooManyRows: Error {}

  /// A row of the past that is looked for by its id takes as long as this number of rows that are met in their order.
  private static let pastRowCost = 4

  /// How a search by the rows that changed ended.
  private enum RowSearch {
    case found
    /// The functions of the request do not put the rows where the lists have them.
    case positionsDiffer
    /// More rows changed than should be visited.
    case tooMany
  }

  /// Finds the changes between two states of one list by the rows that changed, or by the items that are shown if those
  /// are fewer. Returns false if the functions of the request do not put the rows where the lists have them; the collected
  /// data is then invalid.
  mutating func findSameList(rowCountMax: Int?) -> Bool {
    let shownCount = old.shownCountMax + new.shownCountMax
    // Once: to read a table through a list copies it.
    let tables = (old: old.table, new: new.table)
    var search: RowSearch?
    if let cost = Table.changeCost(from: tables.old, to: tables.new), rowCountMax == nil {
      search = cost / Self.pastRowCost > shownCount ? .tooMany : findByRows(of: tables, rowCountMax: .max)
    }
    switch search ?? findByRows(of: tables, rowCountMax: rowCountMax ?? shownCount) {
    case .found: return true
    case .positionsDiffer: return false
    case .tooMany:
      beginAgain()
      findByShownItems()
      return true
    }
  }

  /// Whether a write of equal content is a change.
  var withTouches: Bool { old.table.recordsTouches && new.table.recordsTouches }

  /// Visits only the rows that changed, and the ends of windows. Unless they are found, the collected data is invalid.
  private mutating func findByRows(of tables: (old: Table, new: Table), rowCountMax: Int) -> RowSearch {
    let callsProgram = old.view.definition.calls != .none
    var isAsMade = true
    let isCut = old.isCut || new.isCut
    var touchedOld: Set<[UInt8]> = []
    var touchedNew: Set<[UInt8]> = []
    var oldKey = PlacedKey()
    var newKey = PlacedKey()
    var writer = SortKeyWriter()
    var rows: [ChangedRow] = []
    var oldKeys = GatheredKeys()
    var newKeys = GatheredKeys()
    let definition = old.view.definition
    let withTouches = withTouches
    do throws(TooManyRows) {
      try Table.forEachChange(from: tables.old, to: tables.new) { (change) throws(TooManyRows) in
        guard cost.rows < rowCountMax else { throw TooManyRows() }
        cost.rows += 1
        oldKey.place(change.old, by: definition, &writer)
        newKey.place(change.new, by: definition, &writer)
        if callsProgram,
          !(isLeftOut(oldKey, of: change.id, by: old) && isLeftOut(newKey, of: change.id, by: new))
        {
          isAsMade = false
        }
        guard isAsMade, oldKey.isShown || newKey.isShown else { return }
        let hasSameKey = oldKey.isShown && newKey.isShown && oldKey.bytes == newKey.bytes
        let fields = change.changedFields(withTouches: withTouches)
        // The row was written, but nothing that the list shows of it changed.
        if hasSameKey, fields == nil {
          if callsProgram, !isItem(oldKey) { isAsMade = false }
          // Its section may have disappeared in between and come back, and the program's code may have ordered it
          // differently.
          // Its value may be the time or the revision, which differ also where the content is equal.
          if definition.asksForSectionOrder || oldKey.value != newKey.value { lookAtSection(of: oldKey) }
          return
        }
        if isCut {
          if oldKey.isShown { touchedOld.insert(oldKey.bytes) }
          if newKey.isShown { touchedNew.insert(newKey.bytes) }
        }
        rows.append(
          ChangedRow(
            id: String(decoding: change.id, as: UTF8.self),
            old: oldKey.isShown ? (oldKeys.append(oldKey), oldKey.sectionLength) : nil,
            new: newKey.isShown ? (newKeys.append(newKey), newKey.sectionLength) : nil,
            hasSameKey: hasSameKey, changedFields: fields))
      }
    } catch {
      return .tooMany
    }
    guard isAsMade, place(rows, oldKeys, newKeys) else { return .positionsDiffer }
    if callsProgram, old.view.isApart(from: new.view), !isExplained(by: rows) { return .positionsDiffer }
    if definition.asksForSectionOrder {
      old.view.forEachSectionOrderedApart(from: new.view) { _ = sections.index(of: $0) }
    }
    guard isCut else { return .found }
    if old.window.section != new.window.section { lookAtAllSections() } else { lookAtEdges() }
    for index in sections.all.indices {
      findCrossing(index, .old, touched: touchedOld)
      findCrossing(index, .new, touched: touchedNew)
    }
    return .found
  }

  private mutating func lookAtSection(of key: PlacedKey) {
    key.bytes.withUnsafeBytes { bytes in
      _ = sections.index(of: UnsafeRawBufferPointer(rebasing: bytes[..<key.sectionLength]))
    }
  }

  /// Whether a row that has no key now is also missing from the list.
  private func isLeftOut(_ key: PlacedKey, of id: UnsafeRawBufferPointer, by list: ListVersion) -> Bool {
    key.isShown || !key.isOfRow || !list.view.mayShow(id, leftOut: key)
  }

  /// Whether both lists contain a key.
  private func isItem(_ key: PlacedKey) -> Bool {
    key.bytes.withUnsafeBytes { old.view.items.contains($0) && new.view.items.contains($0) }
  }

  /// Whether the lists differ only in the keys of changed rows. All of these keys are in their lists, so comparing the
  /// counts is enough.
  private func isExplained(by rows: [ChangedRow]) -> Bool {
    var differing = 0
    Tree.forEachDifference(from: old.view.items, to: new.view.items) { _ in differing += 1 }
    return differing == rows.reduce(0) { $0 + $1.differingKeyCount }
  }

  /// Finds where both lists show the rows; returns false if a list has one of them elsewhere.
  private mutating func place(
    _ rows: [ChangedRow], _ oldKeys: GatheredKeys, _ newKeys: GatheredKeys
  ) -> Bool {
    let (oldRanks, areAllOld) = oldKeys.ranks(in: sections.oldView)
    let (newRanks, areAllNew) = newKeys.ranks(in: sections.newView)
    guard areAllOld, areAllNew else { return false }
    entries.reserveCapacity(rows.count)
    for row in rows {
      let old = row.old.flatMap { place(oldKeys, $0, rank: oldRanks[$0.number], .old) }
      let new = row.new.flatMap { place(newKeys, $0, rank: newRanks[$0.number], .new) }
      guard old != nil || new != nil else { continue }
      entries.append(
        Entry(id: row.id, old: old, new: new, isFree: !row.hasSameKey, changedFields: row.changedFields))
    }
    return true
  }

  private mutating func place(
    _ keys: borrowing GatheredKeys, _ key: ChangedRow.Key, rank: Int, _ side: SectionPair.End
  ) -> (section: Int, item: Int)? {
    let section = keys.withPrefix(key.sectionLength, of: key.number) { sections.index(of: $0) }
    let (start, shown) = sections.window(section, side)
    return shown.contains(rank - start) ? (section, rank - start - shown.lowerBound) : nil
  }
}

// MARK: Deciding

extension DiffFinder {
  mutating func batch(areSectionsFree: Bool) -> ListDiff {
    var batch = ListDiff()
    let moved = movedEntries()
    for (index, entry) in entries.enumerated() {
      switch (entry.old, entry.new) {
      case (nil, nil): break
      case (let old?, nil): batch.deletions.append(.init(id: entry.id, from: oldPosition(old)))
      case (nil, let new?): batch.insertions.append(.init(id: entry.id, to: newPosition(new)))
      case (let old?, let new?):
        let (from, to) = (oldPosition(old), newPosition(new))
        if moved[index] {
          batch.moves.append(
            .init(
              id: entry.id, from: from, to: to, isChanged: entry.changedFields != nil,
              changedFields: entry.changedFields ?? []))
        } else if let fields = entry.changedFields {
          batch.updates.append(.init(id: entry.id, from: from, to: to, changedFields: fields))
        }
      }
    }
    addSections(to: &batch, areFree: areSectionsFree)
    batch.deletions.sort { $0.from > $1.from }
    batch.insertions.sort { $0.to < $1.to }
    batch.moves.sort { $0.to < $1.to }
    batch.updates.sort { $0.to < $1.to }
    return batch
  }

  private func oldPosition(_ position: (section: Int, item: Int)) -> ListIndex {
    ListIndex(section: sections.all[position.section].old.index ?? 0, item: position.item)
  }

  private func newPosition(_ position: (section: Int, item: Int)) -> ListIndex {
    ListIndex(section: sections.all[position.section].new.index ?? 0, item: position.item)
  }

  /// For each entry, whether it moves.
  private func movedEntries() -> [Bool] {
    var moved = [Bool](repeating: false, count: entries.count)
    var free: [Int] = []
    for (index, entry) in entries.enumerated() {
      guard let old = entry.old, let new = entry.new, entry.isFree else { continue }
      if old.section == new.section { free.append(index) } else { moved[index] = true }
    }
    guard !free.isEmpty else { return moved }
    // For each section with free items: those, and everything else in it that is not fixed.
    var groups = [FreePositions?](repeating: nil, count: sections.all.count)
    for index in free {
      guard let old = entries[index].old, let new = entries[index].new else { continue }
      if groups[old.section] == nil { groups[old.section] = FreePositions() }
      groups[old.section]?.free.append((index, old.item, new.item))
    }
    for entry in entries {
      let isFixed = !entry.isFree && entry.old != nil && entry.new != nil
      guard !isFixed else { continue }
      if let old = entry.old { groups[old.section]?.unfixedOld.append(old.item) }
      if let new = entry.new { groups[new.section]?.unfixedNew.append(new.item) }
    }
    for group in groups { group?.forEachMoved { moved[$0] = true } }
    return moved
  }

  private func addSections(to batch: inout ListDiff, areFree: Bool) {
    var positions = FreePositions()
    var free: [SectionPair] = []
    for (index, pair) in sections.all.enumerated() {
      switch (pair.old.index, pair.new.index) {
      case (nil, nil): break
      case (let from?, nil):
        batch.sectionDeletions.append(.init(section: pair.key, from: from))
        positions.unfixedOld.append(from)
      case (nil, let to?):
        batch.sectionInsertions.append(.init(section: pair.key, to: to, count: pair.new.count))
        positions.unfixedNew.append(to)
      case (let from?, let to?):
        if pair.old.count != pair.new.count || aggregated.contains(index) {
          batch.sectionUpdates.append(.init(section: pair.key, from: from, to: to, count: pair.new.count))
        }
        guard areFree || !hasSameOrder(pair.key) else { continue }
        free.append(pair)
        positions.free.append((free.count - 1, from, to))
        positions.unfixedOld.append(from)
        positions.unfixedNew.append(to)
      }
    }
    positions.forEachMoved { index in
      let pair = free[index]
      batch.sectionMoves.append(.init(section: pair.key, from: pair.old.index ?? 0, to: pair.new.index ?? 0))
    }
    batch.sectionDeletions.sort { $0.from > $1.from }
    batch.sectionInsertions.sort { $0.to < $1.to }
    batch.sectionMoves.sort { $0.to < $1.to }
    batch.sectionUpdates.sort { $0.to < $1.to }
  }

  private func hasSameOrder(_ section: [UInt8]) -> Bool {
    guard old.isSectioned else { return true }
    return section.withUnsafeBytes { old.view.hasSameOrder($0, as: new.view) }
  }
}
