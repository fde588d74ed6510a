// Which kept lists a history has, and from which event on.

internal import StrataBase
internal import StrataTables

/// A kept list that a process asked for, and how much of its past is read from the history of its projection.
public struct ListHistory: Sendable, Hashable {
  /// The table whose rows the list shows.
  public var table: String
  /// The name that the list is kept under.
  public var name: String
  /// The first event at which the list is read without building it, as at all later ones up to the end of the history.
  /// Nil as long as there is none: a list that is asked for late is added in the background. Where it is not read, it is
  /// built from the rows.
  public var firstSequence: UInt64?
}

extension ListHistory {
  /// Nil for the owner of another kind of keys.
  init?(_ owner: KeyOwner, in runs: RunSet?) {
    guard let list = owner.list, let kept = list.definition.kept else { return nil }
    let firsts = [owner, .rows].map { runs?.firstSequence(withKeysOf: $0) }
    self.init(table: list.table, name: kept.name, firstSequence: nil)
    if case (let a??, let b??) = (firsts[0], firsts[1]) { firstSequence = max(a, b) }
  }
}

extension RunSet {
  /// The first event from which on the runs answer from the keys of an owner, for each event up to their end; nil if they
  /// do for none.
  func firstSequence(withKeysOf owner: KeyOwner) -> UInt64? {
    let first = (runs.lastIndex { !$0.hasKeys(of: owner) } ?? -1) + 1
    guard first < runs.count else { return nil }
    // A state is read from the last base before it on.
    let begin = first == 0 ? 0 : runs[first...].firstIndex { $0.root.isBase }
    return begin.map { runs[$0].root.begin + 1 }
  }

  /// Whether both have one of the same runs.
  func shares(with other: RunSet) -> Bool {
    runs.contains { run in other.runs.contains { $0 === run } }
  }
}
