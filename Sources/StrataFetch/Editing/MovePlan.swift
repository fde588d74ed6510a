// What a move writes: computed from one state of the list, without waiting.

internal import StrataLists
internal import StrataTables

/// Where a moved row goes.
struct MoveTarget<ID: Sendable>: Sendable {
  /// After this row, if it is still in the section.
  var previous: ID?
  /// Otherwise before this one.
  var next: ID?
  /// The section's key.
  var section: [UInt8]
  /// Without neighbours: at the section's front or end.
  var isAtFront = false
}

/// New ranks for rows, and a new section for the moved one.
struct MovePlan {
  struct Row {
    var id: [UInt8]
    /// The sequence of the last event that changed it, in the state that the plan was made in.
    var revision: UInt64
    /// Nil to keep the current rank.
    var rank: String?
    /// The key of the new section, nil if the row stays in its section.
    var section: [UInt8]?
  }

  /// The moved row first. Empty if the row is already in place.
  var rows: [Row] = []
}

/// Plans moves in one state of a list whose first sort is manual.
struct MovePlanner {
  let version: ListVersion
  /// Whether ranks descend along the list.
  let isReverse: Bool

  private var view: View { version.view }

  /// The rows of the target's section without the moved one, by index.
  private struct Others {
    var start: Int
    var count: Int
    /// The moved row's rank among all items, if it is in this section.
    var moved: Int?

    func rank(at index: Int) -> Int {
      let rank = start + index
      return if let moved, rank >= moved { rank + 1 } else { rank }
    }

    func index(ofRank rank: Int) -> Int {
      let index = rank - start
      return if let moved, rank > moved { index - 1 } else { index }
    }
  }

  /// O(log n). If no rank is left between the neighbours, O(m) for the m rows that get new ones.
  func plan(_ id: [UInt8], to target: MoveTarget<[UInt8]>) throws(ListEditError) -> MovePlan {
    guard let moved = rank(of: id, in: nil) else {
      throw .absent("\(String(decoding: id, as: UTF8.self)) is not in the list")
    }
    // A row that is put next to itself stays, whatever is around it, and also if it has left the section.
    if target.previous == id || target.next == id { return MovePlan() }
    let ownSection = view.withItem(at: moved) { Array($0.section) }
    let isStaying = ownSection == target.section
    let (start, count) = target.section.withUnsafeBytes { (view.start(of: $0), view.itemCount(of: $0)) }
    let others = Others(
      start: start, count: isStaying ? count - 1 : count, moved: isStaying ? moved : nil)
    let gap = try gap(for: target, in: others)
    if isStaying, gap == moved - start { return MovePlan() }
    let section = isStaying ? nil : target.section
    let revision = revision(ofRank: moved)
    if others.count == 0 {
      return MovePlan(rows: [.init(id: id, revision: revision, rank: nil, section: section)])
    }
    if let rank = rank(in: gap, of: others) {
      return MovePlan(rows: [.init(id: id, revision: revision, rank: rank, section: section)])
    }
    return try renumbered(.init(id: id, revision: revision, rank: nil, section: section), gap, others)
  }

  /// The number of other rows that come before the row at its target.
  private func gap(for target: MoveTarget<[UInt8]>, in others: Others) throws(ListEditError) -> Int {
    if let previous = target.previous, let rank = rank(of: previous, in: target.section) {
      return others.index(ofRank: rank) + 1
    }
    if let next = target.next, let rank = rank(of: next, in: target.section) {
      return others.index(ofRank: rank)
    }
    guard target.previous == nil, target.next == nil else {
      let names = [target.previous, target.next].compactMap { $0.map { String(decoding: $0, as: UTF8.self) } }
      throw .conflict("\(names.joined(separator: " and ")) left the section that the row was moved to")
    }
    return target.isAtFront ? 0 : others.count
  }

  /// The rank of a row among all items, nil if it is not in the list, or not in this section.
  private func rank(of id: [UInt8], in section: [UInt8]?) -> Int? {
    id.withUnsafeBytes { id in
      let key = version.table.withRow(id) { row in row.map { view.key(of: $0) } ?? PlacedKey() }
      guard key.isShown else { return nil }
      if let section, !key.bytes.prefix(key.sectionLength).elementsEqual(section) { return nil }
      return key.bytes.withUnsafeBytes { view.rank(of: $0) }
    }
  }

  private func revision(ofRank rank: Int) -> UInt64 {
    view.withItem(at: rank) { key in version.table.withRow(key.id) { $0?.revision ?? 0 } }
  }

  /// The manual rank of the row at an index among all items: the part of its key that follows the section.
  private func text(ofRank rank: Int) -> String {
    view.withItem(at: rank) { key in
      var reader = SortKeyReader(key.bytes, at: key.sectionLength)
      return (try? reader.read(String.self, isReverse ? .descending : [])) ?? ""
    }
  }
}

// MARK: Ranks

extension MovePlanner {
  private func rank(in gap: Int, of others: Others) -> String? {
    let before = gap > 0 ? others.rank(at: gap - 1) : nil
    let after = gap < others.count ? others.rank(at: gap) : nil
    let (low, high) = isReverse ? (after, before) : (before, after)
    let near = FractionalRank.Nearness(
      low: low.map { revision(ofRank: $0) }, high: high.map { revision(ofRank: $0) }, newest: version.sequence
    )
    return FractionalRank.between(
      low.map { text(ofRank: $0) }, high.map { text(ofRank: $0) }, near: near, newest: version.sequence)
  }

  /// Ranks for the moved row and for as few rows on either side as make room: 1, 2, 4 … of them.
  private func renumbered(
    _ moved: MovePlan.Row, _ gap: Int, _ others: Others
  ) throws(ListEditError) -> MovePlan {
    var reach = 1
    while true {
      let begin = max(gap - reach, 0)
      let end = min(gap + reach, others.count)
      let before = begin > 0 ? text(ofRank: others.rank(at: begin - 1)) : nil
      let after = end < others.count ? text(ofRank: others.rank(at: end)) : nil
      let (low, high) = isReverse ? (after, before) : (before, after)
      let count = end - begin + 1
      if var ranks = FractionalRank.spread(count, between: low, and: high, newest: version.sequence) {
        if isReverse { ranks.reverse() }
        var moved = moved
        moved.rank = ranks[gap - begin]
        var rows = [moved]
        for index in begin..<end {
          let rank = ranks[index < gap ? index - begin : index - begin + 1]
          rows.append(row(at: others.rank(at: index), rank))
        }
        return MovePlan(rows: rows)
      }
      // Ranks for all rows of a section have no bounds, so only too many rows leave no room.
      guard begin > 0 || end < others.count else {
        throw .notEditable("the section has too many rows for a manual order")
      }
      reach *= 2
    }
  }

  private func row(at rank: Int, _ text: String) -> MovePlan.Row {
    let id = view.withItem(at: rank) { Array($0.id) }
    return MovePlan.Row(id: id, revision: revision(ofRank: rank), rank: text, section: nil)
  }
}
