// The position of an anchor after an update.

internal import StrataEvents

extension ListUpdate {
  /// The position in the new list of an item of the old one, which a screen keeps in place. See
  /// `ListSnapshot.place(of:since:reach:)` for how it is found.
  public func place(of id: Item.ID, reach: Int = 100) -> ListAnchorPlace? {
    after.place(of: id, since: before ?? after, reach: reach)
  }
}
