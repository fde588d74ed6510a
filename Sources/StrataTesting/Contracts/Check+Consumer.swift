// The contract of consumers: effects exactly once, wherever the power fails.

public import StrataCheck
public import StrataEvents
internal import StrataLog
internal import StrataSimulation

/// Holds a consumer to its effects in the store, over random histories and power cuts.
///
/// The laws:
/// - It handles every append without an error.
/// - Its effects are there exactly once: after a power cut at any call, and a second run, the store has the same effects
///   in the same order as after a run that nothing disturbed.
/// - With ``/StrataEvents/ConsumerOptions/batchCount``, its effects are the same, in the same order and of the same
///   appends, as those of a run that handles each append on its own.
///
/// Each history is handled once undisturbed, and then with a cut at each call that changes a file, or at about sixteen of
/// them if there are more.
/// A handler that appends by the store and not by its batch, that draws ids at random, or that remembers what it has
/// handled, does not keep the second law; one that reads what it has written, without expecting a version, does not keep
/// the third. Effects elsewhere, such as a mail, are not looked at.
///
/// - Parameters:
///   - options: the consumer's options. Set the selection, so that it does not receive its own effects.
///   - events: the histories, of which only the appends count.
///   - handler: makes the handler, as a start of the program does.
/// - Throws: ``/StrataCheck/Counterexample``.
@discardableResult
public nonisolated(nonsending) func check(
  consumer options: ConsumerOptions, events: Gen<EventHistory>,
  _ budget: Budget = Budget(cases: 30, size: 12),
  seed: UInt64? = nil, failures folder: String? = nil, name: String = #function,
  handler:
    @escaping @Sendable (EventStore) -> @Sendable (RecordedAppend, inout WriteBatch) async throws -> Void
) async throws -> CheckReport {
  try await Property(name, events) { history in
    try await ConsumerContract(options: options, handler: handler).hold(history)
  }
  .noted { history, _ in await history.keep(in: folder, name: name) }
  .check(budget, seed: seed, failures: folder)
}

/// The laws of a consumer.
private struct ConsumerContract: Sendable {
  let options: ConsumerOptions
  let handler: @Sendable (EventStore) -> @Sendable (RecordedAppend, inout WriteBatch) async throws -> Void

  private var cutCountMax: Int { 16 }

  nonisolated(nonsending) func hold(_ history: EventHistory) async throws {
    let disk = SimulatedDisk()
    let store = try await disk.open(at: "/store")
    try await history.append(to: store)
    let head = store.head.sequence
    try await store.close()
    // Both begin with a power cut that loses nothing, so that a cut at a call is at the same one.
    let whole = disk.afterPowerCut(seed: 0)
    let count = try await whole.changeCount { try await run(on: whole) }
    var expected = try await effects(on: whole, after: head)
    if options.batchCount > 1 {
      let single = disk.afterPowerCut(seed: 0)
      try await run(on: single, batchCount: 1)
      let effects = try await effects(on: single, after: head)
      try ensureEqual(expected, effects, "the effects in batches are not those of each append on its own")
      expected = effects
    }
    for change in stride(from: 1, through: count, by: max(1, count / cutCountMax)) {
      let cut = disk.afterPowerCut(seed: 0)
      cut.cutPower(atChange: change)
      do { try await run(on: cut) } catch  where cut.isPoweredOff {
        // An error that the cut has caused.
      }
      let after = cut.afterPowerCut(seed: UInt64(change))
      try await run(on: after)
      try ensureEqual(
        try await effects(on: after, after: head), expected,
        "the effects after a power cut at change \(change) of \(count) are not those of a run without one")
    }
  }

  nonisolated(nonsending) private func run(on disk: SimulatedDisk, batchCount: Int? = nil) async throws {
    let store = try await disk.open(at: "/store")
    var options = options
    options.retryCount = 0
    if let batchCount { options.batchCount = batchCount }
    let handle = handler(store)
    do { try await store.consumer("checked", options).run(until: .caughtUp, handle) } catch {
      try? await store.close()
      if disk.isPoweredOff { throw error }
      try ensure(false, "it handles every append: \(error)")
    }
    try await store.close()
  }

  /// What is in the log after a sequence, but for the positions of consumers.
  nonisolated(nonsending) private func effects(on disk: SimulatedDisk, after sequence: UInt64) async throws
    -> [String]
  {
    let store = try await disk.open(at: "/store")
    var effects: [String] = []
    for try await append in store.feed(
      from: sequence == 0 ? .beginning : .sequence(sequence), until: .caughtUp)
    {
      for event in append.events {
        let document = try? event.payload.document().json()
        var effect = "\(event.type) in \(event.stream.text): \(document ?? "\(event.payload.bytes)")"
        if let cause = try await store.cause(of: event.sequence)?.sequence, cause <= sequence {
          effect += ", of append \(cause)"
        }
        effects.append(effect)
      }
    }
    try await store.close()
    return effects
  }
}
