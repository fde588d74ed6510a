// A selection of types in all their forms, and of types that are not known before the program runs.

import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct SelectedFormsTests {
  private enum TicketEvent: DomainEvent {
    case opened(title: String, priority: Int)
    case closed
    case billed(cents: Int)

    static let upcasts = [
      Upcast("created", to: "opened"),
      Upcast("opened", to: "opened.2") { $0.renameKey("text", to: "title") },
      Upcast("opened.2", to: "opened.3") { $0["priority"] = 3 },
      Upcast("opened.3", defaults: ["priority": 3]),
      Upcast("closedAndBilled", into: ["closed", "billed"]) { old in
        [("closed", [:]), ("billed", ["cents": old["cents"] ?? 0])]
      },
      Upcast(dropping: "resized"),
    ]
  }

  private struct Shipped: DomainEvent {
    var to: String

    static let eventPrefix = "order."
    static let eventType = "shipped"
    static let upcasts = [Upcast("sent", to: "order.shipped")]
  }

  private enum Plain: DomainEvent {
    case one, two

    static let eventPrefix = "plain."
  }

  private enum Circular: DomainEvent {
    case a

    static let upcasts = [Upcast("a", to: "b"), Upcast("b", to: "a")]
  }

  private static let names = [
    "created", "opened", "opened.2", "opened.3", "opened.4", "closed", "billed", "closedAndBilled", "resized",
    "sent", "order.shipped", "plain.one", "plain.two",
  ]

  private static func store() async throws -> EventStore {
    let store = EventStore.inMemory(clock: .fixed)
    try await store.append(names.map { NewEvent($0, in: "ticket/1", [:]) })
    return store
  }

  private func selected(_ selection: EventSelection, in store: EventStore) async throws -> [String] {
    var types: [String] = []
    for try await append in store.feed(of: selection, until: .caughtUp) { types += append.events.map(\.type) }
    return types
  }

  @Test func `a type is selected under all names that its events have or had`() async throws {
    let store = try await Self.store()
    let opened = ["created", "opened", "opened.2", "opened.3"]
    for name in opened {
      #expect(try await selected(.types(name, of: TicketEvent.self), in: store) == opened, "\(name)")
      #expect(
        try await selected(.category("ticket").types(name, of: TicketEvent.self), in: store) == opened,
        "\(name)")
    }
    #expect(
      try await selected(.types("closed", of: TicketEvent.self), in: store) == ["closed", "closedAndBilled"])
    #expect(
      try await selected(.types("closedAndBilled", of: TicketEvent.self), in: store)
        == ["closed", "billed", "closedAndBilled"])
    #expect(try await selected(.types("resized", of: TicketEvent.self), in: store) == ["resized"])
    #expect(
      try await selected(.types("opened", "billed", of: TicketEvent.self), in: store)
        == opened + ["billed", "closedAndBilled"])
    // A second condition on types narrows the first.
    #expect(
      try await selected(.types("opened", "closed").types("opened", of: TicketEvent.self), in: store) == [
        "opened"
      ])
  }

  @Test func `a struct's type needs no name, and a type without upcasts has one form`() async throws {
    let store = try await Self.store()
    #expect(try await selected(.types(of: Shipped.self), in: store) == ["sent", "order.shipped"])
    #expect(try await selected(.types("sent", of: Shipped.self), in: store) == ["sent", "order.shipped"])
    #expect(try await selected(.types("plain.two", of: Plain.self), in: store) == ["plain.two"])
  }

  @Test func `a name that the type cannot have, no name of an enum, and unclear upcasts are refused`() {
    func refusal(_ body: () throws -> EventSelection) -> String? {
      do { _ = try body() } catch { return (error as? StoreError)?.what }
      return nil
    }
    #expect(refusal { try .types("two", of: Plain.self) }?.contains("'two' is not a type of Plain") == true)
    #expect(
      refusal { try .types("returned", of: Shipped.self) }?.contains("'returned' is not a type") == true)
    #expect(refusal { try .types(of: TicketEvent.self) }?.contains("cannot be listed") == true)
    #expect(refusal { try .types("a", of: Circular.self) }?.contains("circle") == true)
  }

  @Test func `types are given one by one, or as a collection`() async throws {
    let store = try await Self.store()
    let wanted = ["closed", "opened", "none"]
    #expect(try await selected(.types(wanted), in: store) == ["opened", "closed"])
    #expect(try await selected(.category("ticket").types(Set(wanted)), in: store) == ["opened", "closed"])
    #expect(try await selected(.types("closed", "opened"), in: store) == ["opened", "closed"])
    #expect(try await selected(.types([]), in: store) == [])
  }
}
