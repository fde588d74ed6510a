// Moving and resizing the window of a live list.

public import StrataLists
internal import StrataTables

extension FetchController {
  /// Moves or resizes the window over the whole list. Iterations of `updates` deliver one difference, with the items
  /// that enter and leave the window. Nothing is sorted or filtered again, and the cost depends on those items alone.
  @discardableResult
  public func setWindow(_ window: ListWindow) async throws -> ListSnapshot<Item, Section> {
    try await apply(changing: { $0 = $0.windowed(to: window) })
  }

  /// Moves or resizes the window over each section, at the same cost.
  @discardableResult
  public func setWindow(
    perSection window: ListWindow
  ) async throws -> ListSnapshot<Item, Section> {
    try await apply(changing: { $0 = $0.windowed(perSection: window) })
  }
}
