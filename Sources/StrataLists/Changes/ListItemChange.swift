// The change of a single item or section, and the order in which changes are reported.

/// The change of one item. `from` counts in the old list, `to` in the new one.
public enum ListItemChange: Hashable, Sendable {
  case insert(to: ListIndex)
  case delete(from: ListIndex)
  /// - Parameter isChanged: whether its row changed too; there is no separate update.
  case move(from: ListIndex, to: ListIndex, isChanged: Bool)
  /// Its row changed, and it stays.
  case update(from: ListIndex, to: ListIndex)
}

/// The change of one section. `from` counts in the old list, `to` in the new one.
public enum ListSectionChange: Hashable, Sendable {
  case insert(to: Int)
  case delete(from: Int)
  case move(from: Int, to: Int)
  /// Its number of items or an aggregate changed, or it has to be reloaded. A section can have both a move and an update.
  case update(from: Int, to: Int)
}

extension ListItemChange {
  /// The item's index in the old list, nil for an insertion.
  public var from: ListIndex? {
    switch self {
    case .insert: nil
    case .delete(let from), .move(let from, _, _), .update(let from, _): from
    }
  }

  /// The item's index in the new list, nil for a deletion.
  public var to: ListIndex? {
    switch self {
    case .delete: nil
    case .insert(let to), .move(_, let to, _), .update(_, let to): to
    }
  }
}

extension ListChanges {
  /// The changes of sections: deletions by descending `from`, then insertions and moves by ascending `to`, then
  /// updates.
  public func forEachSectionChange(_ body: (Section, ListSectionChange) -> Void) {
    for change in sectionDeletions { body(change.section, .delete(from: change.from)) }
    mergeAscending(sectionInsertions.map { $0.to }, sectionMoves.map { $0.to }) { isMove, index in
      if isMove {
        let move = sectionMoves[index]
        body(move.section, .move(from: move.from, to: move.to))
      } else {
        body(sectionInsertions[index].section, .insert(to: sectionInsertions[index].to))
      }
    }
    for change in sectionUpdates { body(change.section, .update(from: change.from, to: change.to)) }
  }

  /// The changes of items: deletions by descending `from`, then insertions and moves by ascending `to`, then
  /// updates.
  public func forEachItemChange(_ body: (ItemID, ListItemChange) -> Void) {
    for change in deletions { body(change.id, .delete(from: change.from)) }
    mergeAscending(insertions.map { $0.to }, moves.map { $0.to }) { isMove, index in
      if isMove {
        let move = moves[index]
        body(move.id, .move(from: move.from, to: move.to, isChanged: move.isChanged))
      } else {
        body(insertions[index].id, .insert(to: insertions[index].to))
      }
    }
    for change in updates { body(change.id, .update(from: change.from, to: change.to)) }
  }
}

/// Merges two ascending arrays: the body receives which array is next, and the index in it. O(n).
func mergeAscending<Place: Comparable>(
  _ first: [Place], _ second: [Place], _ body: (_ isSecond: Bool, _ index: Int) -> Void
) {
  var (i, j) = (0, 0)
  while i < first.count || j < second.count {
    if j == second.count || (i < first.count && first[i] < second[j]) {
      body(false, i)
      i += 1
    } else {
      body(true, j)
      j += 1
    }
  }
}
