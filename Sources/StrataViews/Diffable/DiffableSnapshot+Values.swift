// Snapshots of values instead of identifiers.

public import StrataLists

extension DiffableSnapshot {
  /// The same sections with every item transformed, and with the same marks. O(n).
  /// - Throws: `duplicateItem` if two items become equal.
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

extension FetchSnapshot {
  /// The list with a value instead of each id, made from its row: whatever a cell shows. O(n).
  ///
  /// Two such snapshots are equal only if every cell shows the same in both. For the changes between them,
  /// with a value that changed as an update and not as another item, see
  /// ``ListChanges/init(fromValues:toValues:)``.
  ///
  /// - Parameter make: makes a value from the row; the value has the row's id.
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
      throw .row("a list of values cannot hold two that are equal: \(error)")
    }
  }
}

extension FetchSnapshot where Item: Hashable {
  /// The list with its rows instead of their ids. O(n). See ``values(_:)``.
  public func values() async throws(ListError) -> DiffableSnapshot<Item, Section> { try await values { $0 } }
}
