// Reporting writes that change nothing.

extension ListRequest {
  /// Also reports writes that leave a row's bytes unchanged: each is an update without changed fields.
  ///
  /// Such a list has a separate fold, because in other folds a write of equal content leaves no trace.
  public func reportTouches() -> Self {
    var copy = self
    copy.reportsTouches = true
    return copy
  }
}
