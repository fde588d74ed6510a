// Measures the changes between two lists that were built independently, so that every item has to be compared.

internal import Foundation
internal import StrataLists
internal import StrataSimulation
internal import StrataViews

extension Workload {
  /// Compares pairs of lists in which a twentieth of the rows is deleted, a twentieth is new, and a tenth has moved.
  static func unrelatedLists(_ bench: Bench) throws {
    for size in [5_000, 100_000] {
      var random = SeededGenerator(seed: UInt64(size))
      let old = ListCorpus.rows(size)
      var new: [Incident] = []
      for row in old {
        var row = row
        switch Int.random(in: 0..<20, using: &random) {
        case 0: row.number += size
        case 1, 2: row.time = Int.random(in: 0..<10_000_000, using: &random)
        default: break
        }
        new.append(row)
      }
      try unrelated(old, new, rounds: max(3, size > 10_000 ? bench.rounds / 3 : bench.rounds))
    }
  }

  private static func unrelated(_ old: [Incident], _ new: [Incident], rounds: Int) throws {
    let lists = (try MeasuredList(old).version(), try MeasuredList(new).version())
    let sections = (inSections(old), inSections(new))
    let ids = (sections.0.flatMap(\.items), sections.1.flatMap(\.items))
    var making: [Double] = []
    var diffable: [Double] = []
    var versions: [Double] = []
    var flat: [Double] = []
    for _ in 0..<rounds {
      // Built again in each round, because a snapshot caches the positions of its items after the first lookup.
      var snapshots: (DiffableSnapshot<Int, Int>, DiffableSnapshot<Int, Int>)?
      making.append(
        seconds {
          snapshots = (DiffableSnapshot(sections: sections.0), DiffableSnapshot(sections: sections.1))
        })
      if let (old, new) = snapshots {
        diffable.append(seconds { precondition(!ListChanges(from: old, to: new).isEmpty) })
      }
      versions.append(seconds { precondition(!ListDiff(from: lists.0, to: lists.1).isEmpty) })
      // Not for larger lists, because the memory of this difference grows with the square of the changes.
      if old.count <= 10_000 {
        flat.append(seconds { precondition(!ids.1.difference(from: ids.0).isEmpty) })
      }
    }
    func line(_ name: String, _ times: [Double]) {
      report(
        "  \(name)", "\(milliseconds(median(times))), \(ratio(medianRatio(times, to: diffable), 1)) ×")
    }
    report(
      "unrelated snapshots of \(old.count)",
      "\(milliseconds(median(diffable))), \(microseconds(median(diffable) / Double(old.count))) an item,"
        + " 20 % of them different or moved")
    line("building the two", making)
    line("lists of two stores instead", versions)
    if !flat.isEmpty { line("for comparison: difference(from:)", flat) }
  }

  /// The rows as the sections of a snapshot of ids.
  private static func inSections(_ rows: [Incident]) -> [(id: Int, items: [Int])] {
    var sections: [(id: Int, items: [Int])] = []
    for row in rows.sorted(by: SortedArray.precedes) {
      if sections.last?.id != row.product { sections.append((row.product, [])) }
      sections[sections.count - 1].items.append(row.number)
    }
    return sections
  }
}
