// Views whose code takes long for a row, or never returns: nothing waits for them but who asks for them.

internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct SlowViewTests {
  /// Holds each call for some rows until it is opened.
  final class Barrier: Sendable {
    private struct State {
      var held: Set<String>
      var arrivedCount = 0
    }

    private let gate: Gate<State>

    init(_ ids: String...) { gate = Gate(State(held: Set(ids))) }

    func pass(_ id: String) {
      gate.withLock { if $0.held.contains(id) { $0.arrivedCount += 1 } }
      gate.wait { !$0.held.contains(id) }
    }

    func open() {
      gate.withLock { $0.held = [] }
      gate.signalAll()
    }

    var arrivedCount: Int { gate.withLock { $0.arrivedCount } }

    func arrival(_ count: Int = 1) async {
      while arrivedCount < count { await Task.yield() }
    }
  }

  /// The rows by their ids, in sections by the lengths of their documents.
  static func definition(
    _ name: String, kept: Bool = false, calls: ProgramCalls = .filters, _ barrier: Barrier? = nil
  ) -> ViewDefinition {
    ViewDefinition(
      identity: ViewIdentity(name), sectionOrder: .key, calls: calls,
      kept: kept ? KeptView(name: name, identity: name, fingerprint: 1) : nil
    ) { row, writer in
      barrier?.pass(row.idText)
      writer.append(row.document.count % 3)
      let section = writer.count
      writer.append(row.idText)
      return PlacedLengths(section: section)
    }
  }

  func store(_ change: (inout StoreOptions) -> Void = { _ in }) -> EventStore {
    var options = StoreOptions()
    // Calls that do not return keep no thread from other tests.
    options.machine = StoreMachine(threads: .system)
    change(&options)
    return EventStore.inMemory(options: options)
  }

  func put(
    _ id: String, _ store: EventStore, title: String = "", in table: String = "page"
  ) throws {
    try store.appendBlocking([
      NewEvent(DocumentEvent.put, in: StreamName("\(table)/\(id)"), ["title": .string(title)])
    ])
  }

  func items(_ view: View) -> [[UInt8]] {
    (0..<view.count).map { view.withItem(at: $0) { Array($0.id) } }
  }

  /// The view of a lease in a state is the one that is built of its rows.
  func check(_ set: TableSet, _ lease: ViewLease) throws {
    let view = try #require(set[lease.table].view(lease.definition.identity))
    let built = View(Self.definition("built"), of: set[lease.table])
    #expect(items(view) == items(built) && view.checkInvariants() == nil)
  }

  /// Saves a checkpoint and closes the store; the lists with these names, and no others, are saved.
  func expectSaved(
    _ names: [String], _ store: EventStore, _ disk: SimulatedDisk,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try store.checkpointBlocking()
    try store.closeBlocking()
    let again = try StateStore.open(disk)
    let saved = Fold.resuming(again.log, StateStore.documents).state.savedViews
    #expect(saved.map(\.kept.name) == names, sourceLocation: sourceLocation)
    try again.closeBlocking()
  }

  /// Fetches a view until the fold has taken it in.
  func join(_ lease: ViewLease, _ projector: Projector, _ store: EventStore) async throws {
    func isJoined() -> Bool {
      projector.state.withLock { state in
        !state.isFolding
          && state.folded.tables[lease.table].view(lease.definition.identity) != nil
      }
    }
    var number = 0
    while !isJoined() {
      number += 1
      try put("joining", store, title: "\(number)", in: lease.table)
      try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
    }
  }

  @Test(.timeLimit(.minutes(3)))
  func `fault 117: a list whose code does not return holds up no other list, no table, no row and no update`()
    async throws
  {
    let store = store()
    for id in 0..<30 { try put("\(id)", store) }
    let projector = store.projector(.documents(only: nil))
    let barrier = Barrier("stuck")
    let slow = projector.lease(Self.definition("slow", barrier), of: "page")
    let prompt = projector.lease(Self.definition("prompt", calls: .none), of: "page")
    for lease in [slow, prompt] { try await join(lease, projector, store) }
    #expect(store.projections.allSatisfy { $0.listsBehind.isEmpty })
    // The call is made on the thread of the fold.
    try put("stuck", store)
    let head = store.head.sequence
    let waiting = Task { try await projector.state(reaching: head, with: slow) }
    await barrier.arrival()
    for number in 0..<20 {
      try put("other", store, title: "\(number)")
      try put("\(number)", store, in: "side")
      try await check(projector.state(reaching: store.head.sequence, with: prompt), prompt)
      #expect(try await projector.state(reaching: store.head.sequence)["side"].count == number + 1)
    }
    #expect(try await store.documents("page").table.row("stuck") != nil)
    let behind = projector.listsBehind
    #expect(behind.count == 1 && behind[0].sequence < head && behind[0].table == "page")
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    let again = Task { try await projector.state(reaching: store.head.sequence, with: slow) }
    await barrier.arrival(2)
    try await check(projector.state(reaching: store.head.sequence, with: prompt), prompt)
    barrier.open()
    try await check(again.value, slow)
    try put("last", store)
    try await check(projector.state(reaching: store.head.sequence, with: slow), slow)
    #expect(projector.listsBehind.isEmpty)
    try store.closeBlocking()
  }

  @Test(.timeLimit(.minutes(3)))
  func `fault 117: lists that the same row holds up leave the fold together`() async throws {
    let store = store { $0.viewBudget = .seconds(3_600) }
    for id in 0..<30 { try put("\(id)", store) }
    let projector = store.projector(.documents(only: nil))
    let barrier = Barrier("stuck")
    let slow = ["one", "two"].map { projector.lease(Self.definition($0, barrier), of: "page") }
    let prompt = projector.lease(Self.definition("prompt"), of: "page")
    for lease in slow + [prompt] { try await join(lease, projector, store) }
    try put("stuck", store)
    let head = store.head.sequence
    let before = projector.state.withLock { $0.watched.givenUpCount }
    let waiting = slow.map { lease in Task { try await projector.state(reaching: head, with: lease) } }
    try await check(projector.state(reaching: head, with: prompt), prompt)
    #expect(try await projector.state(reaching: head)["page"].count >= 31)
    #expect(projector.state.withLock { $0.watched.givenUpCount } == before + 1)
    // Another list joins again.
    try await join(prompt, projector, store)
    barrier.open()
    for (task, lease) in zip(waiting, slow) { try await check(task.value, lease) }
    try put("last", store)
    for lease in slow + [prompt] {
      try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
    }
    try store.closeBlocking()
  }

  /// A store on a disk whose folds are those of a process, with a kept list and one that a row will hold up.
  func held(
    _ disk: SimulatedDisk, _ barrier: Barrier
  ) async throws -> (store: EventStore, leases: [ViewLease]) {
    var options = StateStore.options()
    options.writesInStep = false
    options.machine = StoreMachine(threads: .system)
    options.viewBudget = .seconds(3_600)
    let store = try StateStore.open(disk, options: options)
    for id in 0..<30 { try put("\(id)", store) }
    let projector = store.projector(StateStore.documents)
    let leases = [
      projector.lease(Self.definition("kept", kept: true), of: "page"),
      projector.lease(Self.definition("slow", barrier), of: "page"),
    ]
    for lease in leases { try await join(lease, projector, store) }
    try put("stuck", store)
    return (store, leases)
  }

  @Test(.timeLimit(.minutes(3)), arguments: [false, true])
  func `fault 117: a list whose code does not return holds up no checkpoint and no close`(
    isClosed: Bool
  ) async throws {
    let disk = SimulatedDisk()
    let barrier = Barrier("stuck")
    let (store, leases) = try await held(disk, barrier)
    let head = store.head.sequence
    if !isClosed {
      let made = try store.checkpointBlocking()
      #expect(made.map(\.sequence) == [head] && made.allSatisfy { $0.byteCount > 0 })
    }
    try store.closeBlocking()
    #expect(barrier.arrivedCount > 0)
    barrier.open()
    withExtendedLifetime(leases) {}
    let again = try StateStore.open(disk)
    let saved = Fold.resuming(again.log, StateStore.documents).state
    #expect(saved.sequence == head && saved.savedViews.map(\.kept.name) == ["kept"])
    try again.closeBlocking()
  }

  @Test(.timeLimit(.minutes(3)))
  func `A saved list that is no longer waited for before it has caught up is still saved`() async throws {
    let disk = SimulatedDisk()
    let barrier = Barrier("33")
    var (store, _) = try await held(disk, Barrier())
    try store.closeBlocking()
    var options = StateStore.options()
    options.writesInStep = false
    options.machine = StoreMachine(threads: .system)
    store = try StateStore.open(disk, options: options)
    for id in 30..<40 { try put("\(id)", store) }
    do {
      let projector = store.projector(StateStore.documents)
      let lease = projector.lease(Self.definition("kept", kept: true, barrier), of: "page")
      let head = store.head.sequence
      let waiting = Task { try await projector.state(reaching: head, with: lease) }
      await barrier.arrival()
      waiting.cancel()
      await #expect(throws: CancellationError.self) { try await waiting.value }
      barrier.open()
      while projector.state.withLock({ $0.followers.values.contains(where: \.isRunning) }) {
        await Task.yield()
      }
    }
    try expectSaved(["kept"], store, disk)
  }

  @Test(.timeLimit(.minutes(3)))
  func `A list that nobody holds any longer leaves the fold`() async throws {
    let store = store()
    for id in 0..<5 { try put("\(id)", store) }
    let projector = store.projector(.documents(only: nil))
    do {
      let lease = projector.lease(Self.definition("left"), of: "page")
      try await join(lease, projector, store)
    }
    try put("after", store)
    _ = try await projector.state(reaching: store.head.sequence)
    let views = projector.state.withLock { $0.folded.tables["page"].views.count }
    #expect(views == 0)
  }

  @Test(.timeLimit(.minutes(3)))
  func `A list beside the fold answers with nothing that was erased since it caught up`() async throws {
    let store = store { $0.viewBudget = .zero }
    for id in 0..<5 { try put("\(id)", store, title: "secret") }
    let projector = store.projector(.documents(only: nil))
    let lease = projector.lease(Self.definition("list"), of: "page")
    let before = store.head.sequence
    try await check(projector.state(reaching: before, with: lease), lease)
    for id in 5..<12 { try put("\(id)", store) }
    let receipt = store.head.sequence
    try await check(projector.state(reaching: receipt, with: lease), lease)
    // It was slow for several rows, so that it stays beside the fold.
    #expect(projector.state.withLock { $0.followers.values.map(\.isSlow) } == [true])
    try await store.erase(Erasure(sequences: [before...before], because: "a test"))
    _ = try await projector.state(reaching: store.head.sequence)
    let held = projector.state.withLock { $0.followers.values.compactMap(\.set) }
    #expect(held.allSatisfy { $0.sequence > receipt })
    let set = try await projector.state(reaching: receipt, with: lease)
    #expect(set.sequence > receipt && set["page"].count == 11)
    try check(set, lease)
    try store.closeBlocking()
  }

  @Test(.timeLimit(.minutes(3)))
  func `fault 117: lists whose code does not return stop to join the fold, and the others go on`()
    async throws
  {
    let store = store()
    try put("first", store)
    let projector = store.projector(.documents(only: nil))
    let count = Projector.Watched.givenUpCountMax
    let barriers = (0...count).map { Barrier("stuck\($0)") }
    let leases = barriers.enumerated().map { number, barrier in
      projector.lease(Self.definition("slow \(number)", barrier), of: "page")
    }
    var waiting: [Task<TableSet, any Error>] = []
    for number in 0..<count {
      try await join(leases[number], projector, store)
      try put("stuck\(number)", store)
      let head = store.head.sequence
      waiting.append(Task { try await projector.state(reaching: head, with: leases[number]) })
      await barriers[number].arrival()
      #expect(try await projector.state(reaching: head)["page"].count == number + 3)
    }
    #expect(projector.state.withLock { $0.watched.givenUpCount } == count)
    let last = leases[count]
    for number in 0..<3 {
      try put("later", store, title: "\(number)")
      try await check(projector.state(reaching: store.head.sequence, with: last), last)
    }
    #expect(projector.state.withLock { $0.folded.tables["page"].views.isEmpty })
    for barrier in barriers { barrier.open() }
    for (task, lease) in zip(waiting, leases) { try await check(task.value, lease) }
    try store.closeBlocking()
  }

  @Test(.timeLimit(.minutes(3)))
  func `fault 117: a kept list whose code does not return holds up no start, and is still saved after that`()
    async throws
  {
    let disk = SimulatedDisk()
    func options() -> StoreOptions {
      var options = StateStore.options()
      options.writesInStep = false
      options.machine = StoreMachine(threads: .system)
      return options
    }
    var store = try StateStore.open(disk, options: options())
    for id in 0..<30 { try put("\(id)", store) }
    do {
      let projector = store.projector(StateStore.documents)
      let lease = projector.lease(Self.definition("kept", kept: true), of: "page")
      try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
    }
    try store.closeBlocking()
    store = try StateStore.open(disk, options: options())
    for id in 30..<40 { try put("\(id)", store) }
    let barrier = Barrier("33")
    do {
      let projector = store.projector(StateStore.documents)
      let lease = projector.lease(Self.definition("kept", kept: true, barrier), of: "page")
      let head = store.head.sequence
      let waiting = Task { try await projector.state(reaching: head, with: lease) }
      await barrier.arrival()
      let prompt = projector.lease(Self.definition("prompt"), of: "page")
      try await check(projector.state(reaching: store.head.sequence, with: prompt), prompt)
      #expect(projector.listsBehind.map(\.name).contains("kept"))
      try store.closeBlocking()
      barrier.open()
      _ = try? await waiting.value
    }
    store = try StateStore.open(disk, options: options())
    #expect(Fold.resuming(store.log, StateStore.documents).state.savedViews.map(\.kept.name) == ["kept"])
    let projector = store.projector(StateStore.documents)
    let lease = projector.lease(Self.definition("kept", kept: true), of: "page")
    try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
    try store.closeBlocking()
  }

  @Test
  func `Lists that leave the fold, and those that join it again, show what a list shows that is built now`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let count = 500
    var (left, joined) = (0, 0)
    for _ in 0..<count {
      // All of them leave at once, or none does.
      let budget: Duration = Bool.random(using: &random) ? .zero : .seconds(3_600)
      let store = store {
        $0.viewBudget = budget
        $0.viewBuildingMin = 1
      }
      let projector = store.projector(.documents(only: nil))
      let leases = [ProgramCalls.none, .keys, .filters].enumerated().map { number, calls in
        projector.lease(Self.definition("list \(number)", calls: calls), of: "page")
      }
      for _ in 0..<Int.random(in: 1...12, using: &random) {
        let events = (0..<Int.random(in: 1...9, using: &random)).map { _ in
          let id = Int.random(in: 0..<12, using: &random)
          let title = String(repeating: "t", count: Int.random(in: 0..<6, using: &random))
          return Int.random(in: 0..<5, using: &random) == 0
            ? NewEvent(DocumentEvent.delete, in: StreamName("page/\(id)"), .null)
            : NewEvent(DocumentEvent.put, in: StreamName("page/\(id)"), ["title": .string(title)])
        }
        try store.appendBlocking(events)
        for lease in leases where Bool.random(using: &random) {
          try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
        }
        projector.state.withLock { state in
          joined += state.folded.tables["page"].views.count
          left += state.followers.values.count { $0.isSlow }
        }
      }
      for lease in leases {
        try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
      }
      try store.closeBlocking()
    }
    #expect(left > count && joined > count, "\(left) left, \(joined) joined")
  }

  @Test func `A list that has to follow most rows is built again, and shows the same`() async throws {
    let store = store { $0.viewBudget = .zero }
    try put("first", store)
    let projector = store.projector(.documents(only: nil))
    let lease = projector.lease(Self.definition("list"), of: "page")
    try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
    try put("second", store)
    try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
    try store.appendBlocking(
      (0..<6_000).map { NewEvent(DocumentEvent.put, in: StreamName("page/\($0)"), ["title": "t"]) })
    try await check(projector.state(reaching: store.head.sequence, with: lease), lease)
    try store.closeBlocking()
  }
}
