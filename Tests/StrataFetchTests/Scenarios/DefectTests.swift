// Defects of the predecessor, none of which may return: one test for each.

internal import Foundation
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataPast
@testable internal import StrataViews
internal import StrataTables
internal import StrataTesting
internal import Testing

@Suite struct DefectTests {
  typealias Controller = DiffableFetchController<Chore, String?>
  typealias Spy = DelegateSpy<Chore, String?>

  /// Chores by owner and title, and a delegate of their list.
  func following(
    _ chores: [Chore], _ configure: (inout DiffableFetchRequest<Chore, String?>) -> Void = { _ in }
  ) async throws -> (DocumentCollection<Chore>, Controller, Spy) {
    let collection = EventStore.inMemory().collection("task", of: Chore.self)
    if !chores.isEmpty { try await collection.put(chores) }
    var request = DiffableFetchRequest(
      sectionKey: \Chore.owner, sortKeys: [.init(\.owner), .init(\.title)])
    configure(&request)
    let (controller, spy) = (Controller(request, from: collection), Spy())
    controller.setDelegate(spy)
    spy.keep(controller)
    try await controller.performFetch()
    return (collection, controller, spy)
  }

  func many(_ count: Int, owners: [String]) -> [Chore] {
    (0..<count).map { Chore(id: $0, title: "t\(1_000 + $0)", owner: owners[$0 % owners.count]) }
  }

  @Test
  func `D1 A second edit does not hide the first one's change of place, whichever came first`() async throws {
    for isMoveFirst in [true, false] {
      let (chores, controller, _) = try await following(many(10, owners: ["ann", "bob"]))
      let (_, spy, queue) = FacadeTests.held(chores)
      let held = Controller(controller.fetchRequest, from: chores, processingQueue: queue.executor)
      held.setDelegate(spy)
      held.isMonitoring = false
      try await held.performFetch()
      queue.runAll()
      for isMove in [isMoveFirst, !isMoveFirst] {
        try await chores.update(0) { if isMove { $0.title = "z" } else { $0.isDone = true } }
        try await held.performFetch()
      }
      queue.runAll()
      let change = try #require(await spy.next())
      #expect(change.moves == [0] && change.updates == [0] && change.changes.count == 1)
      #expect(change.snapshot?.index(of: 0) == ListIndex(section: 0, item: 4))
      #expect(change.update.after.row(for: 0)?.isDone == true)
    }
  }

  @Test
  func `D2 An emptied section goes, by a delete, a move or a filter, and whether few rows changed or most`()
    async throws
  {
    for bobs in [1, 2, 60] {
      let all =
        many(40, owners: ["ann", "cid"])
        + (0..<bobs).map { Chore(id: 100 + $0, title: "b\(1_000 + $0)", owner: "bob") }
      func each(_ change: (inout Chore) -> Void) -> [Chore] {
        all.suffix(bobs).map {
          var chore = $0; change(&chore); return chore
        }
      }
      for way in ["delete", "move", "filter"] {
        let (chores, _, spy) = try await following(all) { $0.filter = "isDone == false" }
        switch way {
        case "delete":
          try await chores.store.write { write in
            for chore in all.suffix(bobs) { try write.delete(chore.id, in: chores) }
          }
        case "move": try await chores.put(each { $0.owner = "cid" })
        default: try await chores.put(each { $0.isDone = true })
        }
        var change = try #require(await spy.next())
        #expect(change.changes.sectionDeletions.map(\.section) == ["bob"], "\(bobs) by \(way)")
        #expect(change.snapshot?.sectionIdentifiers == ["ann", "cid"])
        #expect((way == "move" ? change.moves : change.deletes).count == bobs)
        // The section is inserted again where it was.
        try await chores.put(Array(all.suffix(bobs)))
        change = try #require(await spy.next())
        #expect(change.changes.sectionInsertions.map(\.to) == [1])
        #expect(change.snapshot?.itemIdentifiers(inSection: "bob").count == bobs)
      }
    }
  }

  @Test
  func `D3 Sections whose order comes from the data stand in order after every change`() async throws {
    let (chores, controller, spy) = try await following([
      Chore(id: 0, title: "b", owner: "ann"), Chore(id: 1, title: "c", owner: "bob"),
      Chore(id: 2, title: "d", owner: "cid"),
    ]) { $0.sortKeys = [.init(\.title)] }
    #expect(controller.currentSnapshot?.sectionIdentifiers == ["ann", "bob", "cid"])
    try await chores.update(2) { $0.title = "a" }
    var change = try #require(await spy.next())
    #expect(change.snapshot?.sectionIdentifiers == ["cid", "ann", "bob"])
    #expect(change.changes.sectionMoves.map(\.section) == ["cid"])
    #expect(change.updates == [2] && change.moves.isEmpty)
    try await chores.put(Chore(id: 3, title: "A", owner: "bob"))
    change = try #require(await spy.next())
    #expect(change.snapshot?.sectionIdentifiers == ["bob", "cid", "ann"])
    let fresh = Controller(controller.fetchRequest, from: chores)
    #expect(try await fresh.performFetch().sectionIdentifiers == ["bob", "cid", "ann"])
  }

  @Test
  func `D4 A row that stops to match the filter leaves at once, with no sort key or section touched`()
    async throws
  {
    let (chores, controller, spy) = try await following(many(10, owners: ["ann"])) {
      $0.filter = "isDone == false"
    }
    try await chores.update(3) { $0.isDone = true }
    let change = try #require(await spy.next())
    #expect(change.deletes == [3] && change.updates.isEmpty && change.inserts.isEmpty)
    #expect(change.snapshot?.contains(3) == false)
    #expect(controller.currentSnapshot?.numberOfItems == 9)
  }

  @Test
  func `D5 The delegate is told of no row that the list does not show`() async throws {
    let all = many(30, owners: ["ann", "bob"])
    let (chores, _, spy) = try await following(all) { $0.filter = "isDone == false" }
    try await chores.update(4) { $0.isDone = true }
    var shown = Set(0..<30)
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for round in 0..<60 {
      let id = Int.random(in: 0..<40, using: &random)
      let isDone = Bool.random(using: &random)
      try await chores.put(Chore(id: id, title: "r\(round)", owner: "ann", isDone: isDone))
    }
    let last = Chore(id: 99, title: "last", owner: "ann")
    try await chores.put(last)
    while !shown.contains(99) {
      let change = try #require(await spy.next())
      let after = Set(change.update.after.itemIdentifiers)
      #expect(Set(change.inserts) == after.subtracting(shown))
      #expect(Set(change.deletes) == shown.subtracting(after))
      #expect(Set(change.updates).isSubset(of: after.intersection(shown)))
      #expect(Set(change.moves).isSubset(of: after.intersection(shown)))
      for id in change.inserts + change.updates {
        #expect(change.update.after.row(for: id)?.isDone == false)
      }
      shown = after
    }
  }

  @Test
  func `D6 Deletes and moves are told, with the places that they have`() async throws {
    let (chores, _, spy) = try await following(many(6, owners: ["ann", "bob"]))
    // ann: 0, 2, 4; bob: 1, 3, 5.
    try await chores.store.write { write in
      try write.delete(2, in: chores)
      try write.put(Chore(id: 5, title: "a", owner: "ann"), in: chores)
      try write.put(Chore(id: 1, title: "z", owner: "bob"), in: chores)
    }
    let change = try #require(await spy.next())
    #expect(change.deletes == [2] && change.moves == [5, 1] && change.updates == [5, 1])
    #expect(change.changes.deletions.map(\.from) == [ListIndex(section: 0, item: 1)])
    let moves = change.changes.moves
    #expect(moves.map(\.from) == [ListIndex(section: 1, item: 2), ListIndex(section: 1, item: 0)])
    #expect(moves.map(\.to) == [ListIndex(section: 0, item: 0), ListIndex(section: 1, item: 1)])
  }

  @Test
  func `D8 A sort by a property of a property follows changes of it`() async throws {
    struct Visit: Codable, Identifiable, Sendable {
      struct Place: Codable, Sendable { var city: String, zip: Int }
      var id: Int
      var place: Place
    }
    let visits = EventStore.inMemory().collection("visit", of: Visit.self)
    try await visits.put((0..<4).map { Visit(id: $0, place: .init(city: "c\($0)", zip: 9 - $0)) })
    for key in [
      DiffableFetchSortKey<Visit>(\.place.city), .init(field: FieldPath(names: ["place", "city"])),
    ] {
      let controller = DiffableFetchController<Visit, Unsectioned>(visits, sortKeys: [key])
      let spy = DelegateSpy<Visit, Unsectioned>()
      controller.setDelegate(spy)
      #expect(try await controller.performFetch().itemIdentifiers == [0, 1, 2, 3])
      try await visits.update(0) { $0.place.city = "c9" }
      let change = try #require(await spy.next())
      #expect(change.moves == [0] && change.updates == [0])
      #expect(change.snapshot?.itemIdentifiers == [1, 2, 3, 0])
      try await visits.update(0) { $0.place.city = "c0" }
      #expect(await spy.next()?.snapshot?.itemIdentifiers == [0, 1, 2, 3])
    }
  }

  @Test
  func `D9 Writers, searches, lookups and fetches at the same time leave the list that a new one has`()
    async throws
  {
    let (chores, controller, _) = try await following(many(40, owners: ["ann", "bob", "cid"]))
    controller.nearbyItemsSize = 8
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<3 {
        group.addTask {
          for round in 0..<30 {
            let id = (writer * 17 + round * 7) % 60
            if round % 4 == 0 {
              try await chores.delete(id)
            } else {
              try await chores.put(Chore(id: id, title: "w\(round)", owner: ["ann", "bob"][round % 2]))
            }
          }
        }
      }
      group.addTask {
        for round in 0..<20 {
          try await controller.apply { $0.filter = round % 2 == 0 ? "owner == 'ann'" : nil }
        }
      }
      group.addTask {
        for _ in 0..<30 {
          let shown = try await controller.performFetch()
          for id in shown.itemIdentifiers.prefix(10) { _ = controller.viewObject(with: id) }
        }
      }
      try await group.waitForAll()
    }
    let fresh = try await Controller(controller.fetchRequest, from: chores).performFetch()
    let last = try await controller.performFetch()
    #expect(last.sectionIdentifiers == fresh.sectionIdentifiers)
    #expect(last.itemIdentifiers == fresh.itemIdentifiers)
    while controller.currentSnapshot?.itemIdentifiers != fresh.itemIdentifiers { await Task.yield() }
    for id in fresh.itemIdentifiers {
      #expect(controller.viewObject(with: id) == fresh.row(for: id))
    }
  }

  @Test
  func `D9 A fetch that fails throws, and nothing traps`() async throws {
    let (chores, controller, spy) = try await following(many(4, owners: ["ann"]))
    await #expect(throws: DiffableFetchError.self) {
      try await controller.apply { $0.filter = "this is (no filter" }
    }
    try await chores.store.close()
    // The current list can still be fetched, and nothing more is delivered.
    #expect(try await controller.performFetch().numberOfItems == 4)
    #expect(try await controller.process(upTo: .max).numberOfItems == 4)
    #expect(spy.callCount == 0)
  }

  @Test
  func `D11 The statistics count`() async throws {
    let (chores, controller, spy) = try await following(many(6, owners: ["ann", "bob"]))
    var expected = DiffableFetchStatistics()
    expected.fetchCount = 1
    #expect(controller.statistics == expected)
    try await chores.put([
      Chore(id: 0, title: "t1000", owner: "ann", isDone: true), Chore(id: 2, title: "z", owner: "ann"),
      Chore(id: 50, title: "y", owner: "bob"), Chore(id: 51, title: "y", owner: "bob"),
    ])
    _ = await spy.next()
    (expected.changeCount, expected.snapshotCount) = (1, 1)
    (expected.updateCount, expected.insertCount, expected.moveCount) = (2, 2, 1)
    #expect(controller.statistics == expected)
    try await chores.delete(50)
    _ = await spy.next()
    try await chores.update(0) { $0.isDone = false }
    _ = await spy.next()
    (expected.changeCount, expected.snapshotCount, expected.deleteCount, expected.updateCount) = (3, 2, 1, 3)
    #expect(controller.statistics == expected)
    controller.nearbyItemsSize = 3
    _ = controller.viewObject(with: 0)
    _ = controller.viewObject(with: 0)
    _ = controller.object(with: 1)
    (expected.rowReadCount, expected.cacheHitCount) = (4, 1)
    #expect(controller.statistics == expected)
    try await controller.apply { $0.filter = "owner == 'ann'" }
    _ = await spy.next()
    (expected.fetchCount, expected.changeCount, expected.snapshotCount, expected.deleteCount) = (2, 4, 3, 5)
    #expect(controller.statistics == expected)
  }

  @Test
  func `D13 The package has a product, and one import of it gives everything`() throws {
    var root = URL(filePath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let manifest = try String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
    #expect(manifest.contains(#".library(name: "Strata", targets: ["Strata"])"#))
    let umbrella = try String(
      contentsOf: root.appending(path: "Sources/Strata/Strata.swift"), encoding: .utf8)
    for floor in [
      "StrataDocuments", "StrataLog", "StrataEvents", "StrataTables", "StrataLists", "StrataFetch",
    ] {
      #expect(umbrella.contains("@_exported public import \(floor)\n"))
    }
  }
}
