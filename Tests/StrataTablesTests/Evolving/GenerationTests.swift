// Three generations of one application's events in one log.

internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
internal import StrataTables
internal import StrataSimulation
internal import Testing

struct GenerationTests {
  @Test
  func `what the first release wrote is read by the second, and by the third with what the second wrote`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    let first: [TicketV1] = [
      .created(text: "No sound"), .assignedAndNoted(to: "ann", note: "check"), .hours("2"), .touched, .done,
    ]
    try await store.append(first, to: "ticket/1")
    func decoded<Event: DomainEvent>(_ type: Event.Type) async throws -> [Event] {
      var all: [Event] = []
      for try await append in store.feed(until: .caughtUp) {
        for event in append.events { all += try event.decodeAll(Event.self) }
      }
      return all
    }
    #expect(
      try await decoded(TicketV2.self) == [
        .opened(title: "No sound"), .assigned(to: "ann"), .noted("check"), .hours(2), .closed,
      ])
    try await store.append([TicketV2.opened(title: "Again"), .hours(3), .closed], to: "ticket/1")
    try await store.append(
      [TicketV3.opened(title: "Once more", tags: ["a"]), .worked(minutes: 5), .closed(reason: "gave up")],
      to: "ticket/1")
    #expect(
      try await decoded(TicketV3.self) == [
        .opened(title: "No sound", tags: []), .assigned(to: "ann"), .noted("check"), .worked(minutes: 120),
        .closed(reason: "done"), .opened(title: "Again", tags: []), .worked(minutes: 180),
        .closed(reason: "done"), .opened(title: "Once more", tags: ["a"]), .worked(minutes: 5),
        .closed(reason: "gave up"),
      ])
    #expect(
      try await store.events(in: "ticket/1").map(\.type) == [
        "ticket.created", "ticket.assignedAndNoted", "ticket.hours", "ticket.touched", "ticket.done",
        "ticket.opened", "ticket.hours.2", "ticket.closed", "ticket.opened.2", "ticket.worked",
        "ticket.closed",
      ])
    let check = try await store.check(decoding: [TicketV3.self])
    #expect(check.problems.isEmpty && check.eventCount == 11, "\(check)")
    // The second release cannot read what the third one wrote, and says so.
    let back = try await store.check(decoding: [TicketV2.self])
    #expect(back.problems.map(\.type) == ["ticket.opened.2", "ticket.worked"])
    let ticket = try await store.table(EvolvedBoard.tickets, of: EvolvedBoard())["1"]
    #expect(ticket?.minutes == 305 && ticket?.tags == ["a"] && ticket?.end == "gave up")
    #expect(try await store.failures(of: EvolvedBoard()).count == 0)
  }

  /// Writes a random history of all generations, and returns what each ticket's events mean today.
  private static func fill(
    _ store: EventStore, _ random: inout SeededGenerator
  ) throws -> [(id: String, changes: [TicketV3])] {
    try (0..<Int.random(in: 1...12, using: &random)).map { _ in
      let id = "\(Int.random(in: 0..<3, using: &random))"
      let (written, now): ((type: String, payload: EventPayload), [TicketV3])
      switch Int.random(in: 0..<3, using: &random) {
      case 0:
        let event = TicketV1.random(&random)
        (written, now) = (try event.encoded(), event.now)
      case 1:
        let event = TicketV2.random(&random)
        (written, now) = (try event.encoded(), event.now)
      default:
        let event = TicketV3.random(&random)
        (written, now) = (try event.encoded(), [event])
      }
      try store.appendBlocking([
        NewEvent(written.type, in: StreamName(category: "ticket", id: id), payload: written.payload)
      ])
      return (id, now)
    }
  }

  @Test func `a fold of upcast events is the fold of the same events in their newest form`() async throws {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    for round in SeededGenerator.historySeeds(600).indices {
      let (mixed, newest) = (EventStore.inMemory(clock: .fixed), EventStore.inMemory(clock: .fixed))
      let history = try Self.fill(mixed, &random)
      var model: [String: EvolvedTicket] = [:]
      for (id, changes) in history where !changes.isEmpty {
        for change in changes { model[id, default: EvolvedTicket(id: id)].apply(change) }
        try newest.appendBlocking(
          changes.map { change in
            let (type, payload) = try change.encoded()
            return NewEvent(type, in: StreamName(category: "ticket", id: id), payload: payload)
          })
      }
      for store in [mixed, newest] {
        let fold = Fold(store.log, .own(EvolvedBoard()))
        try fold.run(through: .max)
        #expect(fold.state.failures == ProjectionFailures(), "round \(round), SEED=\(seed)")
        #expect(fold.state["ticket"].count == model.count)
        for (id, ticket) in model {
          let row = try fold.state["ticket"].row(id, as: EvolvedTicket.self)
          try #require(row == ticket, "round \(round), SEED=\(seed)")
        }
      }
    }
  }
}
