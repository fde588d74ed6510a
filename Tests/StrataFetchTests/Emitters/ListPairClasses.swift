// The awkward cases that occurred in random runs.

@testable import StrataLists

/// Counts the cases, so that a run that tests nothing is detected.
struct ListPairClasses: CustomStringConvertible {
  private var counts: [String: Int] = [:]

  mutating func add(_ changes: ListChanges<Int, Int>) {
    func count(_ name: String, _ number: Int) { counts[name, default: 0] += number }
    let dying = Set(changes.sectionDeletions.map(\.from))
    let born = Set(changes.sectionInsertions.map(\.to))
    let movedOld = Set(changes.sectionMoves.map(\.from))
    let movedNew = Set(changes.sectionMoves.map(\.to))
    let moves = changes.moves
    func isFrom(_ move: ListChanges<Int, Int>.Move, _ set: Set<Int>) -> Bool {
      set.contains(move.from.section)
    }
    func isTo(_ move: ListChanges<Int, Int>.Move, _ set: Set<Int>) -> Bool { set.contains(move.to.section) }
    count("empty", changes.isEmpty ? 1 : 0)
    count("deleted in a deleted section", changes.deletions.count { dying.contains($0.from.section) })
    count("deleted in a section that moves", changes.deletions.count { movedOld.contains($0.from.section) })
    count("inserted in an inserted section", changes.insertions.count { born.contains($0.to.section) })
    count("inserted in a section that moves", changes.insertions.count { movedNew.contains($0.to.section) })
    count(
      "moved from a deleted section into one that stays", moves.count { isFrom($0, dying) && !isTo($0, born) }
    )
    count(
      "moved from a section that stays into an inserted one",
      moves.count { !isFrom($0, dying) && isTo($0, born) })
    count(
      "moved from a deleted section into an inserted one", moves.count { isFrom($0, dying) && isTo($0, born) }
    )
    count("moved out of a section that moves", moves.count { isFrom($0, movedOld) })
    count("moved into a section that moves", moves.count { isTo($0, movedNew) })
    count("moved and changed", moves.count(where: \.isChanged))
    count("moved and reloaded", moves.count(where: \.isReload))
    count("moved to the same place", moves.count { $0.from == $0.to })
    count(
      "reloaded in a section that moves",
      changes.updates.count { $0.isReload && movedNew.contains($0.to.section) })
    count("updated in a section that moves", changes.updates.count { movedNew.contains($0.to.section) })
    let restless = Set(moves.map(\.to.section))
    count(
      "reloaded next to a move", changes.updates.count { $0.isReload && restless.contains($0.to.section) })
    count("reloaded while a section moves", movedNew.isEmpty ? 0 : changes.updates.count(where: \.isReload))
    count("reloaded", changes.updates.count(where: \.isReload))
    count("updated", changes.updates.count { !$0.isReload })
    let touched = Set(
      (changes.insertions.map(\.to) + moves.map(\.to) + changes.updates.map(\.to)).map(\.section))
    count("section moved untouched", movedNew.subtracting(touched).count)
    count("section updated", changes.sectionUpdates.count { !$0.isReload })
    count("section reloaded", changes.sectionUpdates.count(where: \.isReload))
    count("section moved and updated", changes.sectionUpdates.count { movedNew.contains($0.to) })
  }

  var missing: [String] { counts.filter { $0.value == 0 }.map(\.key).sorted() }

  var description: String {
    counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
  }
}
