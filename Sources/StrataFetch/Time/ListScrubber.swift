// A list that moves through the past: to any point of the log, by the changes from the list shown before.

internal import StrataBase
public import StrataEvents
public import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

/// A list that can be moved to any point of the log, for example with a slider.
///
/// ```swift
/// let scrubber = try incidents.scrubber()
/// view.apply(try await scrubber.move(to: .time(lastFriday)).changes)
/// view.apply(try await scrubber.move(to: .head).changes)
/// ```
///
/// Every move gives the difference from the list that was shown to the list at the new point. A view that begins with
/// `snapshot` and applies each `changes` therefore shows the list at that point. If nothing was shown yet, the first
/// update is `.initial`.
///
/// Moves are carried out one after the other, in the order in which they were begun, on a dedicated thread of the
/// scrubber. Cancelling a task does not undo its move; a move to the head may throw `CancellationError` while it waits
/// for the newest state, and then the list that was shown stays.
///
/// With a history of the rows (`StoreOptions.history`) the first move costs O(rows), and a move by d events, in either
/// direction, the rows that they changed: O(d log n). A move to a far point costs O(rows) again if that is less. Where the
/// history has the keys of a kept list, every move reads what is shown and the rows that differ, and nothing else; and if
/// the list shows fewer items than rows differ, what is shown alone. After the end of the history, and where an event
/// costs less than a row that differs, events are replayed.
///
/// Without a history, the first move costs a replay of the log up to its point. After that, going back by d events replays
/// at most about max(d, 64) of them, and going forward replays the events in between. For this, states are kept along the
/// way, densely around the last position and sparser by a constant factor farther away. At most 48 are kept, and at most
/// `keptSizeMax` bytes of them, with shared pages counted once; in a large store that changes much, going back
/// therefore replays more. The difference costs O(k log n) for k rows that changed, or for k items that both lists show,
/// if those are fewer. A move to a state that was built whole, or between one that was replayed and the head, compares
/// every row, because the two states share no pages; a move to the head replays nothing.
public final class ListScrubber<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  /// What only the thread touches.
  private struct Exclusive: @unchecked Sendable {
    let states: PastStates
  }

  /// The request of the list, the same for all moves.
  package let request: ListRequest<Item, Section>
  private let rows: RowTable<Item>
  private let list: CompiledList
  private let exclusive: Exclusive
  private let shown: Lock<ListSnapshot<Item, Section>?>
  /// One move at a time, in the order in which they were begun.
  private let turns = Turns<OneThing>()
  private let thread: IOThreads

  init(
    _ request: ListRequest<Item, Section>, _ rows: RowTable<Item>,
    showing snapshot: ListSnapshot<Item, Section>?, keptSizeMax: Int,
    counting counter: PastCounter
  ) throws(ListError) {
    self.request = request
    let rows = rows.folded(for: request)
    self.rows = rows
    list = try request.compiled(decode: rows.decode)
    exclusive = Exclusive(
      states: PastStates(
        rows.store, rows.folding, view: (rows.name, list.definition), keptSizeMax: keptSizeMax,
        counting: counter))
    shown = Lock(snapshot)
    thread = rows.store.machine.thread("strata-scrub")
  }

  /// The list that is shown; nil before the first move if the controller had fetched nothing.
  public var snapshot: ListSnapshot<Item, Section>? { shown.withLock { $0 } }

  /// Shows the list at a point of the log, which may be inside an append. The list at the head has every append that was
  /// acknowledged before the call. Throws `store(.position)` if the log does not have the point.
  public func move(to point: LogPoint) async throws -> ListUpdate<Item, Section> {
    await turns.take()
    defer { turns.give() }
    if point == .head {
      let set = try await rows.newestState(list.definition)
      return await thread.run { [self] in show(set) }
    }
    let result = await thread.result { [self] () throws(ListError) in
      do throws(StoreError) {
        let sequence = try rows.store.sequenceBlocking(of: point)
        return show(try exclusive.states.state(at: sequence))
      } catch {
        throw .store(error)
      }
    }
    return try result.get()
  }

  /// Runs on the scrubber's thread.
  private func show(_ set: TableSet) -> ListUpdate<Item, Section> {
    let after = request.snapshot(of: set, rows, list)
    after.version.totals?.make()
    let before = shown.withLock { shown in
      defer { shown = after }
      return shown
    }
    guard let before else {
      return ListUpdate(reason: .initial, before: nil, after: after, changes: ListChanges())
    }
    return ListUpdate(
      reason: .moved, before: before, after: after, changes: ListChanges(from: before, to: after))
  }
}

extension FetchController {
  /// A separate list that can be moved through the past. It begins with the list that this controller shows, keeps the
  /// request that is in force now, and does not affect the controller. It goes on when the controller is cancelled or
  /// released; of a controller that is cancelled already, this throws `CancellationError`.
  ///
  /// - Parameter keptSizeMax: the maximum size, in bytes, of the past states that are kept, so that the next one is made
  ///   from one nearby; 64 MiB by default. Pages that states share count once. Fewer are kept where the states of the past that
  ///   the program holds in all take more than `StoreMemory.pastLimit`. One state is kept whatever its size; in addition
  ///   there are the state that is shown and the one from which the fold continues.
  public func scrubber(keptSizeMax: Int = 64 << 20) throws -> ListScrubber<Item, Section> {
    try checkNotCancelled()
    return try ListScrubber(request, rows, showing: snapshot, keptSizeMax: keptSizeMax, counting: pastCounter)
  }
}
