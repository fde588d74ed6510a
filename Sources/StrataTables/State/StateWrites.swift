// What a process has written for the states of a projection, and what the next one will take.

internal import StrataBase

/// The bytes of states, and from the last one an estimate of the next.
///
/// Changes of rows that are far apart make a page each dirty, until most of them are: so the bytes of a state grow with
/// the number of events since the one before, ever more slowly, up to what is alive. From the last state follows a bound:
/// fewer events take no more than they did, and more events no more than in proportion. The size of the last state alone
/// says too little: the pages of ten thousand events may be a tenth of those of the next hundred thousand.
struct StateWrites {
  /// The bytes of all states.
  private(set) var bytes: UInt64 = 0
  /// Of the last state that followed events.
  private var last = (bytes: UInt64(0), eventCount: UInt64(1))
  /// What a state that is written whole takes.
  private var liveBytes: UInt64 = 0

  /// Adds a state.
  ///
  /// - Parameters:
  ///   - eventCount: the events since the state on disk before it.
  ///   - keptBytes: the bytes of its pages that were on disk already.
  mutating func add(_ bytes: UInt64, forEvents eventCount: UInt64, keeping keptBytes: UInt64) {
    self.bytes = self.bytes.addingSaturated(bytes)
    liveBytes = keptBytes.addingSaturated(bytes)
    if eventCount > 0 { last = (bytes, eventCount) }
  }

  /// The most bytes that a state after this number of events is expected to take; 0 before the first.
  func expected(forEvents eventCount: UInt64) -> UInt64 {
    let (product, isMore) = last.bytes.multipliedReportingOverflow(by: max(eventCount, last.eventCount))
    return isMore ? liveBytes : min(liveBytes, product / last.eventCount)
  }
}
