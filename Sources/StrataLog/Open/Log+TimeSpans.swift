// The spans of all appends by their times, for what looks for the latest one.

internal import StrataBase

extension Log {
  /// Calls the body with the spans of all visible appends, the last one first, until it returns true. No block is read.
  package func forEachTimeSpan(_ body: (TimeSpan) throws(StoreError) -> Bool) throws(StoreError) {
    let mark = mark
    guard mark.sequence >= mark.logBegin else { return }
    _ = try index.markCaughtUp()
    try index.forEachSpan(
      after: mark.logBegin - 1, through: mark.sequence, notAfter: .max, builds: true, body)
  }
}
