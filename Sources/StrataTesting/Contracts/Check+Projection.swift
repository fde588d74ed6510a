// Contracts that an application's projections and codecs are held to.

public import StrataCheck
internal import StrataDocuments
public import StrataEvents
internal import StrataLog
internal import StrataPast
public import StrataTables

/// Holds a projection to what every projection must keep, over random histories.
///
///     try await check(
///       projection: TicketBoard(), tables: TicketBoard.tickets,
///       events: .histories(of: TicketEvent.self, in: ["ticket/1", "ticket/2"]))
///
/// The laws, in the order in which they are looked at:
/// - It applies every event, unless failures are allowed.
/// - It is pure: two folds of the same events make the same rows.
/// - It does not depend on batches: events one by one, with every row read from its encoding, make the same rows.
/// - It does not depend on restarts: with the tables after any event, and a new value of the projection, the rest of the
///   events make the same rows.
/// - Every row of the named tables decodes, and encodes as it was.
/// - It does not depend on saved tables: after checkpoints, restarts and power cuts of a store, its tables are those of a
///   fold of the log.
///
/// A case costs O(events²). What differs only in another process, or after a day, is not found: a projection that reads
/// the date without the time, for example.
///
/// - Parameters:
///   - projection: makes the projection, as a start of the program does; it is called for each fold.
///   - tables: the tables whose rows are read as their types.
///   - events: the histories, see ``StrataCheck/Gen/histories(of:events:in:older:)``.
///   - failuresAllowed: whether the projection may throw.
///   - folder: where the counterexample is kept, see ``/StrataCheck/Property/check(_:seed:failures:)``.
/// - Throws: ``/StrataCheck/Counterexample`` with the shortest history found. Its notes say where that is as a store, in a
///   folder for `logreplay`.
@discardableResult
public nonisolated(nonsending) func check<Checked: Projection, each Row>(
  projection: @autoclosure @escaping @Sendable () -> Checked, tables: repeat TableKey<each Row>,
  events: Gen<EventHistory>, failuresAllowed: Bool = false, _ budget: Budget = Budget(cases: 100, size: 20),
  seed: UInt64? = nil, failures folder: String? = nil, name: String = #function
) async throws -> CheckReport {
  let contract = ProjectionContract(
    make: projection, lookAtRows: { set in repeat try (each tables).lookAtRows(of: set) },
    mayFail: failuresAllowed)
  return try await Property(name, events) { try await contract.hold($0) }
    .noted { history, _ in
      await history.keep(in: folder, name: name) { _ = try await $0.failures(of: projection()) }
    }
    .check(budget, seed: seed, failures: folder)
}

/// Holds a projection to the same laws in one history: a counterexample as a test of its own.
/// - Throws: ``/StrataCheck/Unfulfilled`` with the law that does not hold.
public nonisolated(nonsending) func check<Checked: Projection, each Row>(
  projection: @autoclosure @escaping @Sendable () -> Checked, tables: repeat TableKey<each Row>,
  history: EventHistory, failuresAllowed: Bool = false
) async throws {
  try await ProjectionContract(
    make: projection, lookAtRows: { set in repeat try (each tables).lookAtRows(of: set) },
    mayFail: failuresAllowed
  ).hold(history)
}

/// Expects that every event of random histories is read as a value of a type: that no form is forgotten, and no upcast
/// fails.
/// - Parameter dropped: types of events that the upcasts drop on purpose.
/// - Throws: ``/StrataCheck/Counterexample``.
@discardableResult
public nonisolated(nonsending) func check<Event: DomainEvent>(
  upcasts type: Event.Type, events: Gen<EventHistory>, dropping dropped: Set<String> = [],
  _ budget: Budget = Budget(cases: 100, size: 20),
  seed: UInt64? = nil, failures folder: String? = nil, name: String = #function
) async throws -> CheckReport {
  try await Property(name, events) { history in
    let store = EventStore.inMemory()
    try await history.append(to: store)
    for stream in Set(try history.events().map(\.stream)) {
      for event in try await store.events(in: stream, limit: history.eventCount) {
        let values: [Event]
        do { values = try event.decodeAll(type) } catch {
          try ensure(false, "every event decodes: \(error)")
          continue
        }
        try ensure(
          !values.isEmpty || dropped.contains(event.type),
          "every event is known: event \(event.sequence) of type \(event.type) is no \(type)")
      }
    }
    try await store.close()
  }
  .noted { history, _ in await history.keep(in: folder, name: name) }
  .check(budget, seed: seed, failures: folder)
}

/// Expects that values encode and decode to equal ones, and encode to the same bytes again.
/// - Throws: ``/StrataCheck/Counterexample``.
@discardableResult
public nonisolated(nonsending) func check<Value: Codable & Equatable>(
  codec values: Gen<Value>, _ budget: Budget = Budget(), seed: UInt64? = nil, failures folder: String? = nil,
  name: String = #function
) async throws -> CheckReport {
  try await Property(name, values) { value in
    let encoded = try CBOREncoder().encode(value)
    let decoded = try CBORDecoder().decode(Value.self, from: encoded)
    try ensureEqual(decoded, value, "what was decoded differs")
    try ensureEqual(try CBOREncoder().encode(decoded), encoded, "it encodes to other bytes")
  }.check(budget, seed: seed, failures: folder)
}
