// The laws of every batch between two snapshots, checked exhaustively.

@testable import StrataLists
import StrataViews
import TestModels

struct DiffableLaws {
  private let old: ModelSnapshot
  private let new: ModelSnapshot

  init(_ old: ModelSnapshot, _ new: ModelSnapshot) {
    self.old = old
    self.new = new
  }

  func broken(by changes: ListChanges<Int, Int>) -> [String] {
    var broken: [String] = []
    func require(_ holds: Bool, _ law: String) { if !holds { broken.append(law) } }
    let (before, after) = (Set(old.items), Set(new.items))
    require(applying(changes) == new.sections, "R24: the changes turn the old list into the new one")
    require(Set(changes.deletions.map(\.id)) == before.subtracting(after), "R27: deletions are old \\ new")
    require(Set(changes.insertions.map(\.id)) == after.subtracting(before), "R27: insertions are new \\ old")
    require(
      Set(changes.sectionDeletions.map(\.section)) == Set(old.ids).subtracting(new.ids),
      "R27: section deletions")
    require(
      Set(changes.sectionInsertions.map(\.section)) == Set(new.ids).subtracting(old.ids),
      "R27: section insertions")
    let from = changes.deletions.map(\.from) + changes.moves.map(\.from) + changes.updates.map(\.from)
    require(Set(from).count == from.count, "R26: old indices are distinct")
    let to = changes.insertions.map(\.to) + changes.moves.map(\.to) + changes.updates.map(\.to)
    require(Set(to).count == to.count, "R26: new indices are distinct")
    for move in changes.moves {
      require(old.place(move.id) == move.from && new.place(move.id) == move.to, "R25: indices of a move")
      require(move.isChanged == (new.marks[move.id] != nil), "R12: a moved item with a mark is changed")
      require(move.isReload == (new.marks[move.id] == true), "R12: a moved item that is reloaded")
    }
    for update in changes.updates {
      require(
        old.place(update.id) == update.from && new.place(update.id) == update.to, "R25: indices of an update")
      require(update.isReload == new.marks[update.id], "R12: a mark is an update")
    }
    require(
      Set(changes.updates.map(\.id) + changes.moves.filter(\.isChanged).map(\.id))
        == before.intersection(after).intersection(new.marks.keys),
      "R12: every mark on what stays is in the batch")
    require(isAscending(changes.deletions.map(\.from).reversed()), "R30: deletions descend")
    require(isAscending(changes.insertions.map(\.to)), "R30: insertions ascend")
    require(isAscending(changes.moves.map(\.to)), "R30: moves ascend")
    require(isAscending(changes.updates.map(\.to)), "R30: updates ascend")
    require(isAscending(changes.sectionDeletions.map(\.from).reversed()), "R30: section deletions descend")
    require(isAscending(changes.sectionInsertions.map(\.to)), "R30: section insertions ascend")
    require(isAscending(changes.sectionMoves.map(\.to)), "R30: section moves ascend")
    require(isAscending(changes.sectionUpdates.map(\.to)), "R30: section updates ascend")
    for (place, section) in new.sections.enumerated() {
      guard let other = old.ids.firstIndex(of: section.id) else { continue }
      let count = old.sections[other].items.count
      let leaving = (changes.deletions.map(\.from) + changes.moves.map(\.from)).count { $0.section == other }
      let coming = (changes.insertions.map(\.to) + changes.moves.map(\.to)).count { $0.section == place }
      require(section.items.count == count - leaving + coming, "R29: the counts of section \(section.id)")
      let update = changes.sectionUpdates.first { $0.section == section.id }
      let isReload = new.sectionMarks.contains(section.id)
      require((update != nil) == (isReload || section.items.count != count), "R12: section updates")
      if let update {
        require(
          update.from == other && update.to == place && update.count == section.items.count
            && update.isReload == isReload, "R12: a section update")
      }
    }
    require(changes.moves.count == leastMoves, "R31: moves are as few as can be")
    let kept = new.ids.compactMap { old.ids.firstIndex(of: $0) }
    require(
      changes.sectionMoves.count == kept.count - longest(kept), "R31: section moves are as few as can be")
    return broken
  }

  private func isAscending<Place: Comparable>(_ places: [Place]) -> Bool {
    zip(places, places.dropFirst()).allSatisfy { $0 < $1 }
  }

  private var leastMoves: Int {
    var moves = 0
    for section in new.sections {
      let kept = section.items.compactMap { old.place($0) }
      let here = kept.filter { old.ids[$0.section] == section.id }.map(\.item)
      moves += kept.count - longest(here)
    }
    return moves
  }

  /// The length of a longest increasing subsequence, found by comparing all pairs and, for few numbers, also by trying
  /// all subsets.
  private func longest(_ numbers: [Int]) -> Int {
    var best = [Int](repeating: 1, count: numbers.count)
    for index in numbers.indices {
      for earlier in 0..<index where numbers[earlier] < numbers[index] {
        best[index] = max(best[index], best[earlier] + 1)
      }
    }
    let length = best.max() ?? 0
    guard numbers.count <= 6 else { return length }
    var longest = 0
    for subset in 0..<1 << numbers.count {
      let chosen = numbers.indices.filter { subset & 1 << $0 != 0 }.map { numbers[$0] }
      if isAscending(chosen) { longest = max(longest, chosen.count) }
    }
    precondition(longest == length, "both ways to count must agree")
    return longest
  }

  /// The sections after a batch, whose four steps are applied to plain arrays; nil if the batch does not fit.
  private func applying(_ changes: ListChanges<Int, Int>) -> [ModelSnapshot.Section]? {
    var sections = old.sections
    for from in (changes.deletions.map(\.from) + changes.moves.map(\.from)).sorted(by: >) {
      guard from.section < sections.count, from.item < sections[from.section].items.count else { return nil }
      sections[from.section].items.remove(at: from.item)
    }
    var incoming = changes.sectionInsertions.map { ($0.to, ModelSnapshot.Section(id: $0.section, items: [])) }
    for move in changes.sectionMoves { incoming.append((move.to, sections[move.from])) }
    for from in (changes.sectionDeletions.map(\.from) + changes.sectionMoves.map(\.from)).sorted(by: >) {
      sections.remove(at: from)
    }
    for (to, section) in incoming.sorted(by: { $0.0 < $1.0 }) {
      guard to <= sections.count else { return nil }
      sections.insert(section, at: to)
    }
    let items = changes.insertions.map { ($0.to, $0.id) } + changes.moves.map { ($0.to, $0.id) }
    for (to, id) in items.sorted(by: { $0.0 < $1.0 }) {
      guard to.section < sections.count, to.item <= sections[to.section].items.count else { return nil }
      sections[to.section].items.insert(id, at: to.item)
    }
    return sections
  }
}

extension DiffableSnapshot {
  /// A copy with changes applied.
  func applying(_ changes: ListChanges<ItemID, Section>) throws(DiffableSnapshotError) -> Self {
    var copy = self
    try copy.apply(changes)
    return copy
  }
}
