// A list that is driven through the past: to any point of the log, by the changes from what it showed before.

internal import StrataBase
public import StrataEvents
public import StrataLists
internal import StrataLog
public import StrataTables

/// A list at a point of the log that somebody moves, as with a slider.
///
/// ```swift
/// let scrubber = try incidents.scrubber()
/// view.apply(try await scrubber.move(to: .time(lastFriday)).changes)
/// view.apply(try await scrubber.returnToHead().changes)
/// ```
///
/// Every move gives the difference between what was shown and the list at the new point, so a view that begins
/// with `snapshot` and applies each `changes` shows the list at that point. Where nothing was shown yet, the
/// first update is `.initial`.
///
/// Moves are carried out one after the other, in the order in which they were begun, on a thread of the
/// scrubber's own. A task that is cancelled does not take its move back; its `returnToHead` may throw `CancellationError`
/// while it waits for the newest state, and then what is shown stays.
///
/// The first move costs a replay of the log up to its point. After that, going back by d events replays about d
/// of them at most, or 64, and going forward what lies between: states are kept on the way, dense where the list was
/// moved last and sparser by a constant factor farther away. At most 48 are kept, and at most `keptSizeMax` bytes of
/// them, where what they share counts once; so in a large store that changes much, going back replays more. The
/// difference costs
/// O(k log n) for k rows that changed. To and from the head it costs a look at every row, since the newest
/// state shares no pages with the replayed ones, and no replay.
public final class ListScrubber<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  /// What only the thread touches.
  private struct Exclusive: @unchecked Sendable {
    let states: PastStates
  }

  /// The request of the list, the same for all its moves.
  public let request: ListRequest<Item, Section>
  private let rows: RowTable<Item>
  private let list: CompiledList
  private let exclusive: Exclusive
  private let shown: Lock<FetchSnapshot<Item, Section>?>
  /// One move at a time, in the order in which they were begun.
  private let turns = Turns<OneThing>()
  private let thread: IOThreads

  init(
    _ request: ListRequest<Item, Section>, _ rows: RowTable<Item>,
    showing snapshot: FetchSnapshot<Item, Section>?, keptSizeMax: Int
  ) throws(ListError) {
    self.request = request
    let rows = rows.folded(for: request)
    self.rows = rows
    list = try request.compiled(decode: rows.decode)
    exclusive = Exclusive(
      states: PastStates(
        rows.store.log, rows.folding, view: (rows.name, list.definition), keptSizeMax: keptSizeMax))
    shown = Lock(snapshot)
    thread = rows.store.machine.thread("strata-scrub")
  }

  /// What is shown; nil before the first move of a controller that had fetched nothing.
  public var snapshot: FetchSnapshot<Item, Section>? { shown.withLock { $0 } }

  /// Shows the list at a point of the log, which may be inside an append.
  public func move(to point: LogPoint) async throws -> ListUpdate<Item, Section> {
    if point == .head { return try await returnToHead() }
    await turns.take()
    defer { turns.give() }
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

  /// Shows the list as it is now: with every append that was acknowledged before the call.
  public func returnToHead() async throws -> ListUpdate<Item, Section> {
    await turns.take()
    defer { turns.give() }
    let set = try await rows.newestState(list.definition)
    return await thread.run { [self] in show(set) }
  }

  /// On the thread.
  private func show(_ set: TableSet) -> ListUpdate<Item, Section> {
    let after = request.snapshot(of: set, rows, list)
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
  /// A list of its own that can be moved through the past. It begins with what this controller shows, keeps the
  /// request that is in force now, and leaves the controller as it is.
  ///
  /// - Parameter keptSizeMax: how many bytes of past states it keeps at most, so that it need not replay to them again;
  ///   64 MiB where nothing is said. What the states share counts once. One state is kept whatever it takes up, and
  ///   beside it there are the state that is shown and the one that it goes on from.
  public func scrubber(keptSizeMax: Int = 64 << 20) throws(ListError) -> ListScrubber<Item, Section> {
    let (request, snapshot) = (request, snapshot)
    return try ListScrubber(request, rows, showing: snapshot, keptSizeMax: keptSizeMax)
  }
}
