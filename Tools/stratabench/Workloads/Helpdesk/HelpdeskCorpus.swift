// The input of the helpdesk workload: random events of tickets, most of them of the tickets that are open.

internal import StrataBase
internal import StrataEvents
internal import StrataLog
internal import StrataTables
internal import StrataSimulation

/// Random events of a help desk with a thousand open tickets, five thousand customers and fifty agents: half of the
/// events are comments; every ticket is opened once and closed once.
struct HelpdeskCorpus: Sendable {
  private(set) var events: [(stream: String, event: HelpdeskEvent)] = []

  private static let openCountMax = 1_000
  private static let texts = [
    "The printer on the third floor is out of toner again.", "Restarted the service, please try once more.",
    "I cannot sign in since this morning; my password has not changed.", "Thank you, it works now!",
    "Escalated to the network group, who look into it tomorrow.", "Is there any news about this?",
  ]

  init(count: Int) {
    var random = SeededGenerator(seed: 11)
    var open: [Int] = []
    var ticketCount = 0
    events.reserveCapacity(count)
    while events.count < count {
      let kind = Int.random(in: 0..<8, using: &random)
      let place = Int.random(in: 0..<max(1, open.count), using: &random)
      let text = Self.texts[Int.random(in: 0..<Self.texts.count, using: &random)]
      let customer = "customer-\(Int.random(in: 0..<5_000, using: &random))"
      let agent = "agent-\(Int.random(in: 0..<50, using: &random))"
      if kind == 0 || open.isEmpty {
        ticketCount += 1
        open.append(ticketCount)
        events.append(("ticket/\(ticketCount)", .opened(title: text, customer: customer)))
        continue
      }
      let stream = "ticket/\(open[place])"
      switch kind {
      case 1 where open.count >= Self.openCountMax:
        open.swapAt(place, open.count - 1)
        open.removeLast()
        events.append((stream, .closed))
      case 2: events.append((stream, .assigned(to: agent)))
      case 3: events.append((stream, .prioritised(level: Int.random(in: 1...5, using: &random))))
      default: events.append((stream, .commented(by: kind < 6 ? agent : customer, text: text)))
      }
    }
  }

  /// A store in memory with each event as one append.
  func store() async throws -> EventStore {
    let store = EventStore.inMemory()
    try await append(to: store)
    return store
  }

  /// Appends each event as one append.
  func append(to store: EventStore) async throws {
    try await StoreMachine.process.reads.run { [events] in
      var start = 0
      while start < events.count {
        let drafts = try events[start..<min(start + 4_096, events.count)].map { stream, event in
          let (type, payload) = try event.encoded()
          return try store.draft(
            [NewEvent(type, in: StreamName(stream), payload: payload)], id: nil, time: nil, expecting: [:],
            isOwn: false)
        }
        for result in try store.log.appendBlocking(drafts) { _ = try result.get() }
        start += drafts.count
      }
    }
  }
}
