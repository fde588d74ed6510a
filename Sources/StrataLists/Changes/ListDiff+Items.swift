// Finding the changes between two lists by the items that they show.

internal import StrataTables

/// An item that a list shows.
private struct ShownItem {
  /// Section, sort keys and id.
  var key: [UInt8]
  var idLength: Int
  /// The section's index among the pairs, and the item's index in it.
  var position: (section: Int, item: Int)

  /// Compared by its bytes: Swift strings can be equal when their bytes are not.
  var id: ArraySlice<UInt8> { key[(key.count - idLength)...] }
}

extension ListVersion {
  /// At least as many as the items and sections that the list shows. O(1).
  var shownCountMax: Int {
    var count = min(view.count, window.list.length ?? .max)
    if let length = window.section.length {
      let (sum, isOverflow) = length.multipliedReportingOverflow(by: sectionCount)
      if !isOverflow { count = min(count, sum) }
    }
    return count + sectionCount
  }
}

extension DiffFinder {
  /// Visits every item that either list shows: the lists are different functions of the table.
  mutating func findByItems() {
    var changed: [ArraySlice<UInt8>: [String]] = [:]
    let withTouches = withTouches
    Table.forEachChange(from: old.table, to: new.table) { change in
      changed[Array(change.id)[...]] = change.changedFields(withTouches: withTouches)
    }
    forEachItem { finder, old, new in
      guard let item = old ?? new else { return }
      finder.entries.append(Self.entry(item.id, old, new, isFree: true, changed[item.id]))
    }
  }

  /// Visits every item that either list shows, and the rows of those that both show: more rows than that changed. Both
  /// lists are the same function of the table, so items whose keys did not change are in the same order in both.
  mutating func findByShownItems() {
    let (oldTable, newTable, withTouches) = (old.table, new.table, withTouches)
    forEachItem { finder, old, new in
      guard let item = old ?? new else { return }
      var fields: [String]?
      if old != nil, new != nil {
        fields = item.id.withUnsafeBytes { id in
          Table.withChange(of: id, from: oldTable, to: newTable) { change in
            change?.changedFields(withTouches: withTouches)
          }
        }
        if fields == nil, old?.key == new?.key { return }
      }
      finder.entries.append(Self.entry(item.id, old, new, isFree: old?.key != new?.key, fields))
    }
  }

  private static func entry(
    _ id: ArraySlice<UInt8>, _ old: ShownItem?, _ new: ShownItem?, isFree: Bool, _ changedFields: [String]?
  ) -> Entry {
    Entry(
      id: String(decoding: id, as: UTF8.self), old: old?.position, new: new?.position, isFree: isFree,
      changedFields: changedFields)
  }

  /// Passes each item that either list shows to the body, as the two show it.
  private mutating func forEachItem(_ body: (inout DiffFinder, _ old: ShownItem?, _ new: ShownItem?) -> Void)
  {
    let (oldItems, newItems) = (items(of: old), items(of: new))
    var indexes: [ArraySlice<UInt8>: Int] = [:]
    indexes.reserveCapacity(newItems.count)
    for (index, item) in newItems.enumerated() { indexes[item.id] = index }
    var isShared = [Bool](repeating: false, count: newItems.count)
    for item in oldItems {
      let index = indexes[item.id]
      if let index { isShared[index] = true }
      body(&self, item, index.map { newItems[$0] })
    }
    for (index, item) in newItems.enumerated() where !isShared[index] { body(&self, nil, item) }
  }

  private mutating func items(of list: ListVersion) -> [ShownItem] {
    var items: [ShownItem] = []
    for index in 0..<list.sectionCount {
      let (section, shown) = list.withSection(at: index) { section, _, shown in
        (sections.index(of: section), shown)
      }
      let first = items.count
      list.forEachItem(inSectionAt: index, 0..<shown) { key in
        items.append(
          ShownItem(key: Array(key.bytes), idLength: key.idLength, position: (section, items.count - first)))
      }
    }
    cost.items += items.count
    return items
  }
}
