// The shortest time between two updates of an iteration.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// When an iteration may deliver its next update.
struct UpdatePace: Sendable {
  let interval: Duration
  /// Nil before the first update.
  private var due: ContinuousClock.Instant?

  init(interval: Duration) { self.interval = interval }

  /// An update is delivered now.
  mutating func begin() { due = .now + interval }

  /// Waits until the next update may be delivered, the list ends, or the task is cancelled. The log is not followed
  /// meanwhile: what is appended is folded when the wait is over.
  nonisolated func keep<Item, Section>(for controller: FetchController<Item, Section>) async {
    guard let due else { return }
    let (store, announcement) = (controller.rows.store, controller.announcement)
    while due > .now, !Task.isCancelled {
      let mark = announcement.number
      if controller.isCancelled || store.log.tail.end != nil { return }
      await withTaskGroup(of: Void.self) { group in
        group.addTask { try? await Task.sleep(until: due, clock: .continuous) }
        // Ends early if the store is closed, and for a look if the list is cancelled.
        group.addTask { try? await store.wait(beyond: .max, or: [(announcement, beyond: mark)]) }
        await group.next()
        group.cancelAll()
      }
    }
  }
}
