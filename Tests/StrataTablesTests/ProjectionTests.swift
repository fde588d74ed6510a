// Projections that an application defines, over several tables.

internal import StrataEvents
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

private enum TicketEvent: DomainEvent {
  case opened(title: String), assigned(to: String), closed, broken
}

private struct Ticket: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var title: String
  var owner: String?
  var isClosed = false
}

private struct Owner: Codable, Sendable, Equatable { var open = 0 }

private struct Oops: Error {}

/// Tickets, and how many open ones each owner has.
private struct TicketBoard: Projection {
  static let name = "ticket-board"
  static let version = 3
  static let tickets = TableKey<Ticket>("ticket")
  static let owners = TableKey<Owner>("owner")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    let id = event.stream.id
    switch try event.decode(TicketEvent.self) {
    case .opened(let title): tables[Self.tickets, id] = Ticket(id: id, title: title)
    case .assigned(let owner):
      if let old = tables[Self.tickets, id]?.owner { tables[Self.owners, old]?.open -= 1 }
      tables[Self.tickets, id]?.owner = owner
      tables[Self.owners, owner, default: Owner()].open += 1
    case .closed:
      tables[Self.tickets, id]?.isClosed = true
      if let owner = tables[Self.tickets, id]?.owner { tables[Self.owners, owner]?.open -= 1 }
    case .broken:
      // Some of its changes are made before it fails.
      tables[Self.tickets, id]?.title = "never seen"
      tables[Self.tickets, id]?.isClosed = true
      tables[Self.owners, "nobody"] = Owner()
      tables[Self.tickets, "other"] = Ticket(id: "other", title: "x")
      throw Oops()
    case nil: break
    }
  }
}

extension ProjectionTables {
  fileprivate subscript<Row>(key: TableKey<Row>, id: String, default row: Row) -> Row {
    mutating get { self[key, id] ?? row }
    set { self[key, id] = newValue }
  }
}

@Suite struct ProjectionTests {
  @Test
  func `A projection folds events into several tables, live and at every past point`() async throws {
    let store = EventStore.inMemory()
    let tickets = store.table(TicketBoard.tickets, of: TicketBoard())
    try await store.append([TicketEvent.opened(title: "one")], to: "ticket/1")
    try await store.append([TicketEvent.assigned(to: "ann")], to: "ticket/1")
    #expect(try await tickets["1"] == Ticket(id: "1", title: "one", owner: "ann"))
    try await store.append([TicketEvent.assigned(to: "bob")], to: "ticket/1")
    try await store.append([NewEvent("elsewhere", in: "log/1", payload: EventPayload(.null))])
    try await store.append([TicketEvent.closed], to: "ticket/1")
    #expect(try await tickets["1"]?.isClosed == true)
    #expect(try await tickets["2"] == nil)
    let states = try store.statesBlocking(at: (0...5).map { .sequence($0) }, .own(TicketBoard()))
    func owners(_ set: TableSet) throws -> [Int?] {
      try ["ann", "bob"].map { try set["owner"].row($0, as: Owner.self)?.open }
    }
    #expect(try states.map(owners) == [[nil, nil], [nil, nil], [1, nil], [0, 1], [0, 1], [0, 0]])
    #expect(states.map { $0["ticket"].count } == [0, 1, 1, 1, 1, 1])
  }

  @Test
  func `An event whose projection throws changes nothing, is reported, and the fold goes on`() async throws {
    let store = EventStore.inMemory()
    try await store.append([TicketEvent.opened(title: "one"), .broken, .assigned(to: "ann")], to: "ticket/1")
    let before = Fold(store.log, .own(TicketBoard()))
    try before.run(through: 1)
    let after = Fold(store.log, .own(TicketBoard()))
    try after.run(through: 2)
    #expect(after.state.stateHash == before.state.stateHash)
    #expect(after.state["owner"].count == 0 && after.state["ticket"].count == 1)
    #expect(after.state.failures.count == 1)
    #expect(after.state.failures.listed.first?.sequence == 2)
    try after.run(through: 3)
    #expect(try after.state["ticket"].row("1", as: Ticket.self)?.owner == "ann")
  }

  @Test
  func `An event is folded once, also where a fold stops inside its append and goes on`() async throws {
    let store = EventStore.inMemory()
    try await store.append(
      [TicketEvent.opened(title: "one"), .assigned(to: "ann"), .closed, .assigned(to: "bob")], to: "ticket/1")
    let whole = Fold(store.log, .own(TicketBoard()))
    try whole.run(through: 4)
    for stop in 1...3 as ClosedRange<UInt64> {
      let stepped = Fold(store.log, .own(TicketBoard()))
      try stepped.run(through: stop)
      try stepped.run(through: 4)
      #expect(stepped.state.stateHash == whole.state.stateHash, "it stopped at \(stop)")
      let byAppend = Fold(store.log, .own(TicketBoard()))
      try byAppend.run(through: stop)
      try byAppend.runByAppend(through: 4) { #expect($0.stateHash == whole.state.stateHash) }
    }
  }

  @Test
  func `A view over a projected table is taken back with the rows when an event fails`() async throws {
    let store = EventStore.inMemory()
    try await store.append([TicketEvent.opened(title: "one"), .broken], to: "ticket/1")
    let fold = Fold(store.log, .own(TicketBoard()))
    try fold.run(through: 1)
    let definition = ViewDefinition(identity: ViewIdentity("by id"), sectionOrder: .key) { _, writer in
      writer.append("section")
      return PlacedLengths(section: writer.count)
    }
    fold.state.withTable("ticket") { $0.addView(definition) }
    try fold.run(through: 2)
    let view = try #require(fold.state["ticket"].view(definition.identity))
    #expect(view.count == 1 && view.sectionCount == 1)
  }

  @Test
  func `Two users of one projection share one fold`() async throws {
    let store = EventStore.inMemory()
    #expect(store.projector(.own(TicketBoard())) === store.projector(.own(TicketBoard())))
    #expect(store.projector(.documents(only: nil)) !== store.projector(.own(TicketBoard())))
  }
}
