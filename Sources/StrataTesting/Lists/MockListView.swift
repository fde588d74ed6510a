// A list view without a screen, as strict as UIKit and a little stricter.

public import StrataLists
public import StrataViews

/// Shows sections of cells, and changes them by batches under the rules of `UICollectionView`.
///
/// Its cells remember what they were given: an item and the version of its content. A cell is given something only
/// when UIKit would ask the data source for it: when it is inserted, reloaded or reconfigured. So a batch that
/// leaves out an update leaves a stale cell, and one that moves the wrong row leaves a wrong one.
///
/// ```swift
/// var view = MockListView(data: before)
/// try view.performBatchUpdates { updates in
///   updates.data = after
///   updates.batch.deletions = [ListIndex(section: 0, item: 3)]
/// }
/// #expect(view.staleCells.isEmpty)
/// ```
public struct MockListView<ItemID: Hashable & Sendable, SectionID: Hashable & Sendable>: Sendable {
  public typealias Data = MockListData<ItemID, SectionID>

  /// What happens inside `performBatchUpdates`.
  public struct Updates {
    /// The data source's data, to be replaced by the new.
    public var data: Data
    /// The operations; what a batch leaves for later is not looked at.
    public var batch = ListBatch()
    /// Old places of sections that are built anew. UIKit takes that as a deletion and an insertion.
    public var reloadedSections: [Int] = []
  }

  /// What the view shows.
  public private(set) var shown: Data
  /// What the data source says.
  public private(set) var data: Data
  /// The places whose content the data source was asked for since the last `reloadData`, in order.
  public private(set) var askedCells: [ListIndex] = []

  public init(data: Data) {
    self.data = data
    shown = data
  }

  /// Shows all of the data.
  public mutating func reloadData(_ data: Data) {
    self.data = data
    shown = data
    askedCells = []
  }

  /// One batch update: the operations and the change of the data, both made in `updates`.
  public mutating func performBatchUpdates(_ updates: (inout Updates) -> Void) throws(MockListError) {
    // The view compares counts before anything is changed: data that ran ahead are found out here.
    try checkCounts()
    var block = Updates(data: data)
    updates(&block)
    data = block.data
    let update = try MockListUpdate(block, before: shown.counts, after: data.counts)
    show(update)
  }

  /// Gives cells that stay their content again. Places are those of the data as they are.
  public mutating func reconfigureItems(at places: [ListIndex]) throws(MockListError) {
    for place in places {
      guard shown.contains(place) else {
        throw .outOfBounds("attempt to reconfigure \(place.path), which does not exist")
      }
      guard data[place].id == shown[place].id else {
        throw .silentCorruption(
          "\(place.path) shows \(shown[place].id) and is reconfigured as \(data[place].id)")
      }
      shown.sections[place.section].cells[place.item] = ask(place)
    }
  }

  /// Gives headers their content again.
  public mutating func reconfigureSections(at places: [Int]) throws(MockListError) {
    for place in places {
      guard shown.sections.indices.contains(place), data.sections.indices.contains(place) else {
        throw .outOfBounds(
          "attempt to reconfigure section \(place), but there are only \(shown.sections.count)")
      }
      shown.sections[place].version = data.sections[place].version
    }
  }

  /// The places whose cell does not show what the data source says.
  public var staleCells: [ListIndex] {
    var stale: [ListIndex] = []
    for (section, content) in shown.sections.enumerated() {
      for (item, cell) in content.cells.enumerated() {
        let index = ListIndex(section: section, item: item)
        if !data.contains(index) || data[index] != cell { stale.append(index) }
      }
    }
    return stale
  }

  /// The sections whose header does not show what the data source says.
  public var staleSections: [Int] {
    shown.sections.indices.filter { place in
      guard data.sections.indices.contains(place) else { return true }
      return (shown.sections[place].id, shown.sections[place].version)
        != (data.sections[place].id, data.sections[place].version)
    }
  }

  private func checkCounts() throws(MockListError) {
    guard shown.sections.count == data.sections.count else {
      throw .invalidSections(
        before: shown.sections.count, after: data.sections.count, inserted: 0, deleted: 0)
    }
    for section in shown.sections.indices {
      let (before, after) = (shown.sections[section].cells.count, data.sections[section].cells.count)
      guard before != after else { continue }
      throw .invalidItems(
        section: section, before: before, after: after, inserted: 0, deleted: 0, movedIn: 0, movedOut: 0)
    }
  }

  private mutating func ask(_ place: ListIndex) -> Data.Cell {
    askedCells.append(place)
    return data[place]
  }

  /// Rebuilds what is shown: inserted cells are asked for, all others are those that were there.
  private mutating func show(_ update: MockListUpdate) {
    let old = shown.sections
    var sections: [Data.Section] = []
    for (place, from) in update.oldSections.enumerated() {
      guard let from else {
        var section = data.sections[place]
        for item in section.cells.indices { section.cells[item] = ask(ListIndex(section: place, item: item)) }
        sections.append(section)
        continue
      }
      let gone = update.itemsGone[from] ?? []
      var staying = old[from].cells.enumerated().filter { !gone.contains($0.offset) }.map { $0.element }
        .makeIterator()
      var section = old[from]
      section.cells = []
      for item in 0..<data.sections[place].cells.count {
        let index = ListIndex(section: place, item: item)
        if update.insertions.contains(index) {
          section.cells.append(ask(index))
        } else if let from = update.moves[index] {
          section.cells.append(old[from.section].cells[from.item])
        } else if let cell = staying.next() {
          section.cells.append(cell)
        }
      }
      sections.append(section)
    }
    shown.sections = sections
  }
}
