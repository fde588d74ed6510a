// Where states of the past came from.

internal import StrataBase

/// Where states of the past came from.
package struct PastCounts: Sendable, Equatable {
  /// The states that were made.
  package var states = 0
  /// Those of them that began with what a history has.
  package var fromHistory = 0
  /// The events that were folded for them: those that come after the history or the saved state, or all.
  package var foldedEvents: UInt64 = 0
  /// How often the log was folded because a page of a state from a history was lost.
  package var healed = 0

  package init(states: Int = 0, fromHistory: Int = 0, foldedEvents: UInt64 = 0, healed: Int = 0) {
    (self.states, self.fromHistory) = (states, fromHistory)
    (self.foldedEvents, self.healed) = (foldedEvents, healed)
  }

  mutating func add(_ more: PastCounts) {
    states += more.states
    fromHistory += more.fromHistory
    foldedEvents += more.foldedEvents
    healed += more.healed
  }
}

/// Counts the work for states of the past: while they are made, and later, when a page of one is looked at that its
/// history has lost.
package final class PastCounter: Sendable {
  private let sum = Lock(PastCounts())

  package init() {}

  package var counts: PastCounts { sum.withLock { $0 } }

  func add(_ more: PastCounts) { sum.withLock { $0.add(more) } }
}
