// A projection that keeps its contract, and others that break one law each.

import Foundation
import Strata
import Synchronization

enum TicketEvent: DomainEvent, Equatable {
  case opened(title: String, priority: Int)
  case retitled(title: String)
  case closed

  static let upcasts: [Upcast] = [Upcast("created", to: "opened")]
}

struct Ticket: Codable, Equatable, Sendable {
  var title: String
  var priority: Int
  var isOpen = true
  var note = ""
}

/// The projection that the others are variations of.
struct TicketBoard: Projection {
  static let name = "ticket-board"
  static let version = 1
  static let tickets = TableKey<Ticket>("ticket")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try Self.fold(event, into: &tables)
  }

  static func fold(_ event: RecordedEvent, into tables: inout ProjectionTables) throws {
    let id = event.stream.id
    switch try event.decode(TicketEvent.self) {
    case .opened(let title, let priority): tables[tickets, id] = Ticket(title: title, priority: priority)
    case .retitled(let title): tables[tickets, id]?.title = title
    case .closed: tables[tickets, id]?.isOpen = false
    case nil: break
    }
  }
}

/// Reads the clock of the machine.
struct ClockBoard: Projection {
  static let name = "clock-board"
  static let version = 1

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try TicketBoard.fold(event, into: &tables)
    guard case .closed = try event.decode(TicketEvent.self) else { return }
    tables[TicketBoard.tickets, event.stream.id]?.note = "closed at \(Date().timeIntervalSince1970)"
  }
}

/// Draws a number at random.
struct ChanceBoard: Projection {
  static let name = "chance-board"
  static let version = 1

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try TicketBoard.fold(event, into: &tables)
    guard case .opened = try event.decode(TicketEvent.self) else { return }
    tables[TicketBoard.tickets, event.stream.id]?.note = "\(Int.random(in: 0..<1_000_000))"
  }
}

/// Counts in a property, which a restart forgets.
final class CountingBoard: Projection {
  static let name = "counting-board"
  static let version = 1
  private let count = Mutex(0)

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    try TicketBoard.fold(event, into: &tables)
    let number = count.withLock { count in
      count += 1
      return count
    }
    tables[TicketBoard.tickets, event.stream.id]?.note = "change \(number)"
  }
}

/// Fails at an event of a rare form.
struct FailingBoard: Projection {
  struct TooLong: Error {}
  static let name = "failing-board"
  static let version = 1

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    if case .retitled(let title) = try event.decode(TicketEvent.self), title.count > 4 { throw TooLong() }
    try TicketBoard.fold(event, into: &tables)
  }
}

/// A row that loses a field when it is read.
struct ForgetfulTicket: Codable, Sendable {
  var title: String
  var changes: Int

  enum CodingKeys: CodingKey { case title, changes }

  init(title: String, changes: Int) { (self.title, self.changes) = (title, changes) }

  init(from decoder: any Decoder) throws {
    title = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .title)
    changes = 0
  }
}

/// Keeps rows that change when they are read. Whether they are read depends on what is still in memory.
struct ForgetfulBoard: Projection {
  static let name = "forgetful-board"
  static let version = 1
  static let tickets = TableKey<ForgetfulTicket>("ticket")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    let id = event.stream.id
    switch try event.decode(TicketEvent.self) {
    case .opened(let title, _): tables[Self.tickets, id] = ForgetfulTicket(title: title, changes: 0)
    case .retitled(let title):
      tables[Self.tickets, id]?.title = title
      tables[Self.tickets, id]?.changes += 1
    case .closed, nil: break
    }
  }
}

/// A row that writes other fields than it reads.
struct OneWayTicket: Codable, Sendable {
  var title: String

  enum CodingKeys: CodingKey { case title, name }

  init(title: String) { self.title = title }

  init(from decoder: any Decoder) throws {
    title = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(title, forKey: .title)
  }
}

/// Writes rows that nobody can read.
struct OneWayBoard: Projection {
  static let name = "one-way-board"
  static let version = 1
  static let tickets = TableKey<OneWayTicket>("ticket")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    guard case .opened(let title, _) = try event.decode(TicketEvent.self) else { return }
    tables[Self.tickets, event.stream.id] = OneWayTicket(title: title)
  }
}

/// Events of which an old form was forgotten: `created` has no upcast.
enum ForgetfulEvent: DomainEvent {
  case opened(title: String, priority: Int)
  case retitled(title: String)
  case closed
}
