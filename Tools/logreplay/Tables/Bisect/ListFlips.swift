// `bisect --where`: the appends after which a list has items and had none before, or the other way round.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// An append that gave an empty list its first items, or took all items from it.
struct ListFlip: Sendable {
  /// The last sequence of the append, and its own time.
  var sequence: UInt64
  var time: Timestamp?
  /// The first item of the list after it; nil if there is none.
  var id: String?
}

/// The flips of a list in a range of the log, found by one fold over it.
struct ListFlips {
  private struct Enough: Error {}

  /// Whether the list has items at the begin of the range. Each flip is to the other of the two.
  let begins: Bool
  private(set) var all: [ListFlip] = []

  /// The first flip to a list with items; nil if there is none.
  var first: ListFlip? { all.first { $0.id != nil } }

  /// Folds the range. Blocks; O(events of the table · log items).
  ///
  /// - Parameter findsAll: false to end at the first flip, and at once if the list has items at the begin.
  init(_ replay: ListReplay, after begin: ResolvedPoint, through end: UInt64, findsAll: Bool) throws {
    begins = try replay.state(at: begin).count > 0
    guard findsAll || !begins else { return }
    let identity = replay.query.list.definition.identity
    let table = replay.table
    let commits = SplitCommits(replay.opened.log)
    var (hasItems, reached, flips) = (begins, begin.sequence, [ListFlip]())
    do {
      try replay.runByAppend(through: end) { set in
        // A fold that begins again lends a state of before once more, without what was erased.
        guard set.sequence > reached else {
          throw CommandFailure(
            ExitStatus.inputOutput, "events were erased while the log was read",
            at: replay.opened.path, next: "run the command again")
        }
        reached = set.sequence
        guard !commits.goesOn(after: set.sequence) else { return }
        let count = set.contains(table) ? set[table].view(identity)?.count ?? 0 : 0
        guard (count > 0) != hasItems else { return }
        hasItems.toggle()
        flips.append(
          ListFlip(
            sequence: set.sequence, time: set.time.map { Timestamp(nanoseconds: $0) },
            id: hasItems ? replay.version(of: set).firstID : nil))
        if !findsAll { throw Enough() }
      }
    } catch is Enough {}
    all = flips
  }
}

extension ListVersion {
  /// The id of the first item that passes the filter; nil if there is none.
  fileprivate var firstID: String? {
    var id: String?
    view.forEachItem(in: 0..<min(1, view.count)) { id = String(decoding: $0.id, as: UTF8.self) }
    return id
  }
}
