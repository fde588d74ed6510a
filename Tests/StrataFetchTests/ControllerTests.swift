// The fetch controller: what it delivers, when, and how it ends.

internal import Foundation
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataTesting
internal import Testing

nonisolated struct Chore: Codable, Identifiable, Sendable, Equatable {
  var id: Int
  var title: String
  var owner: String?
  var isDone = false
}

@Suite struct ControllerTests {
  static let open = ListRequest(Chore.self)
    .sectioned(by: \.owner).sorted(by: \.title)
    .filtered(id: "open") { !$0.isDone }

  private func fixture(_ titles: String = "abc") async throws -> (
    EventStore, DocumentCollection<Chore>, FetchController<Chore, String?>
  ) {
    let store = EventStore.inMemory()
    let tasks = store.collection("task", of: Chore.self)
    for (index, title) in titles.enumerated() {
      try await tasks.put(Chore(id: index, title: String(title), owner: index % 2 == 0 ? nil : "ann"))
    }
    return (store, tasks, FetchController(Self.open, from: tasks))
  }

  @Test
  func `A list includes every append that was acknowledged before it was fetched`() async throws {
    let (_, tasks, list) = try await fixture("")
    for index in 0..<50 {
      let receipt = try await tasks.put(Chore(id: index, title: "t\(index)", owner: nil))
      #expect(try await list.performFetch().contains(index))
      #expect(try await tasks[index]?.title == "t\(index)")
      #expect(try await list.fetch(through: receipt).sequence >= receipt.sequences.upperBound)
    }
    #expect(try await tasks.all().map(\.title).count == 50)
  }

  @Test
  func `R19 A missing value is a section of its own, nil, and stands first`() async throws {
    let (_, _, list) = try await fixture()
    let snapshot = try await list.performFetch()
    #expect(snapshot.sectionIdentifiers == [nil, "ann"])
    #expect(snapshot.itemIdentifiers(inSection: nil) == [0, 2])
    #expect(snapshot.index(of: 1) == ListIndex(section: 1, item: 0))
    #expect(snapshot.sectionIdentifier(containingItem: 1) == "ann")
    #expect(snapshot.index(of: 99) == nil)
  }

  @Test
  func `R23 A row that stops to pass the filter is a deletion, one that begins to an insertion`() async throws
  {
    let (_, tasks, list) = try await fixture()
    var updates = list.updates.makeAsyncIterator()
    _ = try await updates.next()
    try await tasks.update(1) { $0.isDone = true }
    var update = try #require(try await updates.next())
    #expect(update.changes.deletions.map(\.id) == [1])
    #expect(update.changes.sectionDeletions.map(\.section) == ["ann"])
    #expect(update.changes.updates.isEmpty)
    try await tasks.update(1) { $0.isDone = false }
    update = try #require(try await updates.next())
    #expect(update.changes.insertions.map(\.id) == [1])
  }

  @Test
  func `R35 What the list does not show makes no update, and neither does a write of the same`() async throws
  {
    let (store, tasks, list) = try await fixture()
    var updates = list.updates.makeAsyncIterator()
    let first = try #require(try await updates.next())
    try await tasks.put(Chore(id: 50, title: "x", owner: nil, isDone: true))
    try await tasks.put(Chore(id: 0, title: "a", owner: nil))
    try await store.append([NewEvent("noted", in: "log/1", payload: EventPayload(.null))])
    try await tasks.put(Chore(id: 51, title: "y", owner: nil))
    let update = try #require(try await updates.next())
    #expect(update.changes.insertions.map(\.id) == [51])
    #expect(update.changes.count == 2)  // The insertion, and the section's count.
    #expect(update.before?.itemIdentifiers == first.after.itemIdentifiers)
    #expect(update.sequence == store.head.sequence)
  }

  @Test
  func `R34 Who comes late gets one difference between what it saw and what is newest`() async throws {
    let (_, tasks, list) = try await fixture()
    var slow = list.updates.makeAsyncIterator()
    let first = try #require(try await slow.next())
    for round in 0..<20 { try await tasks.update(0) { $0.title = "a\(round)" } }
    try await tasks.put(Chore(id: 9, title: "z", owner: nil))
    try await tasks.delete(9)
    try await tasks.delete(2)
    try await list.performFetch()
    let update = try #require(try await slow.next())
    #expect(update.before?.sequence == first.sequence)
    #expect(update.changes.updates.map(\.id) == [0])
    #expect(update.changes.deletions.map(\.id) == [2])
    #expect(update.changes.insertions.isEmpty)
  }

  @Test
  func `R62 What was added and removed again is not reported`() async throws {
    let (_, tasks, list) = try await fixture()
    var updates = list.updates.makeAsyncIterator()
    _ = try await updates.next()
    try await tasks.put(Chore(id: 7, title: "q", owner: "ann"))
    try await tasks.delete(7)
    try await list.performFetch()
    try await tasks.put(Chore(id: 8, title: "r", owner: "ann"))
    let update = try #require(try await updates.next())
    #expect(update.changes.insertions.map(\.id) == [8])
    #expect(update.changes.deletions.isEmpty)
  }

  @Test
  func `R22 A new request on a live list is one difference, and not a reset`() async throws {
    let (_, _, list) = try await fixture("abcd")
    var updates = list.updates.makeAsyncIterator()
    let first = try #require(try await updates.next())
    let snapshot = try await list.apply(Self.open.limited(to: 3).sectionsOrdered(by: ["ann"]))
    let update = try #require(try await updates.next())
    #expect(update.reason == .reconfigured)
    #expect(update.before?.itemIdentifiers == first.after.itemIdentifiers)
    #expect(update.after.itemIdentifiers == snapshot.itemIdentifiers)
    #expect(update.after.sectionIdentifiers == ["ann", nil])
    #expect(update.changes.sectionMoves.count == 1)
    #expect(update.changes.deletions.map(\.id) == [2])
    #expect(update.changes.insertions.isEmpty && update.changes.moves.isEmpty)
  }

  @Test
  func `R22 Of requests that overtake each other the newest is the one that is shown`() async throws {
    let (_, _, list) = try await fixture("abcdefgh")
    for _ in 0..<30 {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for limit in 1...5 { group.addTask { try await list.apply(Self.open.limited(to: limit)) } }
        try await group.waitForAll()
      }
      let request = list.request
      #expect(
        try await list.performFetch().numberOfItems
          == [1, 2, 3, 4, 5].first { limit in
            request == Self.open.limited(to: limit)
          })
    }
  }

  /// A gate that a filter waits at: a thread that evaluates the filter blocks until the gate is open.
  private final class Gate: Sendable {
    private let state = Lock((isReached: false, isOpen: false))

    var isReached: Bool { state.withLock { $0.isReached } }
    func open() { state.withLock { $0.isOpen = true } }

    func pass() {
      state.withLock { $0.isReached = true }
      while !state.withLock({ $0.isOpen }) { Thread.sleep(forTimeInterval: 0.001) }
    }

    /// A request for the open chores, whose filter waits at the gate.
    var request: ListRequest<Chore, String?> {
      ControllerTests.open.filtered(id: "behind a gate") { _ in
        self.pass()
        return true
      }
    }
  }

  @Test
  func `R22 A fetch for a request that was replaced meanwhile gives the list of the new one`() async throws {
    let (_, _, list) = try await fixture("abcd")
    let gate = Gate()
    let newest = Self.open.limited(to: 1)
    let first = Task { try await list.apply(gate.request) }
    try await wait2 { gate.isReached }
    let second = Task { try await list.apply(newest) }
    try await wait2 { list.request == newest }
    gate.open()
    #expect(try await first.value.numberOfItems == 1)
    #expect(try await second.value.numberOfItems == 1)
  }

  @Test
  func `R58 A fetch that is under way when its list is cancelled shows nothing`() async throws {
    let (_, _, list) = try await fixture("abcd")
    let gate = Gate()
    let fetch = Task { try await list.apply(gate.request) }
    try await wait2 { gate.isReached }
    list.cancel()
    gate.open()
    await #expect(throws: CancellationError.self) { try await fetch.value }
    #expect(list.snapshot == nil)
  }

  @Test
  func `R49 Other limits alone are a difference of what comes into the list and what leaves it`() async throws
  {
    let (_, _, list) = try await fixture("abcdef")
    var updates = list.updates.makeAsyncIterator()
    _ = try await updates.next()
    let steps: [(request: ListRequest<Chore, String?>, out: [Int], in: [Int])] = [
      (Self.open.limited(perSection: 2), [5, 4], []), (Self.open.limited(perSection: 1), [3, 2], []),
      (Self.open.limited(perSection: 3), [], [2, 4, 3, 5]), (Self.open.limited(to: 4), [5, 3], []),
      (Self.open.limited(to: 2).limited(perSection: 1), [4, 2], []), (Self.open, [], [2, 4, 3, 5]),
    ]
    for step in steps {
      try await list.apply(step.request)
      let update = try #require(try await updates.next())
      #expect(update.reason == .reconfigured)
      #expect(update.changes.deletions.map(\.id) == step.out)
      #expect(update.changes.insertions.map(\.id) == step.in)
      #expect(update.changes.count == step.out.count + step.in.count)
    }
  }

  @Test
  func `R27 Over many sections every change is in the batch once`() async throws {
    let store = EventStore.inMemory()
    let tasks = store.collection("task", of: Chore.self)
    func chores(_ ids: Range<Int>) -> [Chore] {
      ids.map { Chore(id: $0, title: "t", owner: "\($0 % 20 + 100)") }
    }
    let list = FetchController(Self.open, from: tasks)
    try await tasks.put(chores(0..<20))
    let old = try await list.performFetch()
    try await tasks.put(chores(20..<60))
    let changes = ListChanges(from: old, to: try await list.performFetch())
    #expect(changes.sectionUpdates.map(\.to) == Array(0..<20))
    #expect(changes.sectionUpdates.allSatisfy { $0.count == 3 && $0.from == $0.to })
    #expect(changes.insertions.map(\.id).sorted() == Array(20..<60))
    #expect(changes.count == 60)
  }

  @Test
  func `R31 Of sections that change places those move that hold another number of items`() async throws {
    let (store, tasks, _) = try await fixture("")
    // The limit makes the batch compare both sections, not only the one whose rows changed.
    let list = FetchController(Self.open.sectionsOrdered(by: .count).limited(to: 6), from: tasks)
    for (id, owner) in ["ann", "ann", "ann", "bob", "bob"].enumerated() {
      try await tasks.put(Chore(id: id, title: "t", owner: owner))
    }
    let then = store.head.sequence
    for id in 5..<7 { try await tasks.put(Chore(id: id, title: "t", owner: "bob")) }
    let forward = try await list.changes(from: .sequence(then), to: .head)
    #expect(forward.sectionMoves.map(\.section) == ["bob"])
    let backward = try await list.changes(from: .head, to: .sequence(then))
    #expect(backward.sectionMoves.map(\.section) == ["bob"])
  }

  @Test
  func `R60 Lists that differ in their limits alone share a view, and the last of them takes it along`()
    async throws
  {
    let (store, tasks, list) = try await fixture("abcd")
    func viewCount() -> Int { store.projector(.documents(only: nil)).published["task"].views.count }
    func fetchOnce(_ request: ListRequest<Chore, String?>) async throws {
      _ = try await FetchController(request, from: tasks).performFetch()
    }
    try await list.performFetch()
    try await fetchOnce(Self.open.limited(to: 1))
    #expect(viewCount() == 1)
    try await fetchOnce(Self.open.sorted(by: \.id))
    #expect(viewCount() == 2)
    try await tasks.delete(0)
    try await list.performFetch()
    #expect(viewCount() == 1)
  }

  @Test
  func `R60 Lists that differ in a direction or an option alone are lists of their own`() async throws {
    let (_, tasks, _) = try await fixture("")
    for (id, title) in ["b", "C", "a"].enumerated() {
      try await tasks.put(Chore(id: id, title: title, owner: nil))
    }
    func ids(_ direction: SortDirection, _ options: SortKeyOptions = []) async throws -> [Int] {
      let request = ListRequest(Chore.self).sectioned(by: \.owner).sorted(by: \.title, direction, options)
      let list = FetchController(request, from: tasks)
      lists.append(list)
      return try await list.performFetch().itemIdentifiers
    }
    // Both lists exist at the same time.
    var lists: [FetchController<Chore, String?>] = []
    #expect(try await ids(.forward) == [1, 2, 0])
    #expect(try await ids(.reverse) == [0, 2, 1])
    #expect(try await ids(.forward, .caseInsensitive) == [2, 0, 1])
    #expect(try await ids(.reverse, .caseInsensitive) == [1, 0, 2])
    #expect(lists.count == 4)
  }

  @Test
  func `A filter sees the section that a row is in, also where that is none`() async throws {
    let (_, tasks, _) = try await fixture("abc")
    for (filter, ids) in [
      ("$section == 'ann'", [1]), ("$section == null", [0, 2]), ("$section != 'bob'", [0, 2, 1]),
    ] {
      let list = FetchController(Self.open.filtered(parsing: filter), from: tasks)
      #expect(try await list.performFetch().itemIdentifiers == ids, "\(filter)")
    }
  }

  @Test
  func `A filter sees a section that is a UUID as its text, as the explanation says it`() async throws {
    struct Ticket: Codable, Identifiable, Sendable { var id: Int, owner: UUID }
    let tickets = EventStore.inMemory().collection("ticket", of: Ticket.self)
    let owners = (0..<2).map { _ in UUID() }
    try await tickets.put((0..<6).map { Ticket(id: $0, owner: owners[$0 % 2]) })
    let request = ListRequest(Ticket.self).sectioned(by: \.owner)
    for (filter, count) in [
      ("$section != null", 6), ("$section == null", 0), ("$section == '\(owners[0].uuidString)'", 3),
    ] {
      let list = FetchController(request.filtered(parsing: filter), from: tickets)
      #expect(try await list.performFetch().numberOfItems == count, "\(filter)")
      let why = try await list.why(0)
      #expect((why.filters.first?.isPassed == true) == (count > 0), "\(why)")
    }
  }

  @Test
  func `R60 What names a request among equal ones keeps nothing of the program alive`() throws {
    final class Probe: Sendable { func takes(_ chore: Chore) -> Bool { chore.isDone } }
    weak var released: Probe?
    func identity(_ passes: @escaping @Sendable (Chore) -> Bool) throws -> ViewIdentity {
      try Self.open.filtered(id: "taken", passes)
        .compiled { (row) throws(RowProblem) in throw RowProblem(what: row.idText) }.definition.identity
    }
    let kept: ViewIdentity
    do {
      let probe = Probe()
      released = probe
      kept = try identity { probe.takes($0) }
    }
    #expect(released == nil)
    #expect(try kept == identity { _ in true })
  }

  @Test
  func `R76 A row that no filter takes is left out, and is no problem whatever its section is`() async throws
  {
    let store = EventStore.inMemory()
    try await store.append([
      NewEvent(DocumentEvent.put, in: "t/a", payload: EventPayload(["s": ["no", "key"], "n": 1])),
      NewEvent(DocumentEvent.put, in: "t/b", payload: EventPayload(["s": "x", "n": 2])),
    ])
    func list(_ filter: String) async throws -> ListSnapshot<DocumentRow, DocumentValue> {
      try await FetchController(
        ListRequest(DocumentRow.self).sectioned(byField: FieldPath(names: ["s"])).filtered(parsing: filter),
        from: store.documents("t")
      ).performFetch()
    }
    let others = try await list("n > 1")
    #expect(others.itemIdentifiers == ["b"] && others.numberOfProblems == 0)
    let all = try await list("n > 0")
    #expect(all.itemIdentifiers == ["b"] && all.problems.map(\.id) == ["a"])
  }

  @Test
  func `R17 Of sections whose first items have equal keys those items' ids decide`() async throws {
    let store = EventStore.inMemory()
    try await store.append([
      NewEvent(DocumentEvent.put, in: "t/z", payload: EventPayload(["s": "b", "n": 1])),
      NewEvent(
        DocumentEvent.put, in: StreamName(category: "t", id: "z\u{0}"),
        payload: EventPayload(["s": "a", "n": 1])),
    ])
    let request = ListRequest(DocumentRow.self).sectioned(byField: FieldPath(names: ["s"]))
      .sectionsOrdered(by: .first).sorted(byField: FieldPath(names: ["n"]))
    let snapshot = try await FetchController(request, from: store.documents("t")).performFetch()
    #expect(snapshot.sectionIdentifiers == ["b", "a"])
    #expect(snapshot.itemIdentifiers == ["z", "z\u{0}"])
  }

  @Test
  func `R61 A filter with a syntax error is thrown by the fetch, and the list before stays`() async throws {
    let (_, _, list) = try await fixture()
    try await list.performFetch()
    await #expect(throws: ListError.self) { try await list.apply(Self.open.filtered(by: "title ==")) }
    #expect(list.request == Self.open)
    #expect(try await list.performFetch().numberOfItems == 3)
  }

  @Test
  func `R75 Cancelling ends every iteration, and no fetch goes on`() async throws {
    let (_, tasks, list) = try await fixture()
    let ended = Task {
      var count = 0
      for try await _ in list.updates { count += 1 }
      return count
    }
    let other = Task { for try await _ in list.updates {} }
    try await Task.sleep(for: .milliseconds(20))
    other.cancel()
    try await other.value
    list.cancel()
    _ = try await ended.value
    try await tasks.put(Chore(id: 70, title: "late", owner: nil))
    await #expect(throws: CancellationError.self) { try await list.performFetch() }
    var updates = list.updates.makeAsyncIterator()
    #expect(try await updates.next() == nil)
  }

  @Test
  func `An iteration ends when the store is closed`() async throws {
    let (store, _, list) = try await fixture()
    let ended = Task { for try await _ in list.updates {} }
    try await Task.sleep(for: .milliseconds(20))
    try await store.close()
    try await ended.value
  }

  @Test
  func `R69 The list at any point, and the changes between any two, in both directions`() async throws {
    let (store, tasks, list) = try await fixture("abcd")
    try await tasks.update(0) { $0.owner = "ann" }
    try await tasks.delete(3)
    #expect(try await list.snapshot(at: .beginning).numberOfItems == 0)
    #expect(try await list.snapshot(at: .sequence(2)).itemIdentifiers == [0, 1])
    let then = try await list.snapshot(at: .sequence(4))
    #expect(then.itemIdentifiers == [0, 2, 1, 3])
    #expect(then.sequence == 4)
    let forward = try await list.changes(from: .sequence(4), to: .head)
    #expect(forward.moves.map(\.id) == [0])
    #expect(forward.deletions.map(\.id) == [3])
    let backward = try await list.changes(from: .head, to: .sequence(4))
    #expect(backward.moves.map(\.id) == [0])
    #expect(backward.insertions.map(\.id) == [3])
    let time = try #require(store.lastTime)
    #expect(try await list.snapshot(at: .time(time)).itemIdentifiers == [2, 0, 1])
    let end = store.head.sequence
    await #expect(throws: ListError.store(.position(.beyondEnd(sequence: 99, last: end)))) {
      try await list.snapshot(at: .sequence(99))
    }
  }

  @Test
  func `R76 Rows that do not decode, or whose id is none, are left out and reported`() async throws {
    let (store, _, list) = try await fixture()
    try await store.append([
      NewEvent(DocumentEvent.put, in: "task/77", payload: EventPayload(["id": 77])),
      // The document decodes, but the row's id is not valid for its type.
      NewEvent(
        DocumentEvent.put, in: "task/word", payload: EventPayload(["id": 5, "title": "x", "isDone": false])),
      NewEvent(DocumentEvent.put, in: "task/78", payload: EventPayload(.string("no object"))),
      NewEvent(DocumentEvent.merge, in: "task/79", payload: .opaque([1, 2, 3])),
    ])
    var snapshot = try await list.performFetch()
    #expect(snapshot.numberOfItems == 3)
    #expect(snapshot.numberOfProblems == 4)
    #expect(Set(snapshot.problems.map(\.id)) == ["77", "78", "79", "word"])
    let problem = try #require(snapshot.problems.first { $0.id == "77" })
    #expect(problem.what.contains("title") && problem.sequence == 4)
    // A row that is repaired is shown.
    try await store.append([
      NewEvent(
        DocumentEvent.put, in: "task/78", payload: EventPayload(["id": 78, "title": "t", "isDone": false]))
    ])
    snapshot = try await list.performFetch()
    #expect(snapshot.contains(78))
    #expect(snapshot.numberOfProblems == 3)
  }

  @Test
  func `Rows are found by id, by index or by range, with an error for a range that is none`() async throws {
    let (_, _, list) = try await fixture("abcd")
    let snapshot = try await list.performFetch()
    #expect(snapshot.row(for: 2)?.title == "c")
    #expect(snapshot.row(for: 99) == nil && snapshot.row(at: ListIndex(section: 5, item: 0)) == nil)
    #expect(try await snapshot.rows(in: 1..<3).map(\.id) == [2, 1])
    #expect(try await snapshot.rows(in: 0..<2, ofSectionAt: 1).map(\.id) == [1, 3])
    await #expect(throws: ListError.self) { try await snapshot.rows(in: 0..<5) }
    await #expect(throws: ListError.self) { try await snapshot.rows(in: 0..<1, ofSectionAt: 2) }
    #expect(snapshot.sections.map { $0.map(\.id) } == [[0, 2], [1, 3]])
    #expect(snapshot.sections.map(\.id) == [nil, "ann"])
  }

  @Test
  func `Equal requests are equal values, and closures without an id equal only their copies`() {
    let a = ListRequest(Chore.self).sectioned(by: \.owner).sorted(by: \.title, .reverse).limited(to: 3)
    let b = ListRequest(Chore.self).sectioned(by: \.owner).sorted(by: \.title, .reverse).limited(to: 3)
    #expect(a == b && a.hashValue == b.hashValue)
    #expect(a != b.limited(to: 4) && a != b.sorted(by: \.id) && a != b.sectionsOrdered(by: .count))
    #expect(a.filtered(id: "x") { $0.isDone } == b.filtered(id: "x") { $0.isDone })
    #expect(a.filtered(id: "x") { $0.isDone } != b.filtered(id: "y") { $0.isDone })
    let unnamed = a.filtered { $0.isDone }
    #expect(unnamed == unnamed && unnamed != a.filtered { $0.isDone })
    #expect(a.filtered(by: "title == 'x'") == b.filtered(by: "title == \"x\""))
  }

  @Test @MainActor
  func `A live list on the main actor shows what the store holds, and follows it`() async throws {
    let (_, tasks, _) = try await fixture()
    let list = LiveList(Self.open, from: tasks)
    try await wait { list.snapshot?.numberOfItems == 3 }
    #expect(list.sections.map { $0.map { $0.item?.title } } == [["a", "c"], ["b"]])
    try await tasks.put(Chore(id: 10, title: "bb", owner: "ann"))
    try await wait { list.sections.last?.count == 2 }
    #expect(list.lastUpdate?.changes.insertions.map(\.id) == [10])
    try await list.apply(Self.open.limited(to: 1))
    try await wait { list.snapshot?.numberOfItems == 1 }
    guard case .ready = list.phase else { return #expect(Bool(false)) }
    list.cancel()
  }

  @Test @MainActor
  func `A live list whose filter is wrong says so`() async throws {
    let (_, tasks, _) = try await fixture()
    let list = LiveList(Self.open.filtered(by: "title =="), from: tasks)
    try await wait { if case .failed(.filter) = list.phase { true } else { false } }
  }

  @MainActor private func wait(until isReady: () -> Bool) async throws {
    for _ in 0..<60_000 where !isReady() { try await Task.sleep(for: .milliseconds(1)) }
    try #require(isReady())
  }

  @Test
  func `A controller that is dropped frees its view, and its follower ends`() async throws {
    let (store, tasks, list) = try await fixture()
    weak var dropped: FetchController<Chore, String?>?
    do {
      let controller = FetchController(Self.open.limited(to: 2), from: tasks)
      dropped = controller
      let following = Task { [updates = controller.updates] in for try await _ in updates {} }
      try await Task.sleep(for: .milliseconds(10))
      following.cancel()
      try await following.value
    }
    try await wait2 { dropped == nil }
    try await list.performFetch()
    list.cancel()
    try await tasks.put(Chore(id: 30, title: "x", owner: nil))
    _ = try await tasks[30]
    _ = store
  }

  private func wait2(until isReady: () -> Bool) async throws {
    for _ in 0..<60_000 where !isReady() { try await Task.sleep(for: .milliseconds(1)) }
    try #require(isReady())
  }
}
