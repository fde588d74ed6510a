// The mock list view throws UIKit's error for every illegal batch, and shows what a legal batch omits.

internal import StrataLists
internal import StrataTesting
internal import StrataViews
internal import Testing

@Suite struct MockListViewTests {
  typealias View = MockListView<Int, Int>

  /// An illegal batch and the exception it ends in.
  struct Illegal: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var kind: MockListError.Kind
    var message: String
    /// The counts after the batch; before it they are 2, 3 and 1.
    var after = [2, 3, 1]
    var make: @Sendable (inout ListBatch) -> Void
  }

  private static func path(_ section: Int, _ item: Int) -> String {
    "<NSIndexPath: 0x0> {length = 2, path = \(section) - \(item)}"
  }

  private static func index(_ section: Int, _ item: Int) -> ListIndex {
    ListIndex(section: section, item: item)
  }

  private static func data(_ counts: [Int]) -> View.Data {
    ListPair.data(counts.enumerated().map { (id: $0, items: Array(($0 * 100)..<($0 * 100 + $1))) })
  }

  static let illegal: [Illegal] = [
    .init(
      testDescription: "an item too many", kind: .invalidCount,
      message: "Invalid update: invalid number of items in section 0. The number of items contained in an "
        + "existing section after the update (3) must be equal to the number of items contained in that section "
        + "before the update (2), plus or minus the number of items inserted or deleted from that section (0 "
        + "inserted, 1 deleted) and plus or minus the number of items moved into or out of that section (1 moved "
        + "in, 0 moved out).", after: [3, 2, 1]
    ) {
      $0.deletions = [index(0, 1)]
      $0.moves = [.init(from: index(1, 0), to: index(0, 1))]
    },
    .init(
      testDescription: "a section too many", kind: .invalidCount,
      message:
        "Invalid update: invalid number of sections. The number of sections contained in the collection "
        + "view after the update (4) must be equal to the number of sections contained in the collection view "
        + "before the update (3), plus or minus the number of sections inserted or deleted (0 inserted, 1 "
        + "deleted).",
      after: [2, 3, 1, 0]
    ) { $0.sectionDeletions = [1] },
    .init(
      testDescription: "deleting past the end", kind: .outOfBounds,
      message: "attempt to delete item 2 from section 0 which only contains 2 items before the update"
    ) { $0.deletions = [index(0, 2)] },
    .init(
      testDescription: "deleting in a section that is not there", kind: .outOfBounds,
      message: "attempt to delete item 0 from section 3, but there are only 3 sections before the update"
    ) { $0.deletions = [index(3, 0)] },
    .init(
      testDescription: "inserting past the end", kind: .outOfBounds,
      message:
        "attempt to insert item 3 into section 0, but there are only 2 items in section 0 after the update"
    ) { $0.insertions = [index(0, 3)] },
    .init(
      testDescription: "inserting into a section that is not there", kind: .outOfBounds,
      message: "attempt to insert item 0 into section 7, but there are only 3 sections after the update"
    ) { $0.insertions = [index(7, 0)] },
    .init(
      testDescription: "deleting a section that is not there", kind: .outOfBounds,
      message: "attempt to delete section 3, but there are only 3 sections before the update"
    ) { $0.sectionDeletions = [3] },
    .init(
      testDescription: "inserting a section that is not there", kind: .outOfBounds,
      message: "attempt to insert section 3 but there are only 3 sections after the update"
    ) { $0.sectionInsertions = [3] },
    .init(
      testDescription: "moving a section that is not there", kind: .outOfBounds,
      message: "attempt to move section 3, but there are only 3 sections before the update"
    ) { $0.sectionMoves = [.init(from: 3, to: 0)] },
    .init(
      testDescription: "moving a section to where there is none", kind: .outOfBounds,
      message: "attempt to move section 0 to section 3, but there are only 3 sections after the update"
    ) { $0.sectionMoves = [.init(from: 0, to: 3)] },
    .init(
      testDescription: "moving an item that is not there", kind: .outOfBounds,
      message: "attempt to move index path (\(path(0, 2))) that does not exist - there are only 2 items in "
        + "section 0 before the update"
    ) { $0.moves = [.init(from: index(0, 2), to: index(0, 0))] },
    .init(
      testDescription: "moving an item from a section that is not there", kind: .outOfBounds,
      message:
        "attempt to move index path (\(path(3, 0))) from a section that does not exist - there are only 3 "
        + "sections before the update"
    ) { $0.moves = [.init(from: index(3, 0), to: index(0, 0))] },
    .init(
      testDescription: "moving an item to where there is none", kind: .outOfBounds,
      message:
        "attempt to move index path (\(path(0, 0))) to index path (\(path(0, 2))) that does not exist - "
        + "there are only 2 items in section 0 after the update"
    ) { $0.moves = [.init(from: index(0, 0), to: index(0, 2))] },
    .init(
      testDescription: "moving an item into a section that is not there", kind: .outOfBounds,
      message:
        "attempt to move index path (\(path(0, 0))) to index path (\(path(3, 0))) in a section that does "
        + "not exist - there are only 3 sections after the update"
    ) { $0.moves = [.init(from: index(0, 0), to: index(3, 0))] },
    .init(
      testDescription: "reloading past the end", kind: .outOfBounds,
      message: "attempt to reload item 2 of section 0, which does not exist before the update"
    ) { $0.reloads = [index(0, 2)] },
    .init(
      testDescription: "deleting and reloading", kind: .conflict,
      message: "attempt to delete and reload the same index path (\(path(0, 1)))", after: [1, 3, 1]
    ) {
      $0.deletions = [index(0, 1)]
      $0.reloads = [index(0, 1)]
    },
    .init(
      testDescription: "deleting and moving", kind: .conflict,
      message: "attempt to perform a delete and a move from the same index path (\(path(0, 1)))",
      after: [1, 3, 1]
    ) {
      $0.deletions = [index(0, 1)]
      $0.moves = [.init(from: index(0, 1), to: index(0, 0))]
    },
    .init(
      testDescription: "reloading and moving", kind: .conflict,
      message: "attempt to perform a delete and a move from the same index path (\(path(0, 1)))"
    ) {
      $0.reloads = [index(0, 1)]
      $0.moves = [.init(from: index(0, 1), to: index(0, 0))]
    },
    .init(
      testDescription: "inserting and moving", kind: .conflict,
      message: "attempt to perform an insert and a move to the same index path (\(path(0, 0)))",
      after: [3, 3, 1]
    ) {
      $0.insertions = [index(0, 0)]
      $0.moves = [.init(from: index(0, 1), to: index(0, 0))]
    },
    .init(
      testDescription: "reloading the target of a move", kind: .conflict,
      message: "attempt to perform an insert and a move to the same index path (\(path(0, 0)))"
    ) {
      $0.reloads = [index(0, 0)]
      $0.moves = [.init(from: index(0, 1), to: index(0, 0))]
    },
    .init(
      testDescription: "deleting and moving a section", kind: .conflict,
      message: "attempt to perform a delete and a move from the same section (1)", after: [2, 1]
    ) {
      $0.sectionDeletions = [1]
      $0.sectionMoves = [.init(from: 1, to: 0)]
    },
    .init(
      testDescription: "inserting and moving a section", kind: .conflict,
      message: "attempt to perform an insert and a move to the same section (0)", after: [0, 2, 3, 1]
    ) {
      $0.sectionInsertions = [0]
      $0.sectionMoves = [.init(from: 1, to: 0)]
    },
    .init(
      testDescription: "moving one item to two places", kind: .conflict,
      message: "attempt to move item at index path \(path(0, 0)) to both \(path(0, 1)) and \(path(1, 0))"
    ) { $0.moves = [.init(from: index(0, 0), to: index(0, 1)), .init(from: index(0, 0), to: index(1, 0))] },
    .init(
      testDescription: "moving two items to one place", kind: .conflict,
      message: "attempt to move both item at index path \(path(0, 0)) and \(path(0, 1)) to \(path(1, 0))"
    ) { $0.moves = [.init(from: index(0, 0), to: index(1, 0)), .init(from: index(0, 1), to: index(1, 0))] },
    .init(
      testDescription: "moving one section to two places", kind: .conflict,
      message: "attempt to move section 0 to both section 1 and section 2"
    ) { $0.sectionMoves = [.init(from: 0, to: 1), .init(from: 0, to: 2)] },
    .init(
      testDescription: "moving two sections to one place", kind: .conflict,
      message: "attempt to move both section 0 and section 1 to section 2"
    ) { $0.sectionMoves = [.init(from: 0, to: 2), .init(from: 1, to: 2)] },
    .init(
      testDescription: "moving out of a deleted section", kind: .moveAcrossLifetime,
      message: "cannot move an item from a deleted section (1)", after: [3, 1]
    ) {
      $0.sectionDeletions = [1]
      $0.moves = [.init(from: index(1, 0), to: index(0, 0))]
    },
    .init(
      testDescription: "moving into an inserted section", kind: .moveAcrossLifetime,
      message: "cannot move an item into a newly inserted section (0)", after: [1, 1, 3, 1]
    ) {
      $0.sectionInsertions = [0]
      $0.moves = [.init(from: index(0, 0), to: index(0, 0))]
    },
    .init(
      testDescription: "deleting in a deleted section", kind: .silentCorruption,
      message: "an operation on an item of a deleted section (\(path(1, 0)))", after: [2, 1]
    ) {
      $0.sectionDeletions = [1]
      $0.deletions = [index(1, 0)]
    },
    .init(
      testDescription: "inserting in an inserted section", kind: .silentCorruption,
      message: "an operation on an item of an inserted section (\(path(0, 0)))", after: [1, 2, 3, 1]
    ) {
      $0.sectionInsertions = [0]
      $0.insertions = [index(0, 0)]
    },
    .init(
      testDescription: "reloading in a deleted section", kind: .silentCorruption,
      message: "attempt to reload an item of a deleted section (\(path(1, 0)))", after: [2, 1]
    ) {
      $0.sectionDeletions = [1]
      $0.reloads = [index(1, 0)]
    },
    .init(
      testDescription: "inserting in a section that moves", kind: .silentCorruption,
      message: "an operation on an item of a section that moves (\(path(0, 0)))", after: [4, 2, 1]
    ) {
      $0.sectionMoves = [.init(from: 1, to: 0)]
      $0.insertions = [index(0, 0)]
    },
    .init(
      testDescription: "deleting in a section that moves", kind: .silentCorruption,
      message: "an operation on an item of a section that moves (\(path(1, 0)))", after: [2, 2, 1]
    ) {
      $0.sectionMoves = [.init(from: 1, to: 0)]
      $0.deletions = [index(1, 0)]
    },
    .init(
      testDescription: "deleting twice", kind: .silentCorruption,
      message: "attempt to delete the same index path twice (\(path(0, 0)))", after: [1, 3, 1]
    ) { $0.deletions = [index(0, 0), index(0, 0)] },
    .init(
      testDescription: "reloading twice", kind: .silentCorruption,
      message: "attempt to reload the same index path twice (\(path(0, 0)))"
    ) { $0.reloads = [index(0, 0), index(0, 0)] },
  ]

  @Test(arguments: illegal)
  func `An illegal batch throws its exception`(_ illegal: Illegal) throws {
    var view = View(data: Self.data([2, 3, 1]))
    let error = #expect(throws: MockListError.self) {
      try view.performBatchUpdates { updates in
        updates.data = Self.data(illegal.after)
        illegal.make(&updates.batch)
      }
    }
    #expect(error?.kind == illegal.kind)
    #expect(error?.message == illegal.message)
  }

  @Test
  func `Data that ran ahead of the view are found before the batch`() throws {
    var view = View(data: Self.data([2]))
    var ahead = View(data: Self.data([2]))
    ahead.reloadData(Self.data([3]))
    #expect(throws: Never.self) { try view.performBatchUpdates { $0.batch.reloads = [Self.index(0, 0)] } }
    let error = #expect(throws: MockListError.self) {
      try view.performBatchUpdates { $0.data = Self.data([3]) }
    }
    #expect(error?.kind == .invalidCount)
    // The data were already set, but the view still shows two.
    let second = #expect(throws: MockListError.self) { try view.performBatchUpdates { _ in } }
    #expect(second?.message.hasPrefix("Invalid update: invalid number of items in section 0.") == true)
  }

  @Test
  func `A cell that was not asked for stays stale, and a reconfigured one does not`() throws {
    var view = View(data: Self.data([2]))
    var changed = Self.data([2])
    changed.sections[0].cells[1].version = 1
    changed.sections[0].version = 1
    try view.performBatchUpdates { $0.data = changed }
    #expect(view.staleCells == [Self.index(0, 1)] && view.staleSections == [0])
    #expect(view.askedCells.isEmpty)
    try view.reconfigureItems(at: [Self.index(0, 1)])
    try view.reconfigureSections(at: [0])
    #expect(view.staleCells.isEmpty && view.staleSections.isEmpty)
    #expect(view.askedCells == [Self.index(0, 1)])
    #expect(throws: MockListError.self) { try view.reconfigureItems(at: [Self.index(0, 2)]) }
    #expect(throws: MockListError.self) { try view.reconfigureSections(at: [1]) }
  }

  @Test
  func `The wrong move shows the wrong cells`() throws {
    var view = View(data: ListPair.data([(1, [10, 11, 12])]))
    try view.performBatchUpdates { updates in
      updates.data = ListPair.data([(1, [12, 10, 11])])
      updates.batch.moves = [.init(from: Self.index(0, 1), to: Self.index(0, 0))]
    }
    #expect(view.staleCells == [Self.index(0, 0), Self.index(0, 2)])
    let error = #expect(throws: MockListError.self) { try view.reconfigureItems(at: [Self.index(0, 0)]) }
    #expect(error?.kind == .silentCorruption)
  }

  @Test
  func `An outline view refuses a step whose place is not there`() throws {
    let version = { (_: Int) in 0 }
    func cell(_ id: Int) -> View.Data.Cell { .init(id: id, version: 0) }
    let illegal: [(ListStep<Int, Int>, String)] = [
      (
        .insertItem(9, at: Self.index(0, 3)),
        "NSOutlineView error inserting child indexes <NSIndexSet: 0x0>[number of indexes: 1 (in 1 ranges), "
          + "indexes: (3)] in parent section 0 (which has 2 children)."
      ),
      (
        .removeItem(9, at: Self.index(0, 2)),
        "NSOutlineView error deleting child indexes <NSIndexSet: 0x0>[number of indexes: 1 (in 1 ranges), "
          + "indexes: (2)] in parent section 0 (which has 2 children)."
      ),
      (
        .insertSection(9, at: 2),
        "NSOutlineView error inserting child indexes <NSIndexSet: 0x0>[number of indexes: 1 (in 1 ranges), "
          + "indexes: (2)] in parent 0x0 (which has 1 children)."
      ),
      (.removeItem(9, at: Self.index(0, 0)), "\(Self.path(0, 0)) shows 0, and the step says 9"),
      (.removeSection(0, at: 0), "section 0 is removed with 2 items in it"),
      (.updateSection(9, at: 0), "section 0 is 0, and the step says 9"),
      (
        .moveItem(0, from: Self.index(0, 0), to: Self.index(0, 2), isChanged: false),
        "NSOutlineView error inserting child indexes <NSIndexSet: 0x0>[number of indexes: 1 (in 1 ranges), "
          + "indexes: (2)] in parent section 0 (which has 1 children)."
      ),
    ]
    for (step, message) in illegal {
      var view = MockOutlineView(shown: Self.data([2]))
      let error = #expect(throws: MockListError.self) {
        try view.show(step, cell: cell, sectionVersion: version)
      }
      #expect(error?.message == message)
    }
  }
}
