// The position of an anchor after an update.

internal import StrataEvents

extension ListUpdate {
  /// The position in the new list of an anchor from the old one. See `ListSnapshot.place(of:since:reach:)` for how it
  /// is found.
  public func place(of anchor: ListAnchor<Item.ID>, reach: Int = 100) -> ListAnchorPlace<Item.ID>? {
    after.place(of: anchor, since: before ?? after, reach: reach)
  }
}
