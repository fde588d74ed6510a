// Snapshots of the store's lists as values that can be changed.

internal import StrataEvents
public import StrataLists
internal import StrataTables

extension DiffableSnapshot {
  /// The sections and the items that a list shows. O(n).
  ///
  /// - Throws: `identifiersCollide` where two ids or two sections are different in the list, by their bytes, and
  ///   equal in Swift, or a section is not equal to itself, as NaN; ``init(byteWise:)`` never does.
  public init<Item>(_ snapshot: FetchSnapshot<Item, SectionID>) throws(DiffableSnapshotError)
  where Item.ID == ItemID {
    var named: [SectionID: SectionID] = [:]
    for section in snapshot.sectionIdentifiers {
      // NaN is one section of the list, and none that could be found again here.
      guard section == section else { throw .identifiersCollide("\(section)", "\(section)") }
      if let other = named.updateValue(section, forKey: section) {
        throw .identifiersCollide("\(other)", "\(section)")
      }
    }
    self.init(
      unchecked: (0..<snapshot.numberOfSections).map { place in
        Content(
          id: snapshot.sectionIdentifier(at: place), items: snapshot.itemIdentifiers(inSectionAt: place))
      })
    if let (a, b) = lookup.withIndex({ fillUntilCollision(&$0) }) {
      throw .identifiersCollide(a.documentID, b.documentID)
    }
  }

  /// The same, with every item that `old` shows too and whose row was changed since marked to be reconfigured:
  /// a change of content alone is then a change of the snapshot.
  ///
  /// O(n), and what the changes between the two lists cost.
  /// - Parameter old: an earlier or later list of the same store, that is, what is shown.
  public init<Item>(
    _ snapshot: FetchSnapshot<Item, SectionID>, reconfiguredSince old: FetchSnapshot<Item, SectionID>
  ) throws(DiffableSnapshotError) where Item.ID == ItemID {
    try self.init(snapshot)
    for item in ListChanges(from: old, to: snapshot).changedItems { marks.mark(item, .reconfigure) }
  }

  /// The sections and the items that a list shows, by their bytes, so that no two are equal. O(n).
  public init<Item, Section>(byteWise snapshot: FetchSnapshot<Item, Section>)
  where SectionID == SectionKey<Section>, ItemID == StringKey {
    self.init(
      unchecked: (0..<snapshot.numberOfSections).map { place in
        let bytes = snapshot.version.withSection(at: place) { section, _, _ in Array(section) }
        var items: [StringKey] = []
        items.reserveCapacity(snapshot.numberOfItems(inSectionAt: place))
        snapshot.version.forEachItem(inSectionAt: place, 0..<snapshot.numberOfItems(inSectionAt: place)) {
          items.append(StringKey(String(decoding: $0.id, as: UTF8.self)))
        }
        return Content(
          id: SectionKey(value: snapshot.sectionIdentifier(at: place), bytes: bytes), items: items)
      })
  }

  /// The same, with every item that `old` shows too and whose row was changed since marked to be reconfigured.
  public init<Item, Section>(
    byteWise snapshot: FetchSnapshot<Item, Section>, reconfiguredSince old: FetchSnapshot<Item, Section>
  ) where SectionID == SectionKey<Section>, ItemID == StringKey {
    self.init(byteWise: snapshot)
    let diff = ListDiff(from: old.version, to: snapshot.version)
    for update in diff.updates { marks.mark(StringKey(update.id), .reconfigure) }
    for move in diff.moves where move.isChanged { marks.mark(StringKey(move.id), .reconfigure) }
  }
}
