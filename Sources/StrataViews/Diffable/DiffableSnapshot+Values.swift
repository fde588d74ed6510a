// Snapshots of other things than identifiers: of values made of rows, or of identifiers.

public import StrataLists

extension DiffableSnapshot {
  /// The same sections with every item made into something else, and with the same marks. O(n).
  /// - Throws: `duplicateItem` where two items become equal.
  public func mapItems<NewID>(
    _ transform: (ItemID) -> NewID
  ) throws(DiffableSnapshotError) -> DiffableSnapshot<SectionID, NewID> {
    var mapped = try DiffableSnapshot<SectionID, NewID>(
      validating: contents.map { ($0.id, $0.items.map(transform)) })
    for section in marks.sections { mapped.marks.mark(section: section) }
    for (_, place, mark) in markedItems {
      mapped.marks.mark(mapped.contents[place.section].items[place.item], mark)
    }
    return mapped
  }
}

extension FetchSnapshot {
  /// The list with a value in the place of each id, made of its row: whatever a cell shows. O(n).
  ///
  /// Two such snapshots are equal only where nothing is to be shown differently. For the changes between them,
  /// with a value that changed as an update and not as another item, see
  /// ``ListChanges/init(fromValues:toValues:)``.
  ///
  /// - Parameter make: makes a value of the row; the value has the row's id.
  public func values<Value: Identifiable & Hashable & Sendable>(
    _ make: @Sendable (Item) -> Value
  ) async throws(ListError) -> DiffableSnapshot<Section, Value> where Value.ID == Item.ID {
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
  /// The list with its rows in the place of their ids. O(n). See ``values(_:)``.
  public func values() async throws(ListError) -> DiffableSnapshot<Section, Item> { try await values { $0 } }
}
