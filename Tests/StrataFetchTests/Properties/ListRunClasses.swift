// The cases that random runs must include, so that a hundred thousand runs that test nothing are detected.

internal import StrataDocuments
internal import StrataEvents
@testable internal import StrataLists
internal import StrataTables

enum ListRunClass: String, CaseIterable {
  case sectionAppears = "section appears"
  case sectionVanishes = "section vanishes"
  case sectionMoves = "section moves"
  case movesWithin = "item moves within its section"
  case movesAcross = "item moves across sections"
  case movesIntoNew = "item moves into a new section"
  case movesOutOfDying = "item moves out of a dying section"
  case movesWithUpdate = "item moves and its row changes"
  case updates = "item changes in its place"
  case ties = "ties in the sort keys"
  case nilKeys = "nil in the sort keys"
  case limitRefilled = "limit full and refilled"
  case requestChanged = "request changed"
  case past = "point in the past that shows another list"
  case emptyBefore = "empty before"
  case emptyAfter = "empty after"
  case typed = "typed rows and key paths"
  case nested = "nested fields"
}

/// The number of runs of each class. A run may belong to several classes.
struct ListRunClasses: CustomStringConvertible {
  private var counts: [ListRunClass: Int] = [:]
  private(set) var runCount = 0
  /// The commits, the batches that were checked, the items shown after a commit, and the changes of the commits'
  /// batches.
  var commitCount = 0
  var batchCount = 0
  var itemCount = 0
  var changeCount = 0

  mutating func add(_ run: Set<ListRunClass>) {
    runCount += 1
    for found in run { counts[found, default: 0] += 1 }
  }

  mutating func add(_ other: ListRunClasses) {
    runCount += other.runCount
    commitCount += other.commitCount
    batchCount += other.batchCount
    itemCount += other.itemCount
    changeCount += other.changeCount
    counts.merge(other.counts) { $0 + $1 }
  }

  private func share(_ name: ListRunClass) -> Double {
    100 * Double(counts[name] ?? 0) / Double(max(runCount, 1))
  }

  /// The classes to which less than a percentage of the runs belong.
  func rare(below percent: Double) -> [String] {
    ListRunClass.allCases.filter { share($0) < percent }.map(\.rawValue)
  }

  var description: String {
    func tenth(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
    let perCommit = Double(max(commitCount, 1))
    let head =
      "\(runCount) runs, \(commitCount) commits, \(batchCount) batches;"
      + " a commit leaves \(tenth(Double(itemCount) / perCommit)) items"
      + " and makes \(tenth(Double(changeCount) / perCommit)) changes"
    return ([head] + ListRunClass.allCases.map { "  \($0.rawValue): \(tenth(share($0))) %" })
      .joined(separator: "\n")
  }
}

extension Set<ListRunClass> {
  /// Adds the classes of a step of a history.
  mutating func add(_ diff: ListDiff, from old: ModelledList, to new: ModelledList) {
    func note(_ name: ListRunClass, _ holds: Bool) { if holds { insert(name) } }
    let dying = Set<Int>(diff.sectionDeletions.map(\.from))
    let born = Set<Int>(diff.sectionInsertions.map(\.to))
    note(.sectionAppears, !born.isEmpty)
    note(.sectionVanishes, !dying.isEmpty)
    note(.sectionMoves, !diff.sectionMoves.isEmpty)
    for move in diff.moves {
      let (from, to) = (move.from.section, move.to.section)
      let isSame = ModelList.order(old.list.sections[from].value, new.list.sections[to].value) == 0
      note(.movesWithin, isSame)
      note(.movesAcross, !isSame && !dying.contains(from) && !born.contains(to))
      note(.movesIntoNew, born.contains(to))
      note(.movesOutOfDying, dying.contains(from))
      note(.movesWithUpdate, move.isChanged)
    }
    note(.updates, !diff.updates.isEmpty)
    note(.emptyBefore, old.version.itemCount == 0 && new.version.itemCount > 0)
    note(.emptyAfter, old.version.itemCount > 0 && new.version.itemCount == 0)
    note(.limitRefilled, isRefilled(diff, old, new))
    addKeys(of: new)
  }

  /// Whether a full window lost an item, and shows one instead that was hidden and did not change.
  private func isRefilled(_ diff: ListDiff, _ old: ModelledList, _ new: ModelledList) -> Bool {
    guard let length = old.request.window.length, length > 0, old.request.window == new.request.window,
      old.version.itemCount == length, new.version.itemCount == length, !diff.deletions.isEmpty
    else { return false }
    return diff.insertions.contains { insertion in
      let id = Array(insertion.id.utf8)
      guard let row = old.model.rows[id] else { return false }
      return row == new.model.rows[id]
    }
  }

  private mutating func addKeys(of shown: ModelledList) {
    let fields = shown.request.sorts.map(\.field)
    guard !fields.isEmpty, !isSuperset(of: [.ties, .nilKeys]) else { return }
    for section in shown.list.sections {
      var last: [DocumentValue] = []
      for item in section.items {
        guard let document = shown.model.rows[item.id]?.document else { continue }
        let keys = fields.map { document.value(at: $0) }
        if keys.contains(where: \.isNull) { insert(.nilKeys) }
        if !last.isEmpty, zip(last, keys).allSatisfy({ ModelList.order($0, $1) == 0 }) { insert(.ties) }
        last = keys
      }
    }
  }
}
