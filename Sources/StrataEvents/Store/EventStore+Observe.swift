// What a store did since it was opened, and what it has now.

internal import StrataBase
public import StrataLog

extension EventStore {
  /// What the store has done since it was opened, as numbers that only grow. O(1).
  public var statistics: StoreStatistics { log.observation.counters.statistics }

  /// What waits and what is on disk. O(segments + files in `derived/`): for a monitor that asks every few seconds.
  ///
  /// Throws if a file of the log cannot be opened.
  public func gauges() async throws(StoreError) -> StoreGauges {
    let result = await machine.reads.result { [log] () throws(StoreError) in try log.gauges() }
    return try result.get()
  }

  /// What the store does by itself, and what happens to it: see `StoreActivity`.
  ///
  /// ```swift
  /// func watch(_ store: EventStore) async {
  ///   for await activity in store.activities {
  ///     if case .damage(let finding) = activity { print("damage: \(finding)") }
  ///   }
  /// }
  /// ```
  ///
  /// Begins with what the open found. Ends when the store is closed. `StoreOptions.observer` receives the same, and steps
  /// with their times; `StoreOptions.damageFound` only the damage, at once.
  public var activities: StoreActivities { StoreActivities(log.observation) }

  /// The torn tail that the open has found: the beginning of a write that was interrupted and never acknowledged. Nil if
  /// there was none. Once an append has cut it off, this says where the copy is.
  public var recovery: TailRecovery? { log.observation.recovery }
}

/// How far something that follows the log lags behind its head.
public struct StoreLag: Sendable, Hashable {
  /// What follows the log.
  public enum Kind: String, Sendable, CaseIterable {
    /// A projection in this process; `$documents` for the documents.
    case projection
    /// The history of a projection on disk.
    case history
    /// A list that is kept under a name, which is `TABLE/NAME` here.
    case list
    /// A consumer: the events after its position, whether or not it selects them.
    case consumer
  }

  public var kind: Kind
  public var name: String
  /// The events that are in the log and not in it.
  public var eventCount: UInt64

  package init(_ kind: Kind, name: String, eventCount: UInt64) {
    self.kind = kind
    self.name = name
    self.eventCount = eventCount
  }
}
