// Counts of what a fetch controller has done so far.

internal import StrataBase
internal import StrataLists
internal import StrataPast
internal import StrataTables
internal import Synchronization

/// Counts of one fetch controller since it was created. They only grow.
public struct ListStatistics: Hashable, Sendable {
  /// Requests for a state of the store: fetches that the published list did not already answer.
  public internal(set) var fetches = 0
  /// Updates delivered to iterations, joined iterations and delegates, including the first ones.
  public internal(set) var updatesDelivered = 0
  /// Looks at a newer list that made no update, because nothing in the list had changed.
  package internal(set) var looksWithoutChange = 0
  /// Appends that reached a consumer combined with a later one in a single difference, whether or not they changed the
  /// list.
  public internal(set) var appendsCoalesced = 0
  /// Items inserted, in all updates.
  package internal(set) var insertions = 0
  /// Items deleted.
  package internal(set) var deletions = 0
  /// Items that moved, changed or not.
  package internal(set) var moves = 0
  /// Items that changed without moving.
  package internal(set) var updates = 0
  /// Section changes of all kinds.
  package internal(set) var sectionChanges = 0
  /// Row updates that were left out because none of the observed fields had changed.
  package internal(set) var updatesSuppressed = 0
  /// Rows decoded as items: to place them in the view that this controller built, and to return them to the caller.
  public internal(set) var rowsDecoded = 0
  /// Lists of the past that were made: those of `snapshot(at:)`, `changes(from:to:)` and `why`, and those that a scrubber
  /// of the controller moved to.
  public internal(set) var pastLists = 0
  /// Of these, the ones whose rows came from a history (`StoreOptions.history`). The others were replayed. A list that a
  /// scrubber has kept is counted as when it was made.
  public internal(set) var pastListsFromHistory = 0
  /// The events that were folded for lists of the past: for one from a history those after the end of the history, for any
  /// other all since the state that was saved last before it. A scrubber also folds events where that costs less than
  /// looking up the rows that differ. Of a kept list a page is read when it is looked at: if the history turns out to have
  /// lost it, all events up to the list's point are folded then.
  public internal(set) var pastEventsReplayed = 0
  /// Requests replaced by `apply`.
  package internal(set) var requestsReplaced = 0
  /// Results discarded because their request had been replaced in the meantime.
  package internal(set) var resultsRefused = 0

  init() {}

  /// Adds the counts of one piece of work.
  mutating func add(_ other: ListStatistics) {
    for count in Self.all { self[keyPath: count] += other[keyPath: count] }
  }

  private static var all: [WritableKeyPath<ListStatistics, Int>] {
    [
      \.fetches, \.updatesDelivered, \.looksWithoutChange, \.appendsCoalesced, \.insertions, \.deletions,
      \.moves, \.updates, \.sectionChanges, \.updatesSuppressed, \.rowsDecoded, \.pastLists,
      \.pastListsFromHistory, \.pastEventsReplayed, \.requestsReplaced, \.resultsRefused,
    ]
  }

  mutating func add(_ past: PastCounts) {
    pastLists += past.states
    pastListsFromHistory += past.fromHistory
    pastEventsReplayed += Int(clamping: past.foldedEvents)
  }

  mutating func add<ID, Section>(_ changes: ListChanges<ID, Section>, appends: UInt64) {
    updatesDelivered += 1
    if appends > 1 { appendsCoalesced += Int(clamping: appends - 1) }
    insertions += changes.insertions.count
    deletions += changes.deletions.count
    moves += changes.moves.count
    updates += changes.updates.count
    sectionChanges +=
      changes.sectionInsertions.count + changes.sectionDeletions.count + changes.sectionMoves.count
      + changes.sectionUpdates.count
  }
}

extension FetchController {
  /// The counts so far.
  public var statistics: ListStatistics {
    var statistics = counts.withLock { $0 }
    statistics.rowsDecoded += decodedRows.count
    statistics.add(pastCounter.counts)
    return statistics
  }
}

/// Counts the rows that are decoded, on any thread. A lock would be taken by all processors at each row of a new list.
final class DecodedRowCounter: Sendable {
  private let sum = Atomic(0)

  var count: Int { sum.load(ordering: .relaxed) }

  func add() { sum.add(1, ordering: .relaxed) }
}

extension RowTable {
  /// The same table, whose decoded rows are counted.
  func counting(in counter: DecodedRowCounter) -> RowTable<Item> {
    let decode = decode
    return RowTable(store: store, folding: folding, name: name) { (row) throws(RowProblem) in
      counter.add()
      return try decode(row)
    }
  }

  /// The table folded as the request needs it. If the request reports touches, this is a separate fold, in which a
  /// write of an equal document raises its row's revision.
  func folded<Section>(for request: ListRequest<Item, Section>) -> RowTable<Item> {
    guard request.reportsTouches else { return self }
    return RowTable(store: store, folding: .touching(folding), name: name, decode: decode)
  }
}
