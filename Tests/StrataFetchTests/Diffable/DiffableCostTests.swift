// The cost of snapshots, counted and not timed: hashes, and shared memory.

internal import StrataBase
@testable internal import StrataLists
@testable internal import StrataViews
internal import Testing

/// An id that counts how often it is hashed.
private struct CountedID: Hashable, Sendable {
  final class Counter: Sendable {
    private let number = Lock(0)
    func count() { number.withLock { $0 += 1 } }
    /// The number of hashes since the last call.
    func take() -> Int {
      number.withLock { number in
        defer { number = 0 }
        return number
      }
    }
  }

  var number: Int
  let counter: Counter

  static func == (a: Self, b: Self) -> Bool { a.number == b.number }

  func hash(into hasher: inout Hasher) {
    counter.count()
    hasher.combine(number)
  }
}

@Suite struct DiffableCostTests {
  private let counter = CountedID.Counter()

  private func ids(_ numbers: Range<Int>) -> [CountedID] {
    numbers.map { CountedID(number: $0, counter: counter) }
  }

  @Test
  func `R15 A snapshot is made with one hash per item, or with none until something is looked up`() {
    let items = ids(0..<1_000)
    var snapshot = DiffableSnapshot<CountedID, Int>()
    snapshot.appendSections([0, 1])
    snapshot.appendItems(items, toSection: 0)
    #expect(counter.take() == 1_000)
    _ = DiffableSnapshot(sections: [(0, items)])
    #expect(counter.take() == 1_000)
    let unchecked = DiffableSnapshot<CountedID, Int>(unchecked: [.init(id: 0, items: items)])
    let copy = unchecked
    #expect(unchecked.itemIdentifiers(inSection: 0).count == 1_000)
    #expect(counter.take() == 0)
    #expect(unchecked.indexOfItem(items[7]) == 7)
    #expect(counter.take() == 1_001)
    #expect(copy.indexOfItem(items[8]) == 8)
    #expect(copy.sectionIdentifier(containingItem: items[9]) == 0)
    #expect(copy.contains(items[0]))
    #expect(counter.take() == 3)
  }

  @Test
  func
    `R15 After a change, lookups cost one hash each, and at most one of all items of the section in between`()
  {
    let items = ids(0..<1_000)
    var snapshot = DiffableSnapshot(sections: [(0, items)])
    snapshot.insertItems(ids(2_000..<2_500), beforeItem: items[0])
    _ = counter.take()
    #expect(snapshot.indexOfItem(items[999]) == 1_499)
    #expect(counter.take() <= 1_502)
    for number in 0..<100 { #expect(snapshot.indexOfItem(items[number]) == number + 500) }
    #expect(counter.take() == 100)
  }

  @Test
  func `R15 The items of a section are not copied, neither to be read nor by a change of another section`() {
    let snapshot = DiffableSnapshot(sections: [(0, ids(0..<100)), (1, ids(100..<200))])
    func address(_ snapshot: DiffableSnapshot<CountedID, Int>, _ section: Int) -> UnsafePointer<CountedID>? {
      snapshot.itemIdentifiers(inSection: section).withUnsafeBufferPointer { $0.baseAddress }
    }
    #expect(address(snapshot, 0) == address(snapshot, 0))
    var copy = snapshot
    copy.deleteItems(ids(0..<1))
    copy.appendSections([2])
    copy.moveSection(1, beforeSection: 0)
    copy.appendItems(ids(300..<301), toSection: 0)
    #expect(address(copy, 1) == address(snapshot, 1))
    #expect(address(copy, 0) != address(snapshot, 0))
    // Memory that is not shared is changed in place.
    copy.deleteItems(ids(1..<50))
    let before = address(copy, 0)
    copy.deleteItems(ids(50..<60))
    #expect(address(copy, 0) == before)
    copy.insertItems(ids(301..<310), beforeItem: ids(61..<62)[0])
    #expect(address(copy, 0) == before)
    // It grows geometrically, as arrays do, and not by one element at a time.
    var (last, moveCount) = (address(copy, 0), 0)
    for number in 400..<900 {
      copy.appendItems(ids(number..<number + 1), toSection: 0)
      if address(copy, 0) != last { moveCount += 1 }
      last = address(copy, 0)
    }
    #expect(moveCount < 12)
  }

  @Test
  func `R15 Changes that are applied hash what they name, and not the list`() throws {
    var shown = DiffableSnapshot(sections: (0..<10).map { ($0, ids($0 * 100..<$0 * 100 + 100)) })
    _ = counter.take()
    for number in 0..<20 {
      var changes = ListChanges<CountedID, Int>()
      changes.insertions = [
        .init(id: ids(2_000 + number..<2_001 + number)[0], to: ListIndex(section: number % 10, item: 3))
      ]
      if number % 2 == 0 {
        try shown.apply(changes)
      } else {
        // The data of the last stage know the index, too.
        let stages = try changes.staged(from: shown)
        shown = try #require(stages.last?.data)
        #expect(stages.count == 1)
      }
      #expect(counter.take() <= 6)
    }
    // The copy rebuilds its index at its next lookup.
    #expect(shown.numberOfItems == 1_020 && shown.contains(ids(2_019..<2_020)[0]))
  }

  @Test
  func `R15 The changes between copies hash nothing, and of sections that are shared neither`() {
    let old = DiffableSnapshot<CountedID, Int>(
      unchecked: [.init(id: 0, items: ids(0..<100)), .init(id: 1, items: ids(100..<200))])
    #expect(ListChanges(from: old, to: old).isEmpty)
    var contents = old.sections
    contents.swapAt(0, 1)
    var changes = ListChanges(from: old, to: .init(unchecked: contents))
    #expect(changes.count == 1 && changes.sectionMoves.count == 1)
    #expect(counter.take() == 0)
    // The common prefix and suffix of two sections are compared; the rest is hashed once on each side.
    contents[0].items.remove(at: 50)
    contents[0].items.insert(contentsOf: ids(900..<903), at: 50)
    changes = ListChanges(from: old, to: .init(unchecked: contents))
    #expect(changes.deletions.count == 1 && changes.insertions.count == 3 && changes.moves.isEmpty)
    #expect(counter.take() == 4)
  }
}
