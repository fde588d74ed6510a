// The position of one consumer of a list: the list delivered last, and the list seen last.

internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// The position of one iteration, one delegate or one joined list.
struct UpdatePosition<Item: Identifiable & Sendable, Section: Hashable & Sendable>: Sendable
where Item.ID: DocumentID {
  /// A list that the consumer has seen.
  struct Seen: Sendable {
    var snapshot: ListSnapshot<Item, Section>
    /// The epoch of its request.
    var epoch: RequestEpoch
    /// `none` if it was not published.
    var number: PublicationNumber
    var appendCount: AppendCount
  }

  /// The list that was delivered last. The next update begins here, so that no change between two updates is lost.
  private(set) var shown: Seen
  /// The list that was seen last. Nothing that is reported changed between it and `shown`.
  private(set) var looked: Seen
  /// The changes of the last look, if it began at `shown`.
  private var found: ListChanges<Item.ID, Section>?
  private var isAtShown = true
  private let observed: ObservedFields<Item>?
  /// The last failure that the consumer received, or that occurred before it began.
  var heard = FailureID.none
  /// The fold of a consumer that wants every append.
  var appends: AppendFollower?

  init(_ shown: Seen, observing observed: ObservedFields<Item>?, appends: AppendFollower? = nil) {
    self.shown = shown
    looked = shown
    self.observed = observed
    self.appends = appends
  }

  /// The changes to report between two lists.
  static func changes(
    from old: ListSnapshot<Item, Section>, to new: ListSnapshot<Item, Section>,
    observing observed: ObservedFields<Item>?, _ counts: inout ListStatistics
  ) -> ListChanges<Item.ID, Section> {
    var changes = ListChanges(from: old, to: new)
    if let observed { counts.updatesSuppressed += observed.filter(&changes, from: old, to: new) }
    return changes
  }

  /// Looks at a newer list. Returns true if there is something to report; then `deliver` has to follow.
  mutating func look(at new: Seen, _ counts: inout ListStatistics) -> Bool {
    // Compares with the list seen last, so that appends that change nothing are not compared again and again.
    let changes = Self.changes(from: looked.snapshot, to: new.snapshot, observing: observed, &counts)
    let isNews = !changes.isEmpty || new.epoch != shown.epoch
    if !isNews { counts.looksWithoutChange += 1 }
    found = isAtShown ? changes : nil
    looked = new
    isAtShown = false
    return isNews
  }

  /// The update from the list delivered last to the list seen last.
  mutating func deliver(_ counts: inout ListStatistics) -> ListUpdate<Item, Section> {
    var ignored = ListStatistics()
    let changes =
      found ?? Self.changes(from: shown.snapshot, to: looked.snapshot, observing: observed, &ignored)
    counts.add(changes, appends: looked.appendCount.appends(since: shown.appendCount))
    return step(changes)
  }

  /// The step to the list seen last, without changes.
  mutating func pass() -> ListUpdate<Item, Section> { step(ListChanges<Item.ID, Section>()) }

  private mutating func step(_ changes: ListChanges<Item.ID, Section>) -> ListUpdate<Item, Section> {
    defer {
      shown = looked
      isAtShown = true
      found = nil
    }
    return ListUpdate(
      reason: looked.epoch == shown.epoch ? .changed : .reconfigured, before: shown.snapshot,
      after: looked.snapshot, changes: changes)
  }
}

extension UpdatePosition.Seen {
  init(_ published: FetchController<Item, Section>.State.Published) {
    self.init(
      snapshot: published.list.snapshot, epoch: published.epoch, number: published.number,
      appendCount: published.list.appendCount)
  }

  init(_ set: TableSet, _ prepared: FetchController<Item, Section>.Prepared) {
    self.init(
      snapshot: prepared.snapshot(of: set), epoch: prepared.epoch, number: .none,
      appendCount: AppendCount(set.appendCount))
  }
}
