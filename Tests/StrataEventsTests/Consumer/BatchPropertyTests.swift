// Consumers with batches beside those without: the same effects of the same appends.

import StrataBase
import StrataDocuments
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct BatchPropertyTests {
  private struct Refusal: Error {}

  /// What a handler does with an append: a function of the append alone.
  private struct Plan {
    enum Step {
      case effects([(stream: String, version: ExpectedVersion)])
      case refusal
    }
    var steps: [UInt64: Step] = [:]
  }

  private typealias Generator = StrataSimulation.SeededGenerator

  /// Fills two stores alike, and plans what their consumers do: expectations are those that a consumer without batches
  /// would meet, but for a few.
  private func plan(_ stores: [EventStore], _ random: inout Generator) async throws -> Plan {
    var plan = Plan()
    var versions: [String: UInt64] = [:]
    for number in 0..<Int.random(in: 1...40, using: &random) {
      let events = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        NewEvent(Int.random(in: 0..<4, using: &random) == 0 ? "note" : "order", in: "s/\(number % 3)", .null)
      }
      var first: UInt64 = 0
      for store in stores { first = try await store.append(events).sequences.lowerBound }
      guard events.contains(where: { $0.type == "order" }) else { continue }
      if Int.random(in: 0..<30, using: &random) == 0 {
        plan.steps[first] = .refusal
        continue
      }
      var effects: [(stream: String, version: ExpectedVersion)] = []
      var isMet = true
      let count = [0, 1, 1, 2, 5].randomElement(using: &random)!
      let stream = "done/\(Int.random(in: 0..<3, using: &random))"
      let version = versions[stream, default: 0]
      let expected: ExpectedVersion =
        switch Int.random(in: 0..<40, using: &random) {
        case 0: .exactly(version + 1)
        case 1: .noStream
        case 2: .exists
        case 3..<20: .exactly(version)
        default: .any
        }
      isMet = expected.isMet(by: version)
      for index in 0..<count { effects.append((stream, index == 0 ? expected : .any)) }
      if isMet { versions[stream, default: 0] += UInt64(count) }
      plan.steps[first] = .effects(effects)
    }
    return plan
  }

  private func run(_ store: EventStore, _ plan: Plan, _ options: ConsumerOptions) async throws {
    try await store.consumer("worker", options).run(until: .caughtUp) { append, batch in
      guard case .effects(let effects) = plan.steps[append.sequences.lowerBound] else { throw Refusal() }
      for (index, effect) in effects.enumerated() {
        let event = NewEvent("done", in: StreamName(effect.stream), ["of": .int(Int64(index))])
        try batch.append(event, expecting: effect.version)
      }
    }
  }

  /// The effects with their revisions and causes.
  private func effects(_ store: EventStore) async throws -> [String] {
    var effects: [String] = []
    for try await append in store.feed(of: .types("done"), until: .caughtUp) {
      for event in append.events {
        let cause = try await store.cause(of: event.sequence)
        effects.append("\(event.stream) \(event.revision) \(try event.document()) of \(cause?.sequence ?? 0)")
      }
    }
    return effects
  }

  @Test(arguments: Generator.historySeeds(300))
  func `batches have the effects, the causes and the refusals of a consumer without them`(seed: UInt64)
    async throws
  {
    var random = Generator(seed: seed)
    let stores = [EventStore.inMemory(clock: .fixed), EventStore.inMemory(clock: .fixed)]
    let plan = try await plan(stores, &random)
    var options = ConsumerOptions()
    options.selection = .types("order")
    (options.retryCount, options.retryDelay, options.saveInterval) = (0, .zero, .seconds(3600))
    options.saveCount = Int.random(in: 1...5, using: &random)
    options.onFailure = .setAside
    try await run(stores[0], plan, options)
    options.batchCount = Int.random(in: 2...12, using: &random)
    try await run(stores[1], plan, options)
    #expect(try await effects(stores[1]) == effects(stores[0]))
    let (single, batched) = (
      try await stores[0].consumer("worker", options).status(),
      try await stores[1].consumer("worker", options).status()
    )
    #expect(batched.setAside == single.setAside && batched.setAsideCount == single.setAsideCount)
    #expect(batched.position?.sequence == single.position?.sequence && batched.lag == 0)
    for store in stores { try await store.close() }
  }
}
