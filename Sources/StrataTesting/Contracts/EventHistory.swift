// Histories of a store: what was appended, and what happened to the store in between.

public import StrataCheck
public import StrataEvents
internal import StrataLog
internal import StrataPast
public import StrataSimulation

/// What happens to a store, step by step.
public struct EventHistory: Sendable, SwiftSourceConvertible {
  public enum Step: Sendable {
    /// Appends events as one append, a number of seconds after the step before it. The clock of a machine may be set
    /// back, so the number may be negative.
    case append([HistoryEvent], seconds: Int = 1)
    /// Saves the tables.
    case checkpoint
    /// Closes the store, and opens it again.
    case reopen
    /// Cuts the power, which loses what was not synced, and opens the store again.
    case powerCut
  }

  public var steps: [Step]

  public init(_ steps: [Step]) { self.steps = steps }

  /// How many events there are.
  public var eventCount: Int {
    steps.reduce(0) { count, step in
      if case .append(let events, _) = step { count + events.count } else { count }
    }
  }

  /// All events, in their order.
  func events() throws -> [NewEvent] {
    var events: [NewEvent] = []
    for case .append(let appended, _) in steps { events += try appended.map { try $0.event.get() } }
    return events
  }

  public var swiftSource: String {
    let lines = steps.map { step in
      switch step {
      case .append(let events, let seconds):
        let list = events.map(\.swiftSource).joined(separator: ", ")
        return "  .append([\(list)]\(seconds == 1 ? "" : ", seconds: \(seconds)")),"
      case .checkpoint: return "  .checkpoint,"
      case .reopen: return "  .reopen,"
      case .powerCut: return "  .powerCut,"
      }
    }
    return (["EventHistory(["] + lines + ["])"]).joined(separator: "\n")
  }

  /// Appends the events to a store, without the other steps.
  /// - Throws: what encoding an event and appending it throws.
  public func append(to store: EventStore) async throws {
    let clock = SimulatedClock()
    for case .append(let events, let seconds) in steps {
      clock.advance(by: .seconds(seconds))
      try await store.append(try events.map { try $0.event.get() }, time: Timestamp(nanoseconds: clock.now))
    }
  }

  /// Carries out all steps on a simulated disk. The closure is called with the store after each of them.
  nonisolated(nonsending) func run(
    on disk: SimulatedDisk, _ look: nonisolated(nonsending) (EventStore) async throws -> Void
  ) async throws {
    let clock = SimulatedClock()
    var options = StoreOptions()
    options.clock = clock.storeClock
    var disk = disk
    var store = try await disk.open(at: "/store", options: options)
    for step in steps {
      switch step {
      case .append(let events, let seconds):
        clock.advance(by: .seconds(seconds))
        try await store.append(try events.map { try $0.event.get() })
      case .checkpoint: try await store.checkpoint()
      case .reopen:
        try await store.close()
        store = try await disk.open(at: "/store", options: options)
      case .powerCut:
        let after = disk.afterPowerCut(seed: 0)
        disk.cutPower()
        try? await store.close()
        disk = after
        store = try await disk.open(at: "/store", options: options)
      }
      try await look(store)
    }
    try await store.close()
  }
}

extension Gen where Value == EventHistory {
  /// Histories of an application's events: appends of one to three, times that go forwards and back, saved tables,
  /// restarts and power cuts.
  ///
  /// - Parameters:
  ///   - type: the events' type.
  ///   - events: their generator; by default each case with its values, see ``/StrataCheck/Gen/decodable(_:)``.
  ///   - streams: the streams that they are in. Few streams, so that events of one follow each other.
  ///   - older: what older versions of the program wrote.
  public static func histories<Event: DomainEvent>(
    of type: Event.Type, events: Gen<Event> = .decodable(), in streams: [StreamName] = ["x/a", "x/b", "x/c"],
    older: [Gen<HistoryEvent>] = []
  ) -> Gen {
    let event = Gen<HistoryEvent> { (choices) throws(Rejection) in
      let kind = older.isEmpty ? 0 : try choices.index(below: older.count + 1)
      if kind > 0 { return try choices.draw(older[kind - 1]) }
      let stream = streams[try choices.index(below: streams.count)]
      return HistoryEvent(try choices.draw(events), in: stream)
    }
    let seconds = Gen<Int>.frequency((8, .always(1)), (2, .integer(in: -3_600...86_400, towards: 1)))
    let append = zip(event.array(count: 1...3), seconds).map { EventHistory.Step.append($0, seconds: $1) }
    let step = Gen<EventHistory.Step>.frequency(
      (12, append), (1, .always(.checkpoint)), (1, .always(.reopen)), (1, .always(.powerCut)))
    return step.array().map { EventHistory($0) }
  }
}
