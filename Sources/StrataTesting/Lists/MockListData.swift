// The data of a list's data source: sections of cells, each with the version of its content.

public import StrataLists
public import StrataViews

/// The data that a data source returns, or that a view shows: the items, and the versions of their content.
public struct MockListData<ItemID: Hashable & Sendable, SectionID: Hashable & Sendable>: Hashable, Sendable {
  public struct Cell: Hashable, Sendable {
    public var id: ItemID
    /// A number that differs if the content differs.
    public var version: Int

    public init(id: ItemID, version: Int) {
      self.id = id
      self.version = version
    }
  }

  public struct Section: Hashable, Sendable {
    public var id: SectionID
    /// A number that differs if the content of the header differs.
    public var version: Int
    public var cells: [Cell]

    public init(id: SectionID, version: Int, cells: [Cell]) {
      self.id = id
      self.version = version
      self.cells = cells
    }
  }

  public var sections: [Section]

  public init(sections: [Section] = []) { self.sections = sections }

  /// Creates the data that a data source of a snapshot returns.
  public init(
    _ snapshot: DiffableSnapshot<ItemID, SectionID>, version: (ItemID) -> Int,
    sectionVersion: (SectionID) -> Int
  ) {
    let counts = snapshot.itemCounts
    var items = snapshot.itemIdentifiers[...]
    sections = zip(snapshot.sectionIdentifiers, counts).map { section, count in
      defer { items = items.dropFirst(count) }
      return Section(
        id: section, version: sectionVersion(section),
        cells: items.prefix(count).map { Cell(id: $0, version: version($0)) })
    }
  }

  public subscript(index: ListIndex) -> Cell { sections[index.section].cells[index.item] }

  var counts: [Int] {
    // Not with a key path, since this is called at every step of a hundred thousand runs.
    sections.map { $0.cells.count }
  }

  func contains(_ index: ListIndex) -> Bool {
    sections.indices.contains(index.section) && sections[index.section].cells.indices.contains(index.item)
  }
}
