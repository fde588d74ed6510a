// The windows of a request.

internal import StrataTables

extension ListRequest {
  /// Only the items inside a window over the whole list, at every moment.
  public func windowed(to window: ListWindow) -> Self {
    var copy = self
    copy.window.list = window
    return copy
  }

  /// Only the items inside a window over each section, at every moment. A window over the whole list counts the items
  /// that these windows leave.
  public func windowed(perSection window: ListWindow) -> Self {
    var copy = self
    copy.window.section = window
    return copy
  }

  /// At most `limit` items of the whole list, at every moment: `windowed(to: .first(limit))`. A negative limit
  /// counts as 0.
  public func limited(to limit: Int) -> Self { windowed(to: .first(limit)) }

  /// At most `limit` items of each section, at every moment: `windowed(perSection: .first(limit))`. A
  /// negative limit counts as 0.
  public func limited(perSection limit: Int) -> Self { windowed(perSection: .first(limit)) }
}
