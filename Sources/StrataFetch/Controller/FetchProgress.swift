// How far a fetch has come.

internal import StrataBase
public import StrataLists
internal import StrataPast
internal import StrataTables

/// How far a fetch has come: first it folds the events that are not in the table yet, then it builds the list from the
/// table's rows.
public struct FetchProgress: Hashable, Sendable {
  public enum Work: Hashable, Sendable {
    /// Events are folded into the table. The counts are events, from the first one of the store.
    case foldingEvents
    /// The list is built from the rows of the table. The counts are rows.
    case buildingList
  }

  public var work: Work
  public var completedCount: Int
  /// At least `completedCount`.
  public var totalCount: Int

  /// The part of this work that is done, from 0 to 1.
  public var fraction: Double { totalCount == 0 ? 1 : Double(completedCount) / Double(totalCount) }

  init(_ progress: StateProgress) {
    switch progress {
    case .events(let count, let total):
      (work, completedCount, totalCount) = (.foldingEvents, count, max(count, total))
    case .rows(let count, let total):
      (work, completedCount, totalCount) = (.buildingList, count, max(count, total))
    }
  }
}

/// What a fetch waits for.
struct AwaitedState: Sendable {
  /// Distinguishes the fetches of one controller.
  var number: Int
  var projector: Projector
  var sequence: UInt64
  var lease: ViewLease

  var progress: FetchProgress { FetchProgress(projector.progress(toward: sequence, with: lease)) }
}

extension FetchController {
  /// How far the running fetch has come, whether `performFetch`, `apply` or an iteration began it; nil if none is
  /// running. O(1).
  public var progress: FetchProgress? {
    // Read outside the lock: the projector has a lock of its own.
    fetching.withLock { $0 }?.progress
  }

  /// Fetches the current list, as `performFetch()` does, and reports how far it has come. If the task is cancelled, the
  /// fetch ends at once, and what only it waited for is given up.
  ///
  /// - Parameter progress: called twenty times a second while the fetch runs, as long as there is something new; not at
  ///   all for a quick fetch, and no longer once this call has returned. Calls do not overlap.
  @discardableResult
  public func performFetch(
    progress: @escaping @Sendable (FetchProgress) -> Void
  ) async throws -> ListSnapshot<Item, Section> {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var last: FetchProgress?
        while true {
          try await Task.sleep(for: .milliseconds(50))
          guard let next = self.progress, next != last else { continue }
          progress(next)
          last = next
        }
      }
      let snapshot = try await performFetch()
      group.cancelAll()
      return snapshot
    }
  }
}
