// The laws of every canonical batch, checked exhaustively against the two lists.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables

/// The laws R26, R27, R29, R30, R31 and R32 of a batch between two lists.
struct BatchLaws {
  private let before: ModelList
  private let after: ModelList
  /// The ids of rows whose key is the same in both lists. These rows never move.
  private var fixed: Set<[UInt8]> = []

  init(
    _ before: ModelList, _ after: ModelList, _ old: ListVersion, _ new: ListVersion, isSameList: Bool
  ) {
    self.before = before
    self.after = after
    guard isSameList else { return }
    var writer = SortKeyWriter()
    for section in before.sections {
      for item in section.items {
        var (a, b) = (PlacedKey(), PlacedKey())
        item.id.withUnsafeBytes { id in
          old.table.withRow(id) { a.place($0, by: old.view.definition, &writer) }
          new.table.withRow(id) { b.place($0, by: new.view.definition, &writer) }
        }
        if a.isShown, b.isShown, a.bytes == b.bytes { fixed.insert(item.id) }
      }
    }
  }

  func broken(by diff: ListDiff) -> [String] {
    var broken: [String] = []
    func require(_ holds: Bool, _ law: String) { if !holds { broken.append(law) } }
    let old = places(of: before)
    let new = places(of: after)
    let bytes = { (ids: [String]) in Set(ids.map { Array($0.utf8) }) }
    let moved = bytes(diff.moves.map(\.id))
    require(
      bytes(diff.deletions.map(\.id)) == Set(old.keys).subtracting(new.keys), "R27: deletions are old \\ new")
    require(
      bytes(diff.insertions.map(\.id)) == Set(new.keys).subtracting(old.keys),
      "R27: insertions are new \\ old")
    let all =
      diff.deletions.map(\.id) + diff.insertions.map(\.id) + diff.moves.map(\.id) + diff.updates.map(\.id)
    require(bytes(all).count == all.count, "R26: an id occurs once")
    let from = diff.deletions.map(\.from) + diff.moves.map(\.from) + diff.updates.map(\.from)
    require(Set(from).count == from.count, "R26: old indices are distinct")
    let to = diff.insertions.map(\.to) + diff.moves.map(\.to) + diff.updates.map(\.to)
    require(Set(to).count == to.count, "R26: new indices are distinct")
    require(isAscending(diff.deletions.map(\.from).reversed()), "R30: deletions descend")
    require(isAscending(diff.insertions.map(\.to)), "R30: insertions ascend")
    require(isAscending(diff.moves.map(\.to)), "R30: moves ascend")
    require(isAscending(diff.updates.map(\.to)), "R30: updates ascend")
    for move in diff.moves {
      require(old[Array(move.id.utf8)]?.position == move.from, "R25: a move starts at the old index")
      require(new[Array(move.id.utf8)]?.position == move.to, "R25: a move ends at the new index")
    }
    for update in diff.updates {
      require(new[Array(update.id.utf8)]?.position == update.to, "R25: an update is at the new index")
      require(
        old[Array(update.id.utf8)]?.revision != new[Array(update.id.utf8)]?.revision,
        "an update changes a row")
    }
    require(
      moved.isDisjoint(
        with: fixed.filter { id in
          old[id] != nil && new[id] != nil
        }), "R31: a row whose key did not change never moves")
    require(diff.moves.count == leastMoves(old, new), "R31: moves are as few as can be")
    return broken
  }

  private struct Place {
    var position: ListIndex
    var section: DocumentValue
    var revision: UInt64
  }

  private func places(of list: ModelList) -> [[UInt8]: Place] {
    var places: [[UInt8]: Place] = [:]
    for (section, content) in list.sections.enumerated() {
      for (item, row) in content.items.enumerated() {
        places[row.id] = Place(
          position: ListIndex(section: section, item: item), section: content.value,
          revision: row.revision)
      }
    }
    return places
  }

  private func isAscending(_ positions: some Sequence<ListIndex>) -> Bool {
    let positions = Array(positions)
    return zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 }
  }

  /// The least number of moves that does not move the fixed rows. Items whose section changed move. In each section,
  /// the items that stay are a heaviest ascending chain, in which a fixed row weighs more than all other rows together.
  private func leastMoves(_ old: [[UInt8]: Place], _ new: [[UInt8]: Place]) -> Int {
    var moves = 0
    for section in after.sections {
      var chain: [(old: Int, new: Int, weight: Int)] = []
      for (item, row) in section.items.enumerated() {
        guard let place = old[row.id] else { continue }
        guard ModelList.order(place.section, section.value) == 0 else {
          moves += 1
          continue
        }
        chain.append((place.position.item, item, fixed.contains(row.id) ? 1_000 : 1))
      }
      var best = [(weight: Int, length: Int)](repeating: (0, 0), count: chain.count)
      for index in chain.indices {
        best[index] = (chain[index].weight, 1)
        for earlier in 0..<index where chain[earlier].old < chain[index].old {
          let weight = best[earlier].weight + chain[index].weight
          if weight > best[index].weight { best[index] = (weight, best[earlier].length + 1) }
        }
      }
      moves += chain.count - (best.max { $0.weight < $1.weight }?.length ?? 0)
    }
    return moves
  }
}
