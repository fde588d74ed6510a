// The store from an application's side: what is appended is read back, conflicts say what was there.

import Foundation
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

enum TicketEvent: DomainEvent, Equatable {
  case opened(title: String)
  case assigned(to: String)
  case closed
}

struct Ticket: Codable, Identifiable, Sendable, Equatable {
  var id: String
  var status: String
}

struct EventStoreTests {
  @Test func `what is appended is read back in order and decoded`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    try await store.append([TicketEvent.opened(title: "x"), .assigned(to: "me")], to: "ticket/42")
    let receipt = try await store.append(
      [TicketEvent.closed], to: "ticket/42", id: "a1", expecting: .exactly(2))
    #expect(receipt.sequences == 3...3)
    let events = try await store.events(in: "ticket/42")
    #expect(events.map(\.type) == ["opened", "assigned", "closed"])
    #expect(events.map(\.revision) == [1, 2, 3])
    #expect(
      try events.map { try $0.decode(TicketEvent.self) } == [
        .opened(title: "x"), .assigned(to: "me"), .closed,
      ])
    try await store.close()
  }

  @Test func `what a program may not append it may not write either`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    _ = store.collection("ticket", of: Ticket.self)
    let forged = [
      NewEvent("$erased", in: "$erasures", .null),
      NewEvent("$erase", in: "$erasures", ["streams": ["person/1"], "sequences": [], "reason": ""]),
      NewEvent("$other", in: "a/1", .null), NewEvent("closed", in: "ticket/1", .null),
    ]
    for event in forged {
      await #expect(throws: StoreError.self) { try await store.append([event]) }
      await #expect(throws: StoreError.self) {
        try await store.write { batch in
          try batch.append(NewEvent("fine", in: "a/1", .null))
          try batch.append(event)
        }
      }
    }
    #expect(store.head.sequence == 0)
    try await store.close()
  }

  @Test func `a category is its bytes, and the same text in other bytes is another category`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    _ = store.collection("caf\u{e9}", of: Ticket.self)
    try await store.append([TicketEvent.closed], to: "cafe\u{301}/1")
    await #expect(throws: StoreError.self) {
      try await store.append([TicketEvent.closed], to: "caf\u{e9}/1")
    }
    #expect(store.head.sequence == 1)
    try await store.close()
  }

  @Test func `a category of documents with a slash or a dollar sign in front stops the program`() async {
    await #expect(processExitsWith: .failure) {
      _ = EventStore.inMemory().collection("a/b", of: Ticket.self)
    }
    // A combining mark after the byte makes another character of it, and the same name of a stream.
    await #expect(processExitsWith: .failure) {
      _ = EventStore.inMemory().collection("a/\u{301}b", of: Ticket.self)
    }
    await #expect(processExitsWith: .failure) {
      _ = EventStore.inMemory().collection("$\u{301}x", of: Ticket.self)
    }
  }

  @Test func `one append may expect a stream twice if both expectations mean the same`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    func write(_ stream: StreamName, _ versions: [ExpectedVersion]) async throws {
      try await store.write { batch in
        for version in versions { try batch.append(NewEvent("t", in: stream, .null), expecting: version) }
      }
    }
    try await write("a/1", [.noStream, .exactly(0), .any, .noStream])
    try await write("b/1", [.exactly(0), .noStream])
    try await write("a/1", [.exactly(4), .any, .exactly(4)])
    #expect(store.head.sequence == 9)
    for (versions, text) in [
      ([.exactly(7), .exists], "version 7, and at least one event"),
      ([.exactly(0), .exactly(7)], "no stream, and version 7"),
    ] as [([ExpectedVersion], String)] {
      await #expect(
        throws: StoreError.invalid(what: "one append has two expectations of a/1: \(text)")
      ) { try await write("a/1", versions) }
    }
    #expect(store.head.sequence == 9)
    try await store.close()
  }

  @Test func `what is nested too deep to be read back is refused, in payloads and in metadata`() async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    var deepest = DocumentValue.null
    for _ in 0..<CodecLimits.depthMax { deepest = .array([deepest]) }
    let deeper = DocumentValue.object(["body": deepest])
    try await store.append([NewEvent("t", in: "a/1", deepest)])
    #expect(try await store.events(in: "a/1").first?.payload.document() == deepest)
    func refusal(_ what: String) -> StoreError {
      .outsideFormat(
        what: "the nesting of the \(what) of a/1", actual: CodecLimits.depthMax + 1,
        limit: CodecLimits.depthMax)
    }
    await #expect(throws: refusal("payload")) { try await store.append([NewEvent("t", in: "a/1", deeper)]) }
    await #expect(throws: refusal("metadata")) {
      try await store.append([NewEvent("t", in: "a/1", .null, metadata: ["body": deepest])])
    }
    #expect(store.head.sequence == 1)
    try await store.close()
  }

  @Test func `what is nested deeper than a stack is refused with its depth, however it is given`()
    async throws
  {
    struct Holder: Codable, Identifiable {
      var id: Int
      var body: DocumentValue
    }
    let store = EventStore.inMemory(clock: .fixed)
    let depth = 200_000
    var deep = DocumentValue.null
    for level in 0..<depth {
      deep = level % 3 == 0 ? .tagged(7, deep) : level % 3 == 1 ? ["x": deep] : [1, deep]
    }
    func refusal(_ what: String, _ depth: Int) -> StoreError {
      .outsideFormat(what: "the nesting of the \(what) of a/1", actual: depth, limit: CodecLimits.depthMax)
    }
    #expect(deep.depth == depth)
    await #expect(throws: refusal("payload", depth)) {
      try await store.append([NewEvent("t", in: "a/1", deep)])
    }
    await #expect(throws: refusal("metadata", depth + 1)) {
      try await store.append([NewEvent("t", in: "a/1", .null, metadata: ["m": deep])])
    }
    let holders = store.collection("holder", of: Holder.self)
    await #expect {
      try await holders.put(Holder(id: 1, body: deep))
    } throws: { error in
      guard case .invalid(let what, _)? = error as? StoreError else { return false }
      return what.contains("nested deeper than \(CodecLimits.depthMax)") && what.utf8.count < 1_000
    }
    #expect(store.head.sequence == 0)
    try await store.close()
  }

  @Test func `a value that hands its encoding over without end is refused`() async throws {
    final class Chain: Encodable {
      var next: Chain?
      init(_ next: Chain?) { self.next = next }

      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let next { try container.encode(next) } else { try container.encode("end") }
      }
    }
    func chain(_ length: Int) -> Chain {
      (1..<length).reduce(into: Chain(nil)) { chain, _ in chain = Chain(chain) }
    }
    #expect(try CBOREncoder().encode(chain(CodecLimits.depthMax)) == DocumentValue.string("end").cbor())
    var long = chain(200_000)
    #expect(throws: EncodingError.self) { try CBOREncoder().encode(long) }
    while let next = long.next {
      long.next = nil
      long = next
    }
  }

  @Test func `a store that was closed still says what it has, and changes nothing`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let tickets = store.collection("ticket", of: Ticket.self)
    try await tickets.put(Ticket(id: "1", status: "open"))
    let receipt = try await store.append([TicketEvent.closed], to: "other/1", id: "a1")
    let head = store.head
    for _ in 0..<2 {
      try await store.close()
      #expect(store.head == head && store.lastTime == receipt.time && store.firstSequence == 1)
      #expect(try await store.events(in: "other/1").map(\.type) == ["closed"])
      #expect(try await store.append(withID: "a1")?.sequences == receipt.sequences)
      #expect(try await store.append(holding: 1)?.sequences == 1...1)
      #expect(try await store.position(at: receipt.time) == head)
      var delivered = 0
      for try await append in store.feed() { delivered += append.events.count }
      #expect(delivered == 2, "a feed delivers what is there and ends")
      await #expect(throws: StoreError.closed) { try await store.append([TicketEvent.closed], to: "other/1") }
      // Not even one that is in the log already.
      await #expect(throws: StoreError.closed) {
        try await store.append([TicketEvent.closed], to: "other/1", id: "a1")
      }
      await #expect(throws: StoreError.closed) { try await tickets.delete("1") }
      await #expect(throws: StoreError.closed) { try await store.seal() }
      await #expect(throws: StoreError.closed) { try await store.suspend() }
      await #expect(throws: StoreError.closed) { try await store.resume() }
      await #expect(throws: StoreError.closed) {
        try await store.erase(Erasure(streams: ["other/1"], because: "asked to"))
      }
      #expect(store.head == head)
    }
  }

  @Test func `a receipt says which store gave it`() async throws {
    let (store, other) = (EventStore.inMemory(), EventStore.inMemory())
    #expect(try await store.append([TicketEvent.closed], to: "t/1").store == store.id)
    #expect(try store.appendBlocking([NewEvent("t", in: "t/1", .null)]).store == store.id)
    #expect(try await other.append([TicketEvent.closed], to: "t/1").store == other.id)
  }

  @Test func `a conflict says what was expected and what was there`() async throws {
    let store = EventStore.inMemory()
    try await store.append([TicketEvent.closed], to: "t/1")
    await #expect(throws: StoreError.conflict(stream: "t/1", expected: .noStream, actual: 1)) {
      try await store.append([TicketEvent.closed], to: "t/1", expecting: .noStream)
    }
    let error = StoreError.conflict(stream: "t/1", expected: .exactly(2), actual: 1)
    #expect(error.what == "t/1 is at version 1, and version 2 was expected")
    #expect(store.head.sequence == 1)
  }

  @Test func `the same id appends once, and refuses other content`() async throws {
    let store = EventStore.inMemory()
    let first = try await store.append([TicketEvent.closed], to: "t/1", id: "x")
    let second = try await store.append([TicketEvent.closed], to: "t/1", id: "x")
    #expect(second.wasKnown && second.sequences == first.sequences)
    await #expect(throws: StoreError.idReused(id: "x", sequences: 1...1)) {
      try await store.append([TicketEvent.opened(title: "")], to: "t/1", id: "x")
    }
  }

  @Test func `a feed delivers everything that was appended before the store was closed`() async throws {
    for number in 0..<300 {
      let store = EventStore.inMemory(clock: .fixed)
      let reader = Task {
        var count = 0
        for try await append in store.feed() { count += append.events.count }
        return count
      }
      // Each round the reader is at another place when the last append comes.
      for _ in 0..<number % 10 { await Task.yield() }
      try await store.append([TicketEvent.closed], to: "t/1")
      try await store.append([TicketEvent.closed], to: "t/1")
      try await store.close()
      #expect(try await reader.value == 2)
    }
  }

  @Test func `an append that is in the log succeeds again, whatever it expects of its stream`() async throws {
    let store = EventStore.inMemory()
    let first = try await store.append([TicketEvent.closed], to: "t/1", id: "x", expecting: .noStream)
    try await store.append([TicketEvent.closed], to: "t/1")
    let again = try await store.append([TicketEvent.closed], to: "t/1", id: "x", expecting: .noStream)
    #expect(again.wasKnown && again.sequences == first.sequences && store.head.sequence == 2)
  }

  @Test func `a feed replays and then waits for what comes`() async throws {
    let store = EventStore.inMemory()
    for number in 1...5 {
      try await store.append([TicketEvent.opened(title: "\(number)")], to: "t/\(number)")
    }
    let reader = Task {
      var seen: [UInt64] = []
      for try await append in store.feed() {
        seen.append(append.sequences.lowerBound)
        if seen.count == 10 { break }
      }
      return seen
    }
    for number in 6...10 {
      try await store.append([TicketEvent.opened(title: "\(number)")], to: "t/\(number)")
    }
    #expect(try await reader.value == Array(1...10))
  }

  @Test func `a store on disk is there again after it was closed, and readable beside its writer`()
    async throws
  {
    let path = NSTemporaryDirectory() + "strata-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try await EventStore.open(at: path)
    let incidents = store.collection("incident", of: Ticket.self)
    try await incidents.put(Ticket(id: "1", status: "Open"))
    let reader = try await EventStore.open(at: path, .readOnly)
    #expect(reader.head == store.head)
    await #expect(throws: StoreError.self) { _ = try await EventStore.open(at: path) }
    try await incidents.put(Ticket(id: "1", status: "Closed"))
    var count = 0
    for try await _ in reader.feed() {
      count += 1
      if count == 2 { break }
    }
    try await store.close()
    let again = try await EventStore.open(at: path)
    #expect(again.head.sequence == 2)
    #expect(again.tornBytes == 0)
    let version = try await again.version(of: "incident/1")
    #expect(version == 2)
  }
}
