// The desk: what people do, decided on what is there.

import Strata

public struct TicketDesk: Sendable {
  public enum Refusal: Error, Equatable { case noSuchTicket, isClosed }

  public let store: EventStore
  public let tickets: ProjectedTable<Ticket>
  /// Open tickets first, in each section the most urgent first.
  public let list: FetchController<Ticket, Ticket.Status>

  public init(_ store: EventStore) {
    self.store = store
    tickets = store.table(TicketBoard.tickets, of: TicketBoard())
    let request = ListRequest(Ticket.self)
      .sectioned(by: \.status).sectionsOrdered(by: [.open, .assigned, .closed])
      .sorted(by: \.priority, .reverse)
    list = FetchController(request, from: tickets)
  }

  /// Everything that is appended through the returned desk says who did it.
  public func acting(as user: String) -> TicketDesk { TicketDesk(store.attributed(["by": .string(user)])) }

  public func open(_ id: String, _ title: String, for customer: String, priority: Int = 2) async throws {
    let opened = TicketEvent.opened(title: title, customer: customer, priority: priority)
    try await store.append([opened], to: "ticket/\(id)", expecting: .noStream)
  }

  /// Appends what follows from a decision about a ticket. If somebody else was faster, it is decided again.
  public func decide(_ id: String, _ decision: (Ticket) throws -> [TicketEvent]) async throws {
    let stream: StreamName = "ticket/\(id)"
    while true {
      let version = try await store.version(of: stream)
      guard let ticket = try await tickets[id] else { throw Refusal.noSuchTicket }
      do {
        try await store.append(try decision(ticket), to: stream, expecting: .exactly(version))
        return
      } catch StoreError.conflict {}
    }
  }

  public func assign(_ id: String, to agent: String) async throws {
    try await decide(id) { ticket in
      guard ticket.status != .closed else { throw Refusal.isClosed }
      return [.assigned(agent: agent)]
    }
  }

  public func close(_ id: String, saying text: String) async throws {
    try await decide(id) { ticket in
      guard ticket.status != .closed else { throw Refusal.isClosed }
      return [.commented(text: text), .closed]
    }
  }

  /// Queues a mail to the customer of each ticket that is closed: once, whenever this program is killed.
  public func notify(until end: FeedEnd = .never) async throws {
    var options = ConsumerOptions()
    options.selection = .category("ticket").types("ticket.closed")
    try await store.consumer("notifier", options).run(until: end) { append, batch in
      for event in append.events {
        let id = event.stream.id
        guard let ticket = try await tickets[id] else { continue }
        try batch.append([MailEvent.queued(to: ticket.customer, about: ticket.title)], to: "mail/\(id)")
      }
    }
  }

  /// Removes what a ticket said, and the mail about it, from the log and from every list, for good.
  public func forget(_ id: String, because reason: String) async throws {
    var streams: [StreamName] = ["ticket/\(id)"]
    let mail: StreamName = "mail/\(id)"
    if try await store.version(of: mail) > 0 { streams.append(mail) }
    try await store.erase(Erasure(streams: streams, because: reason))
  }
}
