// The contract of projections: what it accepts, and what it must refuse.

import Foundation
import Strata
import StrataTesting
import Testing

@Suite struct ProjectionContractTests {
  private static let streams: [StreamName] = ["ticket/1", "ticket/2"]
  private static let events = Gen<EventHistory>.histories(of: TicketEvent.self, in: streams)
  /// What the first version of the program wrote.
  private static let created = Gen<HistoryEvent>.always(
    HistoryEvent(type: "created", in: "ticket/1", json: #"{"title":"x","priority":1}"#))

  @Test func `a projection that keeps its contract passes`() async throws {
    let events = Gen<EventHistory>.histories(of: TicketEvent.self, in: Self.streams, older: [Self.created])
    let report = try await check(
      projection: TicketBoard(), tables: TicketBoard.tickets, events: events,
      Budget(cases: 60, size: 20, duration: .seconds(3_600)),
      seed: 1)
    #expect(report.cases == 60)
    try await check(upcasts: TicketEvent.self, events: events, seed: 1)
  }

  /// A broken projection, and what is expected of its counterexample.
  struct Canary: CustomTestStringConvertible, Sendable {
    let name: String
    /// A part of the law that it breaks.
    let law: String
    /// How many events the counterexample has at most.
    let eventCount: Int
    let run: @Sendable (_ seed: UInt64, _ folder: String) async throws -> CheckReport
    var testDescription: String { name }

    static func of<Broken: Projection, each Row>(
      _ projection: @autoclosure @escaping @Sendable () -> Broken, tables: repeat TableKey<each Row>,
      law: String,
      eventCount: Int
    ) -> Canary {
      let keys = (repeat each tables)
      return Canary(name: Broken.name, law: law, eventCount: eventCount) { seed, folder in
        try await check(
          projection: projection(), tables: repeat each keys, events: events,
          Budget(cases: 100, size: 20, duration: .seconds(3_600)),
          seed: seed, failures: folder, name: Broken.name)
      }
    }
  }

  static let canaries: [Canary] = [
    .of(ClockBoard(), law: "it is pure", eventCount: 2),
    .of(ChanceBoard(), law: "it is pure", eventCount: 1),
    .of(CountingBoard(), law: "it does not depend on", eventCount: 2),
    .of(FailingBoard(), law: "it applies every event: event 1: TooLong()", eventCount: 1),
    .of(ForgetfulBoard(), law: "it does not depend on", eventCount: 3),
    .of(OneWayBoard(), tables: OneWayBoard.tickets, law: "every row decodes", eventCount: 1),
    .of(ForgetfulBoard(), tables: ForgetfulBoard.tickets, law: "every row encodes as it was", eventCount: 2),
  ]

  @Test(arguments: canaries)
  func `a projection that breaks a law is found within a hundred cases, in as few events as show it`(
    _ canary: Canary
  ) async throws {
    let folder = TestFolder()
    for seed: UInt64 in 0..<5 {
      let found = try #require(
        await #expect(throws: Counterexample.self) { try await canary.run(seed, "\(folder.path)/\(seed)") },
        "seed \(seed)"
      )
      #expect("\(found.failure)".contains(canary.law), "seed \(seed): \(found)")
      #expect(found.foundAt <= 100 && !found.isCutShort, "seed \(seed): \(found)")
      #expect(
        found.source.components(separatedBy: "HistoryEvent(").count - 1 <= canary.eventCount, "\(found)")
    }
  }

  @Test func `the counterexample is written as a store, and its source fails in the same way`() async throws {
    let folder = TestFolder()
    let found = try #require(
      await #expect(throws: Counterexample.self) {
        try await check(
          projection: FailingBoard(), events: Self.events,
          Budget(cases: 100, size: 20, duration: .seconds(3_600)),
          seed: 3, failures: folder.path, name: "failing board")
      })
    #expect(
      found.source == """
        EventHistory([
          .append([HistoryEvent(TicketEvent.retitled(title: "aaaaa"), in: "ticket/1")]),
        ])
        """)
    let path = "\(folder.path)/failing-board.strata"
    #expect(found.notes == ["its 1 events are in a store: logreplay log \(path)"])
    let store = try await EventStore.open(at: path, .readOnly)
    #expect(
      try await store.events(in: "ticket/1").compactMap { try $0.decode(TicketEvent.self) }
        == [.retitled(title: "aaaaa")])
    try await store.close()
    // What was printed above, pasted.
    await #expect(throws: Unfulfilled.self) {
      try await check(
        projection: FailingBoard(),
        history: EventHistory([
          .append([HistoryEvent(TicketEvent.retitled(title: "aaaaa"), in: "ticket/1")])
        ]))
    }
  }

  @Test func `an old form of an event that was forgotten is found`() async throws {
    let folder = TestFolder()
    let found = try #require(
      await #expect(throws: Counterexample.self) {
        try await check(
          upcasts: ForgetfulEvent.self,
          events: .histories(of: ForgetfulEvent.self, in: Self.streams, older: [Self.created]),
          Budget(cases: 100, size: 20, duration: .seconds(3_600)), seed: 1, failures: folder.path)
      })
    #expect("\(found.failure)".contains("of type created is no ForgetfulEvent"), "\(found)")
    #expect(
      found.source.contains(#".append([HistoryEvent(type: "created", in: "ticket/1", json: "#), "\(found)")
    #expect(found.source.components(separatedBy: "HistoryEvent(").count == 2)
  }

  @Test func `a type that does not read back what it wrote is found`() async throws {
    /// Forgets its sign.
    struct Amount: Codable, Equatable {
      var cents: Int
      init(cents: Int) { self.cents = cents }
      init(from decoder: any Decoder) throws {
        cents = Int(try decoder.singleValueContainer().decode(UInt.self))
      }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(cents.magnitude)
      }
    }
    let found = await #expect(throws: Counterexample.self) {
      try await check(codec: Gen<Int>.int(in: -10_000...10_000).map { Amount(cents: $0) }, seed: 1)
    }
    #expect(found?.source == "Amount(cents: -1)")
    let failure = "\(found?.failure as Any)"
    #expect(failure.contains("Amount(cents: 1) is not Amount(cents: -1)"))
    try await check(codec: Gen<TicketEvent>.decodable(), Budget(cases: 100), seed: 1)
  }
}

/// A folder that is removed with the test.
private final class TestFolder: Sendable {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("contract-\(UUID().uuidString)")
    .path

  deinit { try? FileManager.default.removeItem(atPath: path) }
}
