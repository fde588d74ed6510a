// How many events were decoded.

internal import Synchronization

/// A number of events that only grows. Safe to use from several threads.
package final class EventTally: Sendable {
  private let sum = Atomic<UInt64>(0)

  package func add(_ count: UInt64) { sum.add(count, ordering: .relaxed) }

  package var count: UInt64 { sum.load(ordering: .relaxed) }
}
