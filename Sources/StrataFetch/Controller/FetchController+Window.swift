// Moving and resizing the window of a live list.

public import StrataLists
internal import StrataTables

extension FetchController {
  /// Moves or resizes the window over the whole list. Iterations of `updates` deliver one difference, of the items
  /// that come into the list and those that leave it: nothing is sorted or filtered again, and the cost is theirs
  /// alone.
  @discardableResult
  public func setWindow(_ window: ListWindow) async throws -> FetchSnapshot<Item, Section> {
    try await apply(changing: { $0 = $0.windowed(to: window) })
  }

  /// The same for the window over each section.
  @discardableResult
  public func setWindow(
    perSection window: ListWindow
  ) async throws -> FetchSnapshot<Item, Section> {
    try await apply(changing: { $0 = $0.windowed(perSection: window) })
  }
}
