// The scenarios that only the facade has: search, select on insert, the main actor, two edits, no sort keys.

internal import Foundation
internal import StrataEvents
@testable internal import StrataLists
@testable internal import StrataPast
@testable internal import StrataViews
@testable internal import StrataFetch
internal import StrataTables
internal import Testing

@Suite struct FacadeScenarioTests {
  private typealias Controller = DiffableFetchController<ScenarioEvent, String>
  private typealias Spy = DelegateSpy<ScenarioEvent, String>

  @Test
  func `S1 The first fetch returns seven sections and five thousand items, and tells the delegate nothing`()
    async throws
  {
    let fixture = try await ScenarioTests.Fixture()
    let list = ScenarioList(.facade, .all, of: fixture.events)
    let snapshot = try await list.first()
    #expect(snapshot.numberOfSections == 7)
    #expect(snapshot.numberOfItems == 5_000)
    #expect(list.facade.currentSnapshot?.sectionIdentifiers == ScenarioTests.sortedNames)
    // The first call of the delegate is for the first change.
    let event = ScenarioEvent(id: UUID(), sectionName: "Bear", timestamp: fixture.now)
    try await fixture.events.put(event)
    let change = try await list.next()
    #expect(change.update.reason == .changed)
    #expect(change.inserts == [event.id])
    #expect(change.update.before?.itemIdentifiers == snapshot.itemIdentifiers)
  }

  @Test
  func `S7 A search is one difference to the sections that it finds, and one back`() async throws {
    let run = try await ScenarioRun()
    try await run.show(.facade, .all)
    let (facade, list) = (run.list.facade, run.list)
    let all = try #require(facade.currentSnapshot)
    let found = try await facade.apply { $0.filter = "sectionName contains[c] 'ea'" }
    #expect(found.sectionIdentifiers == ["Bear", "Eagle"])
    var change = try await list.next()
    #expect(change.update.reason == .reconfigured)
    #expect(change.snapshot?.sectionIdentifiers == ["Bear", "Eagle"])
    #expect(change.inserts.isEmpty && change.updates.isEmpty && change.moves.isEmpty)
    #expect(change.deletes.count == all.numberOfItems - 40)
    #expect(change.deletes == all.itemIdentifiers.filter { !found.contains($0) })
    #expect(facade.viewObject(with: change.deletes[0]) == nil)
    try await facade.apply { $0.filter = nil }
    change = try await list.next()
    #expect(change.snapshot?.sectionIdentifiers == ScenarioRun.names)
    #expect(change.deletes.isEmpty && change.updates.isEmpty && change.moves.isEmpty)
    #expect(change.snapshot?.itemIdentifiers == all.itemIdentifiers)
    #expect(facade.statistics.changeCount == 2)
  }

  @Test(arguments: ScenarioRun.names)
  func `S8 The first of the inserts is found in the snapshot that comes with it`(section: String) async throws
  {
    let run = try await ScenarioRun()
    let seen = Spy { change in
      let index = change.inserts.first.flatMap { change.snapshot?.index(of: $0) }
      #expect(index != nil)
      #expect(index.flatMap { change.snapshot?.itemIdentifier(at: $0) } == change.inserts.first)
    }
    let controller = Controller(ScenarioList.facadeRequest(.all), from: run.events)
    controller.setDelegate(seen)
    try await controller.performFetch()
    let event = run.newEvent(in: section)
    try await run.events.put(event)
    let change = try #require(await seen.next())
    #expect(change.inserts == [event.id])
  }

  @Test
  func `S9 Where no queue is given the delegate is called on the main actor`() async throws {
    let run = try await ScenarioRun()
    // The main queue is identified by a marker, because a program may run it on another thread than its first.
    let mark = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: mark, value: true)
    let seen = Spy { _ in #expect(DispatchQueue.getSpecific(key: mark) == true) }
    let controller = Controller(
      run.events, sectionKey: \.sectionName, sortKeys: [.init(\.timestamp, .reverse)])
    controller.setDelegate(seen)
    try await controller.performFetch()
    for name in ["Bear", "Cat"] {
      try await run.events.put(run.newEvent(in: name))
      #expect(await seen.next()?.inserts.count == 1)
    }
  }

  @Test @MainActor
  func `S9 A delegate of the main actor is called on it, wherever changes are found`() async throws {
    let run = try await ScenarioRun()
    let screen = Screen()
    let controller = Controller(
      ScenarioList.facadeRequest(.all), from: run.events,
      processingQueue: .queue(.global()))
    controller.delegate = screen
    try await controller.performFetch()
    let event = run.newEvent(in: "Bear")
    try await run.events.put(event)
    var waiting = screen.shown.makeAsyncIterator()
    #expect(await waiting.next() == [event.id])
  }

  /// A delegate as an application would write it.
  @MainActor private final class Screen: DiffableFetchControllerDelegate {
    let shown: AsyncStream<[UUID]>
    private let show: AsyncStream<[UUID]>.Continuation

    init() { (shown, show) = AsyncStream.makeStream() }

    func didChangeContent(
      _ controller: DiffableFetchController<ScenarioEvent, String>,
      _ change: DiffableFetchChange<ScenarioEvent, String>
    ) {
      MainActor.assertIsolated()
      show.yield(change.inserts)
    }
  }

  @Test(arguments: ListKind.allCases)
  func `S10 Of two edits before one save neither hides the other`(kind: ListKind) async throws {
    for isSortFirst in [true, false] {
      let run = try await ScenarioRun()
      let item = try run.id("Bear", -1)
      try await run.show(kind, .all)
      var sorted = try #require(run.model.events[item])
      if isSortFirst { sorted.timestamp = run.now } else { sorted.isUninteresting = false }
      var both = sorted
      both.timestamp = run.now
      both.isUninteresting = false
      let (events, first, second) = (run.events, sorted, both)
      try await run.store.write { write in
        try write.put(first, in: events)
        try write.put(second, in: events)
      }
      let change = try await run.list.next()
      #expect(change.updates == [item] && change.moves == [item])
      #expect(change.changes.count == 1)
      #expect(change.snapshot?.index(of: item) == ListIndex(section: 2, item: 0))
      #expect(run.list.row(item) == both)
    }
  }

  @Test(arguments: ListKind.allCases)
  func `S11 A row that the filter takes no more leaves the list, though no sort key changed`(kind: ListKind)
    async throws
  {
    for name in ScenarioRun.names {
      let run = try await ScenarioRun()
      let item = try run.id(name, 0)
      let plain = FetchController(
        ScenarioList.plainRequest(.all).filtered(by: "isUninteresting == true"), from: run.events)
      var updates = plain.updates.makeAsyncIterator()
      let facade = Controller(
        run.events, sectionKey: \.sectionName, sortKeys: [.init(\.sectionName), .init(\.timestamp, .reverse)])
      try await facade.apply { $0.filter = "isUninteresting == true" }
      let spy = Spy()
      facade.setDelegate(spy)
      _ = try await updates.next()
      for isLeaving in [true, false] {
        try await run.events.update(item) { $0.isUninteresting.toggle() }
        let change: ScenarioList.Change
        switch kind {
        case .plain: change = DiffableFetchChange(try #require(try await updates.next()))
        case .facade: change = try #require(await spy.next())
        }
        #expect(change.updates.isEmpty && change.moves.isEmpty)
        #expect(change.deletes == (isLeaving ? [item] : []))
        #expect(change.inserts == (isLeaving ? [] : [item]))
        #expect(change.snapshot?.indexOfSection("Ant") == (name == "Ant" && isLeaving ? nil : 0))
      }
    }
  }

  @Test
  func `S12 A fetch without sort keys throws fetchWithoutSortKeys, and only from here`() async throws {
    let run = try await ScenarioRun()
    let controller = Controller(run.events, sectionKey: \.sectionName, sortKeys: [])
    await expectNoSortKeys { try await controller.performFetch() }
    await expectNoSortKeys { try await controller.process(upTo: 1) }
    await expectNoSortKeys { try await controller.apply { $0.filter = "a == 1" } }
    #expect(controller.currentSnapshot == nil)
    // With a sort key, the list continues; a request that removes it again is rejected.
    let snapshot = try await controller.apply { $0.sortKeys = [.init(\.timestamp)] }
    #expect(snapshot.numberOfItems == 143)
    await expectNoSortKeys { try await controller.apply { $0.sortKeys = [] } }
    #expect(try await controller.performFetch().itemIdentifiers == snapshot.itemIdentifiers)
    // The plain list is in order of creation.
    let plain = FetchController(ListRequest(ScenarioEvent.self), from: run.events)
    #expect(try await plain.performFetch().numberOfItems == 143)
  }

  private func expectNoSortKeys(_ fetch: () async throws -> Void) async {
    do {
      try await fetch()
      Issue.record("it was fetched")
    } catch DiffableFetchError.fetchWithoutSortKeys {
    } catch {
      Issue.record("\(error)")
    }
  }
}
