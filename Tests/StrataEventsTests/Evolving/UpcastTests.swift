// Upcasts: how older forms of events are read, and which definitions are refused.

import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import StrataEvents

struct UpcastTests {
  /// Appends events of given types to one stream, and returns them as recorded.
  static func recorded(
    _ events: [(String, DocumentValue)], metadata: DocumentObject = [:]
  ) async throws -> [RecordedEvent] {
    let store = EventStore.inMemory(clock: .fixed)
    try await store.append(
      events.map { NewEvent($0.0, in: "note/1", payload: EventPayload($0.1), metadata: metadata) })
    return try await store.events(in: "note/1")
  }

  static func recorded(_ type: String, _ payload: DocumentValue) async throws -> RecordedEvent {
    try await recorded([(type, payload)])[0]
  }

  // MARK: Chains

  private enum Note: DomainEvent, Equatable {
    case opened(title: String, log: [String])
    case closed

    static let upcasts = [
      // The order of the list does not matter.
      Upcast("opened.2", to: "opened.3") { $0.add("2 to 3") },
      Upcast("created", to: "opened"),
      Upcast("opened", to: "opened.2") {
        $0.renameKey("text", to: "title")
        $0.add("1 to 2")
      },
    ]
  }

  @Test func `each form becomes the newest one, by each step once and in order`() async throws {
    let text: DocumentObject = ["text": "x", "log": []]
    let title: DocumentObject = ["title": "x", "log": []]
    let events = try await Self.recorded([
      ("created", .object(text)), ("opened", .object(text)), ("opened.2", .object(title)),
      ("opened.3", .object(title)), ("closed", [:]), ("other", [:]),
    ])
    #expect(
      try events.map { try $0.decode(Note.self) } == [
        .opened(title: "x", log: ["1 to 2", "2 to 3"]), .opened(title: "x", log: ["1 to 2", "2 to 3"]),
        .opened(title: "x", log: ["2 to 3"]), .opened(title: "x", log: []), .closed, nil,
      ])
    // What a newer program wrote is of another type.
    #expect(try await Self.recorded("opened.4", .object(title)).decode(Note.self) == nil)
  }

  @Test func `a case is written under the newest version of its name, and read back`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let notes = [Note.opened(title: "x", log: ["own"]), .closed]
    try await store.append(notes, to: "note/1")
    let events = try await store.events(in: "note/1")
    #expect(events.map(\.type) == ["opened.3", "closed"])
    #expect(try events.map { try $0.decode(Note.self) } == notes)
    #expect(try events.map { try $0.decodeAll(Note.self) } == notes.map { [$0] })
  }

  private struct Priced: DomainEvent, Equatable {
    static let eventPrefix = "shop."
    static let eventType = "priced"
    static let upcasts = [
      Upcast("priced", to: "shop.priced"),
      Upcast("shop.priced", to: "shop.priced.2") { payload in
        guard case .string(let text) = payload["cents"], let cents = Int(text) else { throw Oops() }
        payload["cents"] = DocumentValue(cents)
      },
    ]
    var cents: Int
  }

  private struct Oops: Error {}

  @Test func `a struct evolves too: its prefix, its type, and a field of another type`() async throws {
    #expect(try Priced(cents: 7).encoded().type == "shop.priced.2")
    let events = try await Self.recorded([
      ("priced", ["cents": "5"]), ("shop.priced", ["cents": "6"]), ("shop.priced.2", ["cents": 7]),
    ])
    #expect(try events.map { try $0.decode(Priced.self)?.cents } == [5, 6, 7])
  }

  @Test func `a step that throws names the event, its form and the cause`() async throws {
    let event = try await Self.recorded("priced", ["cents": "many"])
    #expect {
      try event.decode(Priced.self)
    } throws: { error in
      "\(error)".contains("event 1 of type priced cannot be upcast from 'shop.priced': Oops()")
        && "\(error)".hasSuffix("; correct the upcast from 'shop.priced', so that it reads what was recorded")
    }
    let scalar = try await Self.recorded("shop.priced", 5)
    #expect {
      try scalar.decode(Priced.self)
    } throws: { error in
      "\(error)".contains("event 1 of type shop.priced") && "\(error)".contains("is not an object")
    }
    let newest = try await Self.recorded("shop.priced.2", ["cents": "8"])
    #expect {
      try newest.decode(Priced.self)
    } throws: { error in
      "\(error)".hasSuffix("; correct the type, or add an upcast from the form that was recorded")
    }
  }

  private enum KeyedNote: DomainEvent, Equatable {
    case opened(title: String)

    enum CodingKeys: String, CodingKey { case opened = "opened.2" }

    static let upcasts = [Upcast("opened", to: "opened.2") { $0.renameKey("text", to: "title") }]
  }

  @Test func `a version may also be in the coding key of a case`() async throws {
    let (type, payload) = try KeyedNote.opened(title: "x").encoded()
    #expect(type == "opened.2")
    let events = try await Self.recorded([("opened", ["text": "x"]), (type, payload.document())])
    #expect(try events.map { try $0.decode(KeyedNote.self) } == [.opened(title: "x"), .opened(title: "x")])
  }

  // MARK: Other steps

  private enum Order: DomainEvent, Equatable {
    case added(item: String, count: Int)
    case paid
    case noted(by: String)

    static let upcasts = [
      Upcast("items", into: ["added"]) { payload in
        guard case .array(let items) = payload["items"] else { return [] }
        return items.map { ("added", ["item": $0]) }
      },
      Upcast("addedAndPaid", into: ["items", "paid"]) { payload in
        [("items", ["items": .array([payload["item"] ?? .null])]), ("paid", [:])]
      },
      Upcast("added", defaults: ["count": 1]),
      Upcast(dropping: "touched"),
      Upcast("remarked", to: "noted") { payload, event in
        payload["by"] = try event.metadata()["user"]
      },
      Upcast("strange", into: ["paid"]) { _ in [("added", [:])] },
      Upcast("lost", to: "nothing"),
    ]
  }

  @Test func `a split event is several events, in order, and steps apply to each`() async throws {
    let events = try await Self.recorded([
      ("items", ["items": ["a", "b"]]), ("addedAndPaid", ["item": "c"]), ("items", ["items": []]),
      ("items", ["items": ["d"]]), ("paid", [:]),
    ])
    #expect(
      try events.map { try $0.decodeAll(Order.self) } == [
        [.added(item: "a", count: 1), .added(item: "b", count: 1)],
        [.added(item: "c", count: 1), .paid], [], [.added(item: "d", count: 1)], [.paid],
      ])
    for split in events[0...1] {
      #expect {
        try split.decode(Order.self)
      } throws: { error in
        "\(error)".contains("is 2 events of Order now; decode it with decodeAll")
      }
    }
    #expect(try events[2].decode(Order.self) == nil)
    #expect(try events[3].decode(Order.self) == .added(item: "d", count: 1))
  }

  @Test func `a dropped event decodes to nothing, whatever its payload is`() async throws {
    for payload in [EventPayload(codec: .cbor, bytes: [0xFF]), EventPayload(["x": 1])] {
      let store = EventStore.inMemory(clock: .fixed)
      try await store.append([NewEvent("touched", in: "note/1", payload: payload)])
      let event = try await store.events(in: "note/1")[0]
      #expect(try event.decode(Order.self) == nil && event.decodeAll(Order.self) == [])
    }
  }

  @Test func `defaults are for fields that are absent, in events of today too`() async throws {
    let events = try await Self.recorded([
      ("added", ["item": "a"]), ("added", ["item": "b", "count": 3]),
      ("added", ["item": "c", "count": .null]),
    ])
    #expect(try events[0].decode(Order.self) == .added(item: "a", count: 1))
    #expect(try events[1].decode(Order.self) == .added(item: "b", count: 3))
    #expect(throws: StoreError.self) { try events[2].decode(Order.self) }
  }

  @Test func `a step sees the event as it was recorded`() async throws {
    let event = try await Self.recorded([("remarked", [:])], metadata: ["user": "ann"])[0]
    #expect(try event.decode(Order.self) == .noted(by: "ann"))
  }

  @Test func `a step that leads to an unlisted type or to no case is an error`() async throws {
    let events = try await Self.recorded([("strange", [:]), ("lost", [:])])
    #expect {
      try events[0].decode(Order.self)
    } throws: { "\($0)".contains("'added' is not among the types that the upcast lists") }
    #expect {
      try events[1].decodeAll(Order.self)
    } throws: { "\($0)".contains("to the type nothing, which Order does not have") }
  }

  @Test func `payloads in JSON are upcast as those in CBOR are, and erased events are of no type`()
    async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    let payload = EventPayload(codec: .json, bytes: Array(#"{"text":"x","log":[]}"#.utf8))
    try await store.append([NewEvent("created", in: "note/1", payload: payload)])
    #expect(
      try await store.events(in: "note/1")[0].decode(Note.self)
        == .opened(title: "x", log: ["1 to 2", "2 to 3"]))
    try await store.erase(Erasure(streams: ["note/1"], because: "test"))
    let erased = try await store.events(in: "note/1")[0]
    #expect(try erased.state == .erased && erased.decodeAll(Note.self) == [])
  }

  @Test func `an event that becomes too many events is an error`() async throws {
    enum Many: DomainEvent {
      case one
      static let upcasts = [
        Upcast("all", into: ["some"]) { _ in Array(repeating: ("some", [:]), count: 300) },
        Upcast("some", into: ["one"]) { _ in Array(repeating: ("one", [:]), count: 300) },
      ]
    }
    let event = try await Self.recorded("all", [:])
    #expect { try event.decodeAll(Many.self) } throws: { "\($0)".contains("more than 65536 events") }
  }
}

extension DocumentObject {
  /// Adds a line to the field `log`.
  fileprivate mutating func add(_ line: String) {
    guard case .array(let lines) = self["log"] else { return }
    self["log"] = .array(lines + [.string(line)])
  }
}
