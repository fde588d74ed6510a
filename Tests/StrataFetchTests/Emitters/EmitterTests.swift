// The forms of random batches for list views, and the laws that they obey.

internal import Foundation
internal import StrataLists
@testable internal import StrataViews
internal import StrataTesting
internal import Testing

@Suite struct EmitterTests {
  #if DEBUG
    private static let usualCount = 1_500
  #else
    private static let usualCount = 5_000
  #endif
  /// The number of pairs of lists for each test. The environment variable `RUNS` sets another one.
  static let runCount = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? usualCount

  private func forEachPair(_ name: String = #function, _ body: (ListPair) throws -> Void) async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed(name))
    var classes = ListPairClasses()
    for _ in 0..<Self.runCount {
      // Lets other tests run.
      await Task.yield()
      let pair = ListPair(&random)
      classes.add(pair.changes)
      try body(pair)
    }
    print(classes)
    #expect(classes.missing == [])
  }

  private func checks(_ pair: ListPair) -> EmitterChecks<Int, Int> {
    EmitterChecks(old: pair.old, new: pair.new, changes: pair.changes)
  }

  @Test
  func `R24 Taking out what is deleted, moved or updated and putting in the rest makes the new list`()
    async throws
  {
    try await forEachPair { pair in
      try #require(reproduce(pair) == pair.newSnapshot.sections.map { Section(id: $0.id, items: $0.items) })
    }
  }

  @Test
  func `R25 Deletions and reloads count in the old list, insertions and reconfigured cells in the new one`()
    async throws
  {
    try await forEachPair { pair in
      for style in [ListContentStyle.reconfigure, .reload] {
        let batch = pair.changes.batch(style)
        let changed = Set(pair.changes.updates.map(\.id) + pair.changes.moves.filter(\.isChanged).map(\.id))
        for place in batch.reloads { try #require(changed.contains(pair.old[place].id)) }
        for place in batch.reconfigures { try #require(changed.contains(pair.new[place].id)) }
        for move in batch.moves { try #require(pair.old[move.from].id == pair.new[move.to].id) }
        for move in batch.sectionMoves {
          try #require(pair.old.sections[move.from].id == pair.new.sections[move.to].id)
        }
        let kept = Set(pair.new.sections.map(\.id))
        for place in batch.sectionDeletions
        where !batch.sectionInsertions.contains(where: {
          pair.new.sections[$0].id == pair.old.sections[place].id
        }) { try #require(!kept.contains(pair.old.sections[place].id)) }
      }
    }
  }

  @Test
  func `R26 No place is taken out twice or put in twice`() async throws {
    try await forEachPair { pair in
      let batches =
        try [pair.changes.batch(), pair.changes.batch(.reload)]
        + pair.changes.staged(from: pair.oldSnapshot).map(\.batch)
      for batch in batches {
        let from = batch.deletions + batch.moves.map(\.from) + batch.reloads
        try #require(Set(from).count == from.count)
        let to = batch.insertions + batch.moves.map(\.to)
        try #require(Set(to).count == to.count)
        let sections = batch.sectionDeletions + batch.sectionMoves.map(\.from)
        try #require(Set(sections).count == sections.count)
      }
    }
  }

  @Test
  func `R29 A section holds what it held, less what left it, and what came`() async throws {
    try await forEachPair { pair in
      let batch = pair.changes.batch(.reload)
      let deleted = Set(batch.sectionDeletions)
      let inserted = Set(batch.sectionInsertions)
      for (to, section) in pair.new.sections.enumerated() where !inserted.contains(to) {
        let from = try #require(pair.old.sections.firstIndex { $0.id == section.id })
        let came = (batch.insertions + batch.moves.map(\.to)).count { $0.section == to }
        let left = (batch.deletions + batch.moves.map(\.from)).count { $0.section == from }
        try #require(section.cells.count == pair.old.sections[from].cells.count + came - left)
      }
      let lost = deleted.reduce(0) { $0 + pair.old.sections[$1].cells.count }
      let won = inserted.reduce(0) { $0 + pair.new.sections[$1].cells.count }
      try #require(
        pair.newSnapshot.numberOfItems == pair.oldSnapshot.numberOfItems + batch.insertions.count
          - batch.deletions.count - lost + won)
    }
  }

  @Test
  func `R30 Deletions descend and everything else ascends`() async throws {
    func isAscending<Place: Comparable>(_ places: [Place]) -> Bool {
      zip(places, places.dropFirst()).allSatisfy { $0 < $1 }
    }
    try await forEachPair { pair in
      let batches =
        try [pair.changes.batch(), pair.changes.batch(.reload)]
        + pair.changes.staged(from: pair.oldSnapshot, .reload).map(\.batch)
      for batch in batches {
        try #require(
          isAscending(batch.deletions.reversed()) && isAscending(batch.sectionDeletions.reversed()))
        try #require(isAscending(batch.insertions) && isAscending(batch.sectionInsertions))
        try #require(isAscending(batch.moves.map(\.to)) && isAscending(batch.sectionMoves.map(\.to)))
        try #require(isAscending(batch.reloads) && isAscending(batch.reconfigures))
        try #require(isAscending(batch.sectionUpdates) && isAscending(batch.sectionReloads))
      }
    }
  }

  @Test
  func `R39 Every stage is a legal batch, and the last one's data are the new list`() async throws {
    try await forEachPair { pair in
      try checks(pair).checkStages(.reconfigure)
      try checks(pair).checkStages(.reload)
    }
  }

  @Test
  func `R40 One legal batch shows every change`() async throws {
    try await forEachPair { pair in
      try checks(pair).checkBatch(.reconfigure)
      try checks(pair).checkBatch(.reload)
    }
  }

  @Test
  func `R41 Each step's places are those that the steps before it left`() async throws {
    try await forEachPair { pair in try checks(pair).checkSteps() }
  }

  @Test
  func `R42 The old items with the difference applied are the new ones, and moves are pairs`() async throws {
    try await forEachPair { pair in try checks(pair).checkDifference() }
  }

  // MARK: The reproduction rule

  private struct Section: Equatable {
    var id: Int
    var items: [Int]
  }

  /// Removes the items that are deleted, moved or updated, descending, and inserts the items that are inserted, moved
  /// or updated, ascending. Does the same with sections in between.
  private func reproduce(_ pair: ListPair) -> [Section] {
    let changes = pair.changes
    var sections = pair.oldSnapshot.sections.map { Section(id: $0.id, items: $0.items) }
    let gone = changes.deletions.map(\.from) + changes.moves.map(\.from) + changes.updates.map(\.from)
    for place in gone.sorted(by: >) { sections[place.section].items.remove(at: place.item) }
    let moved = Dictionary(uniqueKeysWithValues: changes.sectionMoves.map { ($0.to, sections[$0.from]) })
    let left = changes.sectionDeletions.map(\.from) + changes.sectionMoves.map(\.from)
    for place in left.sorted(by: >) { sections.remove(at: place) }
    let inserted = Dictionary(uniqueKeysWithValues: changes.sectionInsertions.map { ($0.to, $0.section) })
    for place in (Array(moved.keys) + Array(inserted.keys)).sorted() {
      sections.insert(moved[place] ?? Section(id: inserted[place]!, items: []), at: place)
    }
    let put =
      changes.insertions.map { ($0.to, $0.id) } + changes.moves.map { ($0.to, $0.id) }
      + changes.updates.map { ($0.to, $0.id) }
    for (place, id) in put.sorted(by: { $0.0 < $1.0 }) {
      sections[place.section].items.insert(id, at: place.item)
    }
    return sections
  }
}
