// The spans of appends that a search by time has to read, folded from the end of the log.

internal import StrataBase

extension StoreIndex {
  /// Calls the body with each span that has an append after one sequence and one at or before another, and whose least
  /// time is not later than a time, from the last one on, until it returns true.
  ///
  /// Of a closed segment in which all times are later, only the least is asked, and once. A missing index is built, as for
  /// any other lookup.
  func forEachSpan(
    after begin: UInt64, through end: UInt64, notAfter time: Int64, builds: Bool,
    _ body: (TimeSpan) throws(StoreError) -> Bool
  ) throws(StoreError) {
    // A copy of the few that count: the list itself grows with the next append.
    let (tables, newest) = active.withLock { tables in
      (tables, tables.times.spans.between(begin, end, notAfter: time))
    }
    for span in newest.reversed() where try body(span) { return }
    for part in parts(below: tables) where part.last > begin && part.segment.firstSequence <= end {
      if let least = leastTimes.withLock({ $0[part] }), least > time { continue }
      let spans = try asking(part, builds: builds) { index throws(StoreError) -> [TimeSpan] in
        let least = index.leastTime
        leastTimes.withLock { $0[part] = least }
        return least > time ? [] : try index.timeSpans().between(begin, end, notAfter: time)
      }
      for span in spans.reversed() where try body(span) { return }
    }
  }
}
