// A list view without a screen, slightly stricter than UIKit.

public import StrataLists
public import StrataViews

/// A list view that shows sections of cells, and changes them by batches under the rules of `UICollectionView`.
///
/// Each cell remembers the item and the version of its content that it was given. A cell is given content only when
/// UIKit would request it from the data source: when the cell is inserted, reloaded or reconfigured. So a batch that
/// omits an update leaves a stale cell, and a batch that moves the wrong row leaves a wrong cell.
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

  /// The changes of one call of `performBatchUpdates`.
  public struct Updates {
    /// The data source's data, which the caller replaces with the new data.
    public var data: Data
    /// The operations. `reconfigures`, `sectionUpdates` and `sectionReloads` are not used here.
    public var batch = ListBatch()
    /// The old indexes of sections to reload. UIKit treats a reload as a deletion and an insertion.
    public var reloadedSections: [Int] = []
  }

  /// The data that the view shows.
  public private(set) var shown: Data
  /// The data of the data source.
  public private(set) var data: Data
  /// The indexes whose content was requested from the data source since the last `reloadData`, in order.
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

  /// Performs one batch update. `updates` sets both the operations and the new data.
  public mutating func performBatchUpdates(_ updates: (inout Updates) -> Void) throws(MockListError) {
    // The view compares counts before it changes anything, so data that was changed too early is detected here.
    try checkCounts()
    var block = Updates(data: data)
    updates(&block)
    data = block.data
    let update = try MockListUpdate(block, before: shown.counts, after: data.counts)
    show(update)
  }

  /// Gives existing cells their content again. The indexes are those of the current data.
  public mutating func reconfigureItems(at positions: [ListIndex]) throws(MockListError) {
    for position in positions {
      guard shown.contains(position) else {
        throw .outOfBounds("attempt to reconfigure \(position.path), which does not exist")
      }
      guard data[position].id == shown[position].id else {
        throw .silentCorruption(
          "\(position.path) shows \(shown[position].id) and is reconfigured as \(data[position].id)")
      }
      shown.sections[position.section].cells[position.item] = ask(position)
    }
  }

  /// Gives headers their content again.
  public mutating func reconfigureSections(at positions: [Int]) throws(MockListError) {
    for position in positions {
      guard shown.sections.indices.contains(position), data.sections.indices.contains(position) else {
        throw .outOfBounds(
          "attempt to reconfigure section \(position), but there are only \(shown.sections.count)")
      }
      shown.sections[position].version = data.sections[position].version
    }
  }

  /// The indexes of cells that do not show the data of the data source.
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

  /// The indexes of sections whose header does not show the data of the data source.
  public var staleSections: [Int] {
    shown.sections.indices.filter { position in
      guard data.sections.indices.contains(position) else { return true }
      return (shown.sections[position].id, shown.sections[position].version)
        != (data.sections[position].id, data.sections[position].version)
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

  private mutating func ask(_ position: ListIndex) -> Data.Cell {
    askedCells.append(position)
    return data[position]
  }

  /// Rebuilds the shown data: inserted cells are requested from the data source, all others are kept.
  private mutating func show(_ update: MockListUpdate) {
    let old = shown.sections
    var sections: [Data.Section] = []
    for (position, from) in update.oldSections.enumerated() {
      guard let from else {
        var section = data.sections[position]
        for item in section.cells.indices {
          section.cells[item] = ask(ListIndex(section: position, item: item))
        }
        sections.append(section)
        continue
      }
      let gone = update.itemsGone[from] ?? []
      var staying = old[from].cells.enumerated().filter { !gone.contains($0.offset) }.map { $0.element }
        .makeIterator()
      var section = old[from]
      section.cells = []
      for item in 0..<data.sections[position].cells.count {
        let index = ListIndex(section: position, item: item)
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
