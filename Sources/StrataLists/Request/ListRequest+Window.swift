// How much of a list a request asks for.

internal import StrataTables

extension ListRequest {
  /// Only the items inside a window over the whole list, at every moment.
  public func windowed(to window: ListWindow) -> Self {
    var copy = self
    copy.window.list = window
    return copy
  }

  /// Of each section only the items inside a window over it, at every moment. A window over the whole list counts
  /// what these leave.
  public func windowed(perSection window: ListWindow) -> Self {
    var copy = self
    copy.window.section = window
    return copy
  }

  /// At most so many items of the whole list, at every moment: `windowed(to: .first(limit))`.
  public func limited(to limit: Int) -> Self { windowed(to: .first(limit)) }

  /// At most so many items of each section, at every moment: `windowed(perSection: .first(limit))`.
  public func limited(perSection limit: Int) -> Self { windowed(perSection: .first(limit)) }
}
