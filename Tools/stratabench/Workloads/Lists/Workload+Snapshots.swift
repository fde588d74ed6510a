// An array of identifiers made into a snapshot, and shown after another one in stages.

internal import Foundation
internal import StrataLists
internal import StrataSimulation
internal import StrataViews

extension Workload {
  private typealias Snapshot = DiffableSnapshot<UUID, Int>

  /// A list of UUIDs in one section; the next one has some deleted, some inserted and some moved, or all shuffled.
  static func snapshots(_ bench: Bench) throws {
    for (size, edited, moved) in [(5_000, 1_000, 200), (100_000, 10_000, 2_000)] {
      var random = SeededGenerator(seed: UInt64(size))
      let old = (0..<size).map { _ in uuid(&random) }
      try snapshots("\(size) UUIDs", old, edit(old, edited, moved, &random), rounds: bench.rounds)
      guard size > 10_000 else { continue }
      try snapshots("\(size) UUIDs, shuffled", old, old.shuffled(using: &random), rounds: bench.rounds)
    }
  }

  private static func snapshots(_ name: String, _ old: [UUID], _ new: [UUID], rounds: Int) throws {
    let shown = snapshot(old)
    var making: [Double] = []
    var finding: [Double] = []
    var staging: [Double] = []
    var all: [Double] = []
    var sets: [Double] = []
    for _ in 0..<rounds {
      var next: Snapshot?
      making.append(seconds { next = snapshot(new) })
      guard let next else { continue }
      var changes: ListChanges<UUID, Int>?
      finding.append(seconds { changes = ListChanges(from: shown, to: next) })
      guard let changes else { continue }
      staging.append(
        try seconds {
          let stages = try changes.staged(from: shown)
          precondition(stages.last?.data == next)
        })
      all.append((making.last ?? 0) + (finding.last ?? 0) + (staging.last ?? 0))
      sets.append(seconds { precondition(Set(new).count == new.count) })
    }
    func line(_ name: String, _ times: [Double]) {
      report(
        "  \(name)", "\(milliseconds(median(times))), \(ratio(medianRatio(times, to: sets), 2)) of a Set")
    }
    line("\(name): array to stages", all)
    line("the snapshot", making)
    line("its difference", finding)
    line("the stages", staging)
  }

  private static func snapshot(_ items: [UUID]) -> Snapshot {
    var snapshot = Snapshot()
    snapshot.appendSections([0])
    snapshot.appendItems(items)
    return snapshot
  }

  private static func edit(
    _ old: [UUID], _ edited: Int, _ moved: Int, _ random: inout SeededGenerator
  ) -> [UUID] {
    var new = old
    for _ in 0..<edited { new.remove(at: Int.random(in: new.indices, using: &random)) }
    for _ in 0..<edited { new.insert(uuid(&random), at: Int.random(in: 0...new.count, using: &random)) }
    for _ in 0..<moved {
      let item = new.remove(at: Int.random(in: new.indices, using: &random))
      new.insert(item, at: Int.random(in: 0...new.count, using: &random))
    }
    return new
  }

  private static func uuid(_ random: inout SeededGenerator) -> UUID {
    let (a, b) = (random.next(), random.next())
    return withUnsafeBytes(of: (a, b)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}
