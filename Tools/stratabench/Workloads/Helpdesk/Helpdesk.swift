// A help desk: an application's own events, and the rows that it folds them into.

internal import StrataEvents
internal import StrataTables

/// What happens to a ticket. The ticket is the stream.
enum HelpdeskEvent: DomainEvent {
  case opened(title: String, customer: String)
  case commented(by: String, text: String)
  case assigned(to: String)
  case prioritised(level: Int)
  case closed
}

struct HelpdeskTicket: Codable, Sendable, Equatable {
  var title: String
  var customer: String
  var agent: String?
  var priority = 3
  var isClosed = false
  var commentCount = 0
  /// When the ticket last changed, in seconds since 1970.
  var changed: Int64
}

/// A customer or an agent.
struct HelpdeskPerson: Codable, Sendable, Equatable {
  var ticketCount = 0
  var openCount = 0
  var commentCount = 0
}

struct HelpdeskComment: Codable, Sendable, Equatable {
  var ticket: String
  var author: String
  var text: String
  var time: Int64
}

/// Where the fold keeps its rows: tables, or dictionaries.
protocol HelpdeskRows {
  subscript(ticket id: String) -> HelpdeskTicket? { mutating get set }
  subscript(person id: String) -> HelpdeskPerson? { mutating get set }
  subscript(comment id: String) -> HelpdeskComment? { mutating get set }
}

extension HelpdeskRows {
  /// The fold, the same for every kind of rows.
  mutating func apply(_ event: HelpdeskEvent, to id: String, _ sequence: UInt64, at time: Timestamp) {
    let seconds = time.nanoseconds / 1_000_000_000
    switch event {
    case .opened(let title, let customer):
      self[ticket: id] = HelpdeskTicket(title: title, customer: customer, changed: seconds)
      change(person: customer) { person in
        person.ticketCount += 1
        person.openCount += 1
      }
      return
    case .commented(let author, let text):
      self[comment: "\(sequence)"] = HelpdeskComment(ticket: id, author: author, text: text, time: seconds)
      change(person: author) { $0.commentCount += 1 }
      self[ticket: id]?.commentCount += 1
    case .assigned(let agent):
      if let old = self[ticket: id]?.agent { change(person: old) { $0.openCount -= 1 } }
      change(person: agent) { person in
        person.ticketCount += 1
        person.openCount += 1
      }
      self[ticket: id]?.agent = agent
    case .prioritised(let level): self[ticket: id]?.priority = level
    case .closed:
      guard let ticket = self[ticket: id], !ticket.isClosed else { return }
      self[ticket: id]?.isClosed = true
      change(person: ticket.customer) { $0.openCount -= 1 }
      if let agent = ticket.agent { change(person: agent) { $0.openCount -= 1 } }
    }
    self[ticket: id]?.changed = seconds
  }

  private mutating func change(person id: String, _ body: (inout HelpdeskPerson) -> Void) {
    var person = self[person: id] ?? HelpdeskPerson()
    body(&person)
    self[person: id] = person
  }
}

/// The rows in dictionaries, without order, versions and past states.
struct HelpdeskDictionaries: HelpdeskRows {
  private(set) var tickets: [String: HelpdeskTicket] = [:]
  private(set) var people: [String: HelpdeskPerson] = [:]
  private(set) var comments: [String: HelpdeskComment] = [:]

  subscript(ticket id: String) -> HelpdeskTicket? {
    get { tickets[id] }
    _modify { yield &tickets[id] }
  }
  subscript(person id: String) -> HelpdeskPerson? {
    get { people[id] }
    _modify { yield &people[id] }
  }
  subscript(comment id: String) -> HelpdeskComment? {
    get { comments[id] }
    _modify { yield &comments[id] }
  }
}

/// The rows in the tables of a projection.
struct Helpdesk: Projection {
  static let name = "helpdesk"
  static let version = 1
  static let tickets = TableKey<HelpdeskTicket>("ticket")
  static let people = TableKey<HelpdeskPerson>("person")
  static let comments = TableKey<HelpdeskComment>("comment")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard let change = try event.decode(HelpdeskEvent.self) else { return }
    tables.apply(change, to: event.stream.id, event.sequence, at: event.time)
  }
}

extension ProjectionTables: HelpdeskRows {
  subscript(ticket id: String) -> HelpdeskTicket? {
    mutating get { self[Helpdesk.tickets, id] }
    set { self[Helpdesk.tickets, id] = newValue }
  }
  subscript(person id: String) -> HelpdeskPerson? {
    mutating get { self[Helpdesk.people, id] }
    set { self[Helpdesk.people, id] = newValue }
  }
  subscript(comment id: String) -> HelpdeskComment? {
    mutating get { self[Helpdesk.comments, id] }
    set { self[Helpdesk.comments, id] = newValue }
  }
}
