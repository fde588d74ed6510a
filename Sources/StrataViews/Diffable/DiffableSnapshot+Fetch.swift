// Making mutable snapshots of a store's lists.

internal import StrataEvents
public import StrataLists
internal import StrataTables

extension DiffableSnapshot {
  /// Creates a snapshot of the sections and items that a list shows. O(n).
  ///
  /// With another list, the items whose rows differ from those in it are marked to be reconfigured, so the changes
  /// between two such snapshots include rows that changed in content alone. This costs as much more as the changes
  /// between the two lists. Items that the other list does not show are not marked.
  /// - Parameter old: the list that is shown, an earlier or later one of the same store.
  /// - Throws: `identifiersCollide` if two ids or two sections of the list differ in their bytes but are equal in
  ///   Swift, or if a section is not equal to itself, such as NaN. ``init(byteWise:reconfiguredSince:)`` never throws.
  public init<Item>(
    _ snapshot: ListSnapshot<Item, Section>, reconfiguredSince old: ListSnapshot<Item, Section>? = nil
  ) throws(DiffableSnapshotError) where Item.ID == ItemID {
    var named: [Section: Section] = [:]
    for section in snapshot.sectionIdentifiers {
      // NaN is a section of the list, but a lookup would not find it here.
      guard section == section else { throw .identifiersCollide("\(section)", "\(section)") }
      if let other = named.updateValue(section, forKey: section) {
        throw .identifiersCollide("\(other)", "\(section)")
      }
    }
    self.init(
      unchecked: (0..<snapshot.numberOfSections).map { position in
        Content(
          id: snapshot.sectionIdentifier(at: position), items: snapshot.itemIdentifiers(inSectionAt: position)
        )
      })
    if let (a, b) = lookup.withIndex({ gather(&$0) }) {
      throw .identifiersCollide(a.documentID, b.documentID)
    }
    guard let old else { return }
    for item in ListChanges(from: old, to: snapshot).changedItems { marks.mark(item, .reconfigure) }
  }

  /// Creates a snapshot of the sections and items that a list shows, with keys that are compared by their bytes, so
  /// that no two are equal. Otherwise as ``init(_:reconfiguredSince:)``.
  public init<Item, Value>(
    byteWise snapshot: ListSnapshot<Item, Value>, reconfiguredSince old: ListSnapshot<Item, Value>? = nil
  ) where ItemID == ByteWise<Item.ID>, Section == ByteWise<Value> {
    self.init(
      unchecked: (0..<snapshot.numberOfSections).map { position in
        let bytes = snapshot.version.withSection(at: position) { section, _, _ in Array(section) }
        return Content(
          id: ByteWise(snapshot.sectionIdentifier(at: position), bytes: bytes),
          items: snapshot.itemIdentifiers(inSectionAt: position).map { ByteWise(id: $0) })
      })
    guard let old else { return }
    for id in ListChanges(from: old, to: snapshot).changedItems { marks.mark(ByteWise(id: id), .reconfigure) }
  }
}
