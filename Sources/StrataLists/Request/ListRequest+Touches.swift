// Writes that change nothing, reported on demand.

extension ListRequest {
  /// Reports also writes that leave a row's bytes as they were: each is an update without changed fields.
  ///
  /// Such a list is folded apart from all others of its store, since in them a write of the same leaves no trace.
  public func reportTouches() -> Self {
    var copy = self
    copy.reportsTouches = true
    return copy
  }
}
