// Moving and resizing the window of a list on a screen.

public import StrataLists
internal import StrataTables

extension LiveList {
  /// Moves or resizes the window over the whole list; the list changes by one difference.
  public func setWindow(_ window: ListWindow) async throws {
    try await apply(changing: { $0 = $0.windowed(to: window) })
  }

  /// Moves or resizes the window over each section; the list changes by one difference.
  public func setWindow(perSection window: ListWindow) async throws {
    try await apply(changing: { $0 = $0.windowed(perSection: window) })
  }
}
