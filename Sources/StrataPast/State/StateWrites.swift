// What a process has written for the states of a projection, and what the next one will take.

internal import StrataBase

/// The bytes of states, and from those an estimate of the next.
///
/// Changes of rows that are far apart make a page each dirty, until most of them are: so the bytes of a state grow with
/// the number of events since the one before, ever more slowly, up to what is alive. From a state follows a bound for
/// others: fewer events take no more than it did, and more events no more than in proportion. The least of these bounds
/// holds until a state contradicts it, because other rows change than before. The size of the last state alone says too
/// little: the pages of ten thousand events may be a tenth of those of the next hundred thousand.
struct StateWrites {
  /// What a state took.
  private struct Sample {
    var bytes: UInt64
    var eventCount: UInt64

    /// The most that a state after a number of events takes.
    func bound(_ eventCount: UInt64) -> UInt64 {
      let factor = max(eventCount, self.eventCount)
      let (product, isMore) = bytes.multipliedReportingOverflow(by: factor)
      return isMore ? .max : product / self.eventCount
    }
  }

  /// A state after fewer events is mostly the directory, and pages above those that changed.
  static let eventCountMin: UInt64 = 256

  /// The bytes of all states.
  private(set) var bytes: UInt64 = 0
  private var lastBytes: UInt64 = 0
  /// About what a state that is written whole takes.
  private var liveBytes: UInt64 = 0
  /// The last state of each order of magnitude of its events, unless it was contradicted.
  private var samples: [Int: Sample] = [:]

  /// Adds a state.
  ///
  /// - Parameters:
  ///   - eventCount: the events since the state on disk before it.
  ///   - keptBytes: the bytes of its pages that were on disk already, and stayed where they were.
  mutating func add(_ bytes: UInt64, forEvents eventCount: UInt64, keeping keptBytes: UInt64) {
    self.bytes = self.bytes.addingSaturated(bytes)
    lastBytes = bytes
    liveBytes = keptBytes.addingSaturated(bytes)
    guard eventCount >= Self.eventCountMin else { return }
    samples = samples.filter { $0.value.bound(eventCount) >= bytes }
    samples[eventCount.leadingZeroBitCount / 2] = Sample(bytes: bytes, eventCount: eventCount)
  }

  /// The bytes that a state after this number of events is expected to take at most; those of the last one as long as
  /// no more is known, and 0 before the first.
  func expected(forEvents eventCount: UInt64) -> UInt64 {
    min(liveBytes, samples.values.map { $0.bound(eventCount) }.min() ?? lastBytes)
  }
}
