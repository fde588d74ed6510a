// The tickets as they are: a row for each, folded from its events.

import Strata

public struct Ticket: Codable, Identifiable, Hashable, Sendable {
  public enum Status: String, Codable, SortKey, Sendable { case open, assigned, closed }

  public var id: String
  public var title: String
  public var customer: String
  public var priority: Int
  public var status = Status.open
  public var agent: String?
  public var commentCount = 0
}

public struct TicketBoard: Projection {
  public static let name = "ticket-board"
  public static let version = 2
  public static let tickets = TableKey<Ticket>("ticket")

  public init() {}

  public func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard let happened = try event.decode(TicketEvent.self) else { return }
    let id = event.stream.id
    switch happened {
    case .opened(let title, let customer, let priority):
      tables[Self.tickets, id] = Ticket(id: id, title: title, customer: customer, priority: priority)
    case .assigned(let agent):
      tables[Self.tickets, id]?.agent = agent
      tables[Self.tickets, id]?.status = .assigned
    case .commented: tables[Self.tickets, id]?.commentCount += 1
    case .closed: tables[Self.tickets, id]?.status = .closed
    }
  }
}
