// Where an anchor is after an update.

internal import StrataEvents

extension ListUpdate {
  /// Where an anchor of the list before this update is in the one after it. `FetchSnapshot.place(of:since:reach:)`
  /// says how it is found.
  public func place(of anchor: ListAnchor<Item.ID>, reach: Int = 100) -> ListAnchorPlace<Item.ID>? {
    after.place(of: anchor, since: before ?? after, reach: reach)
  }
}
