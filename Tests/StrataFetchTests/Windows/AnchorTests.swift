// The anchor of a screen: the item that keeps its position while the list changes.

internal import StrataEvents
internal import StrataFetch
@testable internal import StrataLists
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct AnchorTests {
  @Test
  func `R51 An anchor that is still shown is followed`() async throws {
    let fixture = WindowFixture()
    try await fixture.put(10..<20)
    let list = fixture.list(WindowFixture.flat)
    var updates = list.updates.makeAsyncIterator()
    let first = try #require(try await updates.next())
    #expect(first.place(of: 15)?.index == ListIndex(section: 0, item: 5))
    try await fixture.put(0..<7)
    let update = try #require(try await updates.next())
    let place = try #require(update.place(of: 15))
    #expect(place.index == ListIndex(section: 0, item: 12) && place.distance == 0)
  }

  @Test
  func
    `R51 The nearest neighbour that is left stands in for an anchor that is gone, the one behind it first`()
    async throws
  {
    let fixture = WindowFixture()
    try await fixture.put(0..<10) { $0 < 5 ? "ann" : "bob" }
    let list = fixture.list(WindowFixture.sectioned)
    let old = try await list.performFetch()
    func place(_ id: Int, reach: Int = 100) async throws -> ListAnchorPlace? {
      try await list.performFetch().place(of: id, since: old, reach: reach)
    }
    try await fixture.chores.delete(4)
    // The next item is in the next section.
    var found = try #require(try await place(4))
    #expect(found.distance == 1)
    #expect(found.index == ListIndex(section: 1, item: 0))
    try await fixture.delete([5, 6])
    found = try #require(try await place(4))
    #expect(found.distance == -1 && found.index == ListIndex(section: 0, item: 3))
    // A whole section is deleted, and the search ends within its reach.
    try await fixture.delete([7, 8, 9])
    found = try #require(try await place(9, reach: 6))
    #expect(found.distance == -6 && found.index == ListIndex(section: 0, item: 3))
    #expect(try await place(9, reach: 5) == nil)
    #expect(try await place(99) == nil)
    try await fixture.delete([0, 1, 2, 3])
    #expect(try await place(2) == nil)
  }

  @Test
  func `R51 An anchor that is pushed out of its window is replaced by what is left of it there`() async throws
  {
    let fixture = WindowFixture()
    try await fixture.put(10..<20)
    let list = fixture.list(WindowFixture.flat.windowed(to: .first(5)))
    let old = try await list.performFetch()
    try await fixture.put(0..<2)
    let place = try await list.performFetch().place(of: 14, since: old)
    #expect(place?.distance == -2 && place?.index == ListIndex(section: 0, item: 4))
  }

  @Test
  func `R51 Between any two lists the anchor's place is the one that a look at everything finds`()
    async throws
  {
    let fixture = WindowFixture()
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let list = fixture.list(WindowFixture.sectioned.windowed(to: .first(14, after: 2)))
    var old = try await list.performFetch()
    for _ in 0..<30 {
      try await fixture.delete((0..<30).filter { _ in Int.random(in: 0..<3, using: &random) > 0 })
      try await fixture.put((0..<30).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }) {
        "\($0 % 4)"
      }
      let new = try await list.performFetch()
      let ids = old.itemIdentifiers
      for (offset, id) in ids.enumerated() {
        let steps = [0] + (1...3).flatMap { [$0, -$0] }
        let distance = steps.first { step in
          ids.indices.contains(offset + step) && new.contains(ids[offset + step])
        }
        let place = new.place(of: id, since: old, reach: 3)
        #expect(place?.distance == distance)
        #expect(place?.index == distance.flatMap { new.index(of: ids[offset + $0]) })
      }
      old = new
    }
  }

  @Test
  func `R51 The item nearest to a row that is not there is in its section, or after it, or the last`()
    async throws
  {
    let fixture = WindowFixture()
    try await fixture.put(0..<12) { ["b", "d", "f", "h"][$0 % 4] }
    let list = fixture.list(WindowFixture.sectioned.windowed(to: .first(6, after: 3)))
    let snapshot = try await list.performFetch()
    #expect(snapshot.sectionIdentifiers == ["d", "f"])
    let rows: [(section: String?, row: Int, nearest: ListIndex)] = [
      ("d", 1, ListIndex(section: 0, item: 1)), ("d", 7, ListIndex(section: 0, item: 2)),
      ("d", -1, ListIndex(section: 0, item: 0)), ("e", 0, ListIndex(section: 1, item: 0)),
      // Before the window, after it, and before everything.
      ("b", 2, ListIndex(section: 0, item: 0)), ("h", 0, ListIndex(section: 1, item: 2)),
      (nil, 0, ListIndex(section: 0, item: 0)),
    ]
    for (section, row, nearest) in rows {
      #expect(snapshot.nearestItem(toRow: row, inSection: section) == nearest, "\(section ?? "nil") \(row)")
    }
    #expect(snapshot.nearestItem(to: ListIndex(section: 5, item: 0)) == ListIndex(section: 1, item: 2))
    #expect(snapshot.nearestItem(to: ListIndex(section: -1, item: 3)) == ListIndex(section: 0, item: 0))
    let descending = try await list.apply(WindowFixture.sectioned.sectionsOrdered(by: .keyDescending))
    #expect(descending.nearestItem(toRow: 0, inSection: "c") == ListIndex(section: 3, item: 0))
    let counted = try await list.apply(WindowFixture.sectioned.sectionsOrdered(by: .count))
    #expect(counted.nearestItem(toRow: 0, inSection: "e") == nil)
    let empty = try await list.setWindow(.first(0))
    #expect(empty.nearestItem(toRow: 0, inSection: "d") == nil)
  }
}
