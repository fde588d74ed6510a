// Snapshots of values instead of identifiers.

public import StrataLists

extension DiffableSnapshot {
  /// A snapshot with the same sections and marks, and with every item transformed. O(n).
  /// - Throws: `duplicateItem` if two transformed items are equal.
  @inlinable
  public func mapItems<NewID>(
    _ transform: (ItemID) -> NewID
  ) throws(DiffableSnapshotError) -> DiffableSnapshot<NewID, Section> {
    var mapped = try DiffableSnapshot<NewID, Section>(
      validating: sections.map { ($0.id, $0.items.map(transform)) })
    for section in marks.sections { mapped.marks.mark(section: section) }
    for (_, place, mark) in throwing.markedItems {
      mapped.marks.mark(mapped.sections[place.section].items[place.item], mark)
    }
    return mapped
  }
}

extension ListSnapshot {
  /// A snapshot of the list with a value for each row, instead of its id. O(n).
  ///
  /// If the value has everything that a cell shows, two such snapshots are equal only if every cell shows the same in
  /// both. ``ListChanges/init(fromValues:toValues:)`` finds the changes between them, in which a changed value is an
  /// update and not a deletion and an insertion.
  ///
  /// - Parameter make: makes a value from a row. The value must have the row's id.
  /// - Throws: `ListError.row` if two of the values are equal; the errors of reading rows.
  public func values<Value: Identifiable & Hashable & Sendable>(
    _ make: @Sendable (Item) -> Value
  ) async throws(ListError) -> DiffableSnapshot<Value, Section> where Value.ID == Item.ID {
    var sections: [(id: Section, items: [Value])] = []
    for place in 0..<numberOfSections {
      let items = try await rows(in: 0..<numberOfItems(inSectionAt: place), ofSectionAt: place)
      sections.append((sectionIdentifier(at: place), items.map(make)))
    }
    do throws(DiffableSnapshotError) {
      return try DiffableSnapshot(validating: sections)
    } catch {
      throw .row("a snapshot of values cannot hold two equal values: \(error)")
    }
  }
}

extension ListSnapshot where Item: Hashable {
  /// A snapshot of the list with its rows instead of their ids. O(n). See ``values(_:)``.
  public func values() async throws(ListError) -> DiffableSnapshot<Item, Section> { try await values { $0 } }
}
