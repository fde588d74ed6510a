// What a fetch controller did so far, in numbers.

internal import StrataBase
internal import StrataLists
internal import StrataTables

/// Counts of one fetch controller since it was made. They only grow.
public struct ListStatistics: Hashable, Sendable {
  /// How often a state of the store was asked for: fetches that what was published already did not answer.
  public internal(set) var fetches = 0
  /// Updates that iterations, joined iterations and delegates were given, the first ones included.
  public internal(set) var updatesDelivered = 0
  /// Looks at something new in which nothing of the list had changed, and that made no update.
  public internal(set) var looksWithoutChange = 0
  /// Appends that reached a consumer together with a later one, in one difference, whether or not they changed
  /// the list.
  public internal(set) var appendsCoalesced = 0
  /// Items put in, in all updates.
  public internal(set) var insertions = 0
  /// Items taken out.
  public internal(set) var deletions = 0
  /// Items that moved, changed or not.
  public internal(set) var moves = 0
  /// Items that changed where they stood.
  public internal(set) var updates = 0
  /// Changes of sections of all kinds.
  public internal(set) var sectionChanges = 0
  /// Updates of rows that were left out since none of their observed fields had changed.
  public internal(set) var updatesSuppressed = 0
  /// Rows decoded as items: to place them in the view that this controller built, and to lend them.
  public internal(set) var rowsDecoded = 0
  /// Requests that `apply` put in the place of others.
  public internal(set) var requestsReplaced = 0
  /// Results that were thrown away since their request had been replaced meanwhile.
  public internal(set) var resultsRefused = 0

  init() {}

  /// Adds what a piece of work came to.
  mutating func add(_ other: ListStatistics) {
    for count in Self.all { self[keyPath: count] += other[keyPath: count] }
  }

  private static var all: [WritableKeyPath<ListStatistics, Int>] {
    [
      \.fetches, \.updatesDelivered, \.looksWithoutChange, \.appendsCoalesced, \.insertions, \.deletions,
      \.moves, \.updates, \.sectionChanges, \.updatesSuppressed, \.rowsDecoded, \.requestsReplaced,
      \.resultsRefused,
    ]
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
  /// What was done so far.
  public var statistics: ListStatistics { counts.withLock { $0 } }
}

extension RowTable {
  /// The same table, and a call for every row that is decoded.
  func counting(_ decoded: @escaping @Sendable () -> Void) -> RowTable<Item> {
    let decode = decode
    return RowTable(store: store, folding: folding, name: name) { (row) throws(RowProblem) in
      decoded()
      return try decode(row)
    }
  }

  /// The table as a request wants it folded: where it reports touches, in a fold of its own, in which a write of
  /// an equal document raises its row's revision.
  func folded<Section>(for request: ListRequest<Item, Section>) -> RowTable<Item> {
    guard request.reportsTouches else { return self }
    return RowTable(store: store, folding: .touching(folding), name: name, decode: decode)
  }
}
