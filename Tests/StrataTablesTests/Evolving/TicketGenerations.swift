// Three generations of an application's events, and what each of their values means to the newest one.

internal import StrataEvents
internal import StrataTables
internal import StrataSimulation

/// What the first release wrote.
enum TicketV1: DomainEvent, Equatable {
  case created(text: String)
  case assignedAndNoted(to: String, note: String)
  case hours(String)
  case touched
  case done

  static let eventPrefix = "ticket."

  /// What it means today.
  var now: [TicketV3] {
    switch self {
    case .created(let text): [.opened(title: text, tags: [])]
    case .assignedAndNoted(let owner, let note): [.assigned(to: owner), .noted(note)]
    // Hours became minutes, first as a number.
    case .hours(let hours): [.worked(minutes: Int(hours)! * 60)]
    case .touched: []
    case .done: [.closed(reason: "done")]
    }
  }

  static func random(_ random: inout SeededGenerator) -> TicketV1 {
    let number = Int.random(in: 0..<9, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: return .created(text: "title \(number)")
    case 2: return .assignedAndNoted(to: "owner \(number)", note: "note \(number)")
    case 3: return .hours("\(number)")
    case 4: return .touched
    default: return .done
    }
  }
}

/// What the second release wrote: a renamed event with a renamed field, a split event, and a field of another type.
enum TicketV2: DomainEvent, Equatable {
  case opened(title: String)
  case assigned(to: String)
  case noted(String)
  case hours(Int)
  case closed

  static let eventPrefix = "ticket."
  static let upcasts = [
    Upcast("ticket.created", to: "ticket.opened") { $0.renameKey("text", to: "title") },
    Upcast("ticket.assignedAndNoted", into: ["ticket.assigned", "ticket.noted"]) { old in
      [("ticket.assigned", ["to": old["to"] ?? .null]), ("ticket.noted", ["_0": old["note"] ?? .null])]
    },
    Upcast("ticket.hours", to: "ticket.hours.2") { payload in
      guard case .string(let text) = payload["_0"], let hours = Int(text) else { throw NotANumber() }
      payload["_0"] = DocumentValue(hours)
    },
    Upcast(dropping: "ticket.touched"),
    Upcast("ticket.done", to: "ticket.closed"),
  ]

  var now: [TicketV3] {
    switch self {
    case .opened(let title): [.opened(title: title, tags: [])]
    case .assigned(let owner): [.assigned(to: owner)]
    case .noted(let note): [.noted(note)]
    case .hours(let hours): [.worked(minutes: hours * 60)]
    case .closed: [.closed(reason: "done")]
    }
  }

  static func random(_ random: inout SeededGenerator) -> TicketV2 {
    let number = Int.random(in: 0..<9, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: return .opened(title: "title \(number)")
    case 2: return .assigned(to: "owner \(number)")
    case 3: return .hours(number)
    case 4: return .noted("note \(number)")
    default: return .closed
    }
  }
}

/// What the third release writes: added fields, and hours as minutes under another name. It continues the list of the
/// second release.
enum TicketV3: DomainEvent, Equatable {
  case opened(title: String, tags: [String])
  case assigned(to: String)
  case noted(String)
  case worked(minutes: Int)
  case closed(reason: String)

  static let eventPrefix = "ticket."
  static let upcasts =
    TicketV2.upcasts + [
      Upcast("ticket.opened", to: "ticket.opened.2") { $0["tags"] = [] },
      Upcast("ticket.hours.2", to: "ticket.worked") { payload in
        guard case .int(let hours) = payload["_0"] else { throw NotANumber() }
        payload = ["minutes": DocumentValue(hours * 60)]
      },
      Upcast("ticket.closed", defaults: ["reason": "done"]),
    ]
  static let eventDecoding = EventDecoding.strict

  static func random(_ random: inout SeededGenerator) -> TicketV3 {
    let number = Int.random(in: 0..<9, using: &random)
    switch Int.random(in: 0..<6, using: &random) {
    case 0, 1: return .opened(title: "title \(number)", tags: ["tag \(number)"])
    case 2: return .assigned(to: "owner \(number)")
    case 3: return .worked(minutes: number)
    case 4: return .noted("note \(number)")
    default: return .closed(reason: "reason \(number)")
    }
  }
}

private struct NotANumber: Error {}

/// A ticket as the third release shows it.
struct EvolvedTicket: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var title = ""
  var tags: [String] = []
  var owner: String?
  var notes: [String] = []
  var minutes = 0
  var end: String?

  mutating func apply(_ change: TicketV3) {
    switch change {
    case .opened(let title, let tags): (self.title, self.tags, end) = (title, tags, nil)
    case .assigned(let owner): self.owner = owner
    case .noted(let note): notes.append(note)
    case .worked(let minutes): self.minutes += minutes
    case .closed(let reason): end = reason
    }
  }
}

/// The third release's projection.
struct EvolvedBoard: Projection {
  static let name = "evolved-board"
  static let version = 1
  static let tickets = TableKey<EvolvedTicket>("ticket")

  func apply(_ event: RecordedEvent, to tables: inout ProjectionTables) throws {
    let id = event.stream.id
    for change in try event.decodeAll(TicketV3.self) {
      var ticket = tables[Self.tickets, id] ?? EvolvedTicket(id: id)
      ticket.apply(change)
      tables[Self.tickets, id] = ticket
    }
  }
}
