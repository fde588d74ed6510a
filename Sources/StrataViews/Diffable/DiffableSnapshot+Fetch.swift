// Making mutable snapshots of a store's lists.

internal import StrataEvents
public import StrataLists
internal import StrataTables

extension DiffableSnapshot {
  /// Creates a snapshot of the sections and items that a list shows. O(n).
  ///
  /// - Throws: `identifiersCollide` if two ids or two sections of the list differ in their bytes but are equal in
  ///   Swift, or if a section is not equal to itself, such as NaN. ``init(byteWise:)`` never throws.
  public init<Item>(_ snapshot: ListSnapshot<Item, Section>) throws(DiffableSnapshotError)
  where Item.ID == ItemID {
    var named: [Section: Section] = [:]
    for section in snapshot.sectionIdentifiers {
      // NaN is a section of the list, but a lookup would not find it here.
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
    if let (a, b) = throwing.lookup.withIndex({ throwing.gather(&$0) }) {
      throw .identifiersCollide(a.documentID, b.documentID)
    }
  }

  /// Creates a snapshot of a list, in which the items whose rows differ from those in another list are marked to be
  /// reconfigured.
  ///
  /// The changes between two such snapshots include rows that changed in content alone. Items that are not in `old` are
  /// not marked. O(n), plus the cost of the changes between the two lists.
  /// - Parameter old: the list that is shown, an earlier or later one of the same store.
  /// - Throws: `identifiersCollide`, as without `reconfiguredSince`.
  public init<Item>(
    _ snapshot: ListSnapshot<Item, Section>, reconfiguredSince old: ListSnapshot<Item, Section>
  ) throws(DiffableSnapshotError) where Item.ID == ItemID {
    try self.init(snapshot)
    for item in ListChanges(from: old, to: snapshot).changedItems { marks.mark(item, .reconfigure) }
  }

  /// Creates a snapshot of the sections and items that a list shows, with keys that are compared by their bytes, so
  /// that no two are equal. O(n).
  public init<Item, Value>(byteWise snapshot: ListSnapshot<Item, Value>)
  where ItemID == StringKey, Section == SectionKey<Value> {
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

  /// Creates a snapshot of a list, with keys that are compared by their bytes. The items that are also in `old`, and
  /// whose rows differ there, are marked to be reconfigured.
  public init<Item, Value>(
    byteWise snapshot: ListSnapshot<Item, Value>, reconfiguredSince old: ListSnapshot<Item, Value>
  ) where ItemID == StringKey, Section == SectionKey<Value> {
    self.init(byteWise: snapshot)
    let diff = ListDiff(from: old.version, to: snapshot.version)
    for update in diff.updates { marks.mark(StringKey(update.id), .reconfigure) }
    for move in diff.moves where move.isChanged { marks.mark(StringKey(move.id), .reconfigure) }
  }
}
