// Named cases of the emitters, each as small as possible.

@testable internal import StrataLists
@testable internal import StrataViews
internal import StrataTesting
internal import Testing

@Suite struct EmitterCaseTests {
  typealias Changes = ListChanges<Int, Int>
  typealias Stage = ListStage<Int, Int>

  /// Sections 1 and 2 stay, 8 is deleted or 9 inserted.
  private let out = (
    old: ListPair.data([(1, [10]), (8, [80, 81])]), new: ListPair.data([(1, [10, 81])])
  )

  private func index(_ section: Int, _ item: Int) -> ListIndex { ListIndex(section: section, item: item) }

  private func check(_ old: ListPair.Data, _ new: ListPair.Data, _ changes: Changes) throws {
    try EmitterChecks(old: old, new: new, changes: changes).checkAll()
  }

  private func stages(_ old: ListPair.Data, _ changes: Changes) throws -> [Stage] {
    try changes.staged(from: old.snapshot)
  }

  @Test
  func `R28 A move out of a deleted section is an insertion`() throws {
    var changes = Changes()
    changes.deletions = [.init(id: 80, from: index(1, 0))]
    changes.sectionDeletions = [.init(section: 8, from: 1)]
    changes.moves = [.init(id: 81, from: index(1, 1), to: index(0, 1), isChanged: true)]
    try check(out.old, out.new, changes)
    let batch = changes.batch()
    #expect(batch.sectionDeletions == [1] && batch.insertions == [index(0, 1)])
    #expect(batch.deletions.isEmpty && batch.moves.isEmpty && batch.reconfigures.isEmpty)
    #expect(try stages(out.old, changes).map(\.kind) == [.deletions, .insertions])
  }

  @Test
  func `R28 A move into an inserted section is a deletion`() throws {
    var changes = Changes()
    changes.sectionInsertions = [.init(section: 8, to: 1, count: 2)]
    changes.insertions = [.init(id: 80, to: index(1, 0))]
    changes.moves = [.init(id: 81, from: index(0, 1), to: index(1, 1), isChanged: false)]
    try check(out.new, out.old, changes)
    let batch = changes.batch()
    #expect(batch.sectionInsertions == [1] && batch.deletions == [index(0, 1)])
    #expect(batch.insertions.isEmpty && batch.moves.isEmpty)
    let stages = try stages(out.new, changes)
    #expect(stages.map(\.kind) == [.deletions, .sections])
    #expect(stages[0].data.itemIdentifiers == [10])
  }

  @Test
  func `R28 A move out of a deleted section into an inserted one is nothing by itself`() throws {
    let old = ListPair.data([(1, [10]), (8, [80])])
    let new = ListPair.data([(9, [80]), (1, [10])])
    var changes = Changes()
    changes.sectionDeletions = [.init(section: 8, from: 1)]
    changes.sectionInsertions = [.init(section: 9, to: 0, count: 1)]
    changes.moves = [.init(id: 80, from: index(1, 0), to: index(0, 0), isChanged: true)]
    try check(old, new, changes)
    var expected = ListBatch()
    expected.sectionDeletions = [1]
    expected.sectionInsertions = [0]
    #expect(changes.batch() == expected)
  }

  @Test
  func `R32 A row that moves while a section shifts keeps its move, though its numbers stay the same`() throws
  {
    let old = ListPair.data([(1, [10]), (2, [20])])
    let new = ListPair.data([(3, [10]), (1, []), (2, [20])])
    var changes = Changes()
    changes.sectionInsertions = [.init(section: 3, to: 0, count: 1)]
    changes.moves = [.init(id: 10, from: index(0, 0), to: index(0, 0), isChanged: false)]
    try check(old, new, changes)
    #expect(changes.batch().deletions == [index(0, 0)])

    // [0, 3] → [0, 3] with an insertion at the front: relative to the other rows, the row moves before 12.
    let row = ListPair.data([(1, [10, 11, 12, 13])])
    let shifted = ListPair.data([(1, [9, 10, 11, 13, 12])])
    var second = Changes()
    second.insertions = [.init(id: 9, to: index(0, 0))]
    second.moves = [.init(id: 13, from: index(0, 3), to: index(0, 3), isChanged: false)]
    try check(row, shifted, second)
    #expect(second.batch().moves == [.init(from: index(0, 3), to: index(0, 3))])
    #expect(
      second.steps == [
        .insertItem(9, at: index(0, 0)),
        .moveItem(13, from: index(0, 4), to: index(0, 3), isChanged: false),
      ])
  }

  @Test
  func `R39 Sections that a stage does not touch share their memory with the stage before`() throws {
    let old = ListPair.data([(1, Array(100..<200)), (2, [20, 21]), (3, Array(300..<400))])
    var changes = Changes()
    changes.sectionMoves = [.init(section: 3, from: 2, to: 0)]
    changes.deletions = [.init(id: 20, from: index(1, 0))]
    changes.insertions = [.init(id: 22, to: index(2, 1))]
    let oldSnapshot = old.snapshot
    let stages = try changes.staged(from: oldSnapshot)
    #expect(stages.map(\.kind) == [.deletions, .sections, .insertions])
    func address(_ snapshot: DiffableSnapshot<Int, Int>, _ section: Int) -> UnsafePointer<Int>? {
      snapshot.sections.first { $0.id == section }?.items.withUnsafeBufferPointer(\.baseAddress)
    }
    for section in [1, 3] {
      #expect(address(stages[0].data, section) == address(oldSnapshot, section))
      #expect(address(stages[1].data, section) == address(oldSnapshot, section))
    }
    #expect(address(stages[1].data, 2) == address(stages[0].data, 2))
    let new = ListPair.data([(3, Array(300..<400)), (1, Array(100..<200)), (2, [21, 22])])
    #expect(stages[2].data == new.snapshot)
  }

  @Test
  func `R40 A section that moves is deleted and inserted only where something happens in it`() throws {
    let old = ListPair.data([(1, [10]), (2, [20])])
    var changes = Changes()
    changes.sectionMoves = [.init(section: 2, from: 1, to: 0)]
    try check(old, ListPair.data([(2, [20]), (1, [10])]), changes)
    #expect(changes.batch().sectionMoves == [.init(from: 1, to: 0)])

    changes.insertions = [.init(id: 21, to: index(0, 1))]
    let new = ListPair.data([(2, [20, 21]), (1, [10])])
    try check(old, new, changes)
    var expected = ListBatch()
    expected.sectionDeletions = [1]
    expected.sectionInsertions = [0]
    #expect(changes.batch() == expected)
    #expect(try stages(old, changes).map(\.kind) == [.sections, .insertions])
  }

  @Test
  func `R40 A reload where rows move is a deletion and an insertion`() throws {
    // UIKit would put the reloaded row back at index 0, to which 12 moves.
    let old = ListPair.data([(1, [10, 11, 12])])
    var new = ListPair.data([(1, [12, 10, 11])])
    new.sections[0].cells[1].version = 1
    var changes = Changes()
    changes.moves = [.init(id: 12, from: index(0, 2), to: index(0, 0), isChanged: false)]
    changes.updates = [.init(id: 10, from: index(0, 0), to: index(0, 1))]
    try check(old, new, changes)
    let batch = changes.batch(.reload)
    #expect(batch.reloads.isEmpty && batch.deletions == [index(0, 0)] && batch.insertions == [index(0, 1)])
    var view = MockListView(data: old)
    let error = #expect(throws: MockListError.self) {
      try view.performBatchUpdates { updates in
        updates.data = new
        updates.batch.moves = [.init(from: index(0, 2), to: index(0, 0))]
        updates.batch.reloads = [index(0, 0)]
      }
    }
    #expect(
      error?.message.hasPrefix("attempt to perform an insert and a move to the same index path") == true)
  }

  @Test
  func `R40 A moved row whose content changed moves, and is reconfigured at its new place`() throws {
    let old = ListPair.data([(1, [10, 11, 12])])
    var new = ListPair.data([(1, [12, 10, 11])])
    new.sections[0].cells[0].version = 1
    var changes = Changes()
    changes.moves = [.init(id: 12, from: index(0, 2), to: index(0, 0), isChanged: true)]
    try check(old, new, changes)
    let batch = changes.batch(.reload)
    #expect(batch.moves == [.init(from: index(0, 2), to: index(0, 0))])
    #expect(batch.reconfigures == [index(0, 0)])
    let stages = try stages(old, changes)
    #expect(stages.map(\.kind) == [.updates, .insertions])
    #expect(stages[0].batch.reconfigures == [index(0, 2)])
  }

  @Test
  func `R41 Removals come first, additions next, then what stays and changes`() throws {
    let old = ListPair.data([(1, [10, 11]), (2, [20, 21])])
    var new = ListPair.data([(3, [30]), (2, [22, 21, 11])])
    new.sections[1].cells[2].version = 1
    var changes = Changes()
    changes.deletions = [.init(id: 20, from: index(1, 0)), .init(id: 10, from: index(0, 0))]
    changes.sectionDeletions = [.init(section: 1, from: 0)]
    changes.sectionInsertions = [.init(section: 3, to: 0, count: 1)]
    changes.insertions = [.init(id: 30, to: index(0, 0)), .init(id: 22, to: index(1, 0))]
    changes.moves = [.init(id: 11, from: index(0, 1), to: index(1, 2), isChanged: true)]
    try check(old, new, changes)
    #expect(
      changes.steps == [
        .removeItem(20, at: index(1, 0)), .removeItem(11, at: index(0, 1)), .removeItem(10, at: index(0, 0)),
        .removeSection(1, at: 0), .insertSection(3, at: 0), .insertItem(30, at: index(0, 0)),
        .insertItem(22, at: index(1, 0)), .insertItem(11, at: index(1, 2)),
      ])
  }

  @Test
  func `R41 A thousand moves in a million rows are found without looking at the rows`() throws {
    // Every thousandth row moves to the front, beginning with the last one.
    var changes = Changes()
    for number in 0..<1_000 {
      changes.moves.append(
        .init(id: number, from: index(0, 999_999 - number * 1_000), to: index(0, number), isChanged: false))
    }
    let steps = changes.steps
    #expect(steps.count == 1_000)
    for (number, step) in steps.enumerated() {
      // The rows that already moved to the front came from after this row, so they shifted it.
      let from = 999_999 - number * 1_000 + number
      #expect(step == .moveItem(number, from: index(0, from), to: index(0, number), isChanged: false))
    }
  }

  @Test
  func `R42 An item that moves is removed and inserted, and each names the other`() throws {
    var changes = ListChanges<Int, Unsectioned>()
    changes.deletions = [.init(id: 9, from: index(0, 3))]
    changes.moves = [
      .init(id: 20, from: index(0, 1), to: index(0, 0), isChanged: false),
      .init(id: 21, from: index(0, 2), to: index(0, 1), isChanged: true),
    ]
    changes.insertions = [.init(id: 7, to: index(0, 3))]
    #expect(
      Array(changes.difference) == [
        .remove(offset: 3, element: 9, associatedWith: nil),
        .remove(offset: 2, element: 21, associatedWith: 1),
        .remove(offset: 1, element: 20, associatedWith: 0),
        .insert(offset: 0, element: 20, associatedWith: 1),
        .insert(offset: 1, element: 21, associatedWith: 2),
        .insert(offset: 3, element: 7, associatedWith: nil),
      ])
    #expect([10, 20, 21, 9].applying(changes.difference) == [20, 21, 10, 7])
  }

  @Test
  func `R43 The cost of a batch is an estimate for a view, and the batch is complete`() throws {
    var random = SeededGenerator(seed: 43)
    let pair = ListPair(old: ListPair.data([(1, [])]), new: ListPair.data([(1, Array(0..<20))]), &random)
    #expect(pair.changes.count == 20 && pair.changes.estimatedCost == 20)
    try check(pair.old, pair.new, pair.changes)
    var moves = Changes()
    moves.moves = [.init(id: 1, from: index(0, 1), to: index(0, 0), isChanged: true)]
    #expect(moves.count == 1 && moves.estimatedCost == 2)
  }
}
