// What a check runs, counts and throws.

import StrataCheck
import Testing

/// What a check threw.
private func counterexample<Value>(
  _ generator: Gen<Value>, _ budget: Budget = Budget(), seed: UInt64 = 1, failures: String? = nil,
  name: String = #function, body: @escaping Property<Value>.Body
) async throws -> Counterexample? {
  do {
    try await check(generator, budget, seed: seed, failures: failures, name: name, body: body)
    return nil
  } catch let found as Counterexample {
    return found
  }
}

/// A counter that a closure may change.
private final class Counter {
  var count = 0
}

@Suite struct RunnerTests {
  @Test func `a run of a seed has the same cases on every machine`() async throws {
    var text = ""
    let mixed = zip(Gen<Int>.int(), .string(), .double, Gen<Int8>.integer(in: -3...7).array(), .bool)
    try await check(mixed, Budget(cases: 50), seed: 7) {
      text += "\($0.0) \($0.1.unicodeScalars.map(\.value)) \($0.2.bitPattern) \($0.3) \($0.4)\n"
    }
    let hash = text.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    // What they are does not matter; that they are the same does. A change of a generator changes this number.
    #expect(hash == 3_144_194_911_836_247_474, "\(text)")
  }

  @Test func `the case that fails is the same in each run of a seed, and another for another seed`()
    async throws
  {
    let body: @Sendable ([Int]) throws -> Void = { try ensure($0.count < 7) }
    let one = try #require(try await counterexample(Gen<Int>.int().array(), body: body))
    let again = try #require(try await counterexample(Gen<Int>.int().array(), body: body))
    #expect(
      one.foundAt == again.foundAt && one.shrinkCalls == again.shrinkCalls && one.source == again.source)
    let others = try await (2..<12).asyncMap { seed in
      try #require(try await counterexample(Gen<Int>.int().array(), seed: UInt64(seed), body: body))
        .shrinkCalls
    }
    #expect(Set(others).count > 1)
  }

  @Test func `a failure says what failed, with which seed, and how it was found`() async throws {
    let found = try #require(
      try await counterexample(Gen<Int>.int(in: 0...1_000), seed: 5, name: "small") {
        try ensure($0 < 100, "too large")
      })
    #expect(found.source == "100" && found.seed == 5 && found.name == "small")
    #expect((found.failure as? Unfulfilled)?.description == "too large")
    for part in ["small does not hold: too large", "\n100\n", "SEED=5", "case \(found.foundAt)"] {
      #expect(found.description.contains(part), "\(found)")
    }
  }

  @Test func `shrinking keeps the failure that it began with`() async throws {
    struct Rare: Error {}
    // Every number from 100 fails, and those from 500 in another way, which only shrinks to 500.
    var sources: Set<String> = []
    for seed: UInt64 in 0..<20 {
      let found = try #require(
        try await counterexample(Gen<Int>.int(in: 0...1_000), seed: seed) { number in
          if number >= 500 { throw Rare() }
          try ensure(number < 100)
        })
      #expect(found.source == (found.failure is Rare ? "500" : "100"), "\(found)")
      sources.insert(found.source)
    }
    #expect(sources == ["100", "500"])
  }

  @Test func `a property may wait`() async throws {
    let found = try await counterexample(Gen<Int>.int(in: 0...50)) { number in
      await Task.yield()
      let doubled = await Task { number * 2 }.value
      try ensure(doubled < 20)
    }
    #expect(found?.source == "10")
  }

  @Test func `cases that are discarded do not count, and too many of them end the check`() async throws {
    let report = try await check(Gen<Int>.int(in: 0...999), Budget(cases: 50), seed: 1) {
      try assume($0 % 2 == 0)
    }
    #expect(report.cases == 50 && report.discarded > 20)
    await #expect(throws: CheckError.self) {
      try await check(Gen<Int>.int(), Budget(cases: 50), seed: 1) { _ in throw Discarded() }
    }
    await #expect(throws: CheckError.self) {
      try await check(Gen<Int>.int().filter { _ in false }, Budget(cases: 50), seed: 1) { _ in }
    }
  }

  @Test func `a case is not run twice, and a small type is exhausted`() async throws {
    let calls = Counter()
    let report = try await check(Gen<Bool>.bool, seed: 1) { _ in calls.count += 1 }
    #expect(calls.count == 2 && report.cases == 2 && report.isExhausted)
    #expect(report.repeated >= 1_000)
  }

  @Test func `a budget of time ends a check, and one of calls ends shrinking`() async throws {
    let report = try await check(
      Gen<Int>.int(), Budget(cases: 1_000_000, duration: .milliseconds(50)), seed: 1
    ) { _ in
      try await Task.sleep(for: .milliseconds(1))
    }
    #expect(report.cases > 0 && report.cases < 1_000)
    #expect(try await check(Gen<Int>.int(), Budget(duration: .zero), seed: 1) { _ in }.cases == 1)
    let cut = try #require(
      try await counterexample(Gen<Int>.int().array(), Budget(shrinkCalls: 3)) { try ensure($0.count < 5) })
    #expect(cut.isCutShort && cut.shrinkCalls <= 3)
    #expect(cut.description.contains("until the budget ended"))
  }

  @Test func `classes are counted, and a required one that is missing ends the check`() async throws {
    let numbers = Property("numbers", Gen<Int>.int(in: 0...999)) { _ in }
    let report = try await numbers.classify("even") { $0 % 2 == 0 }.cover("large", atLeast: 45) { $0 >= 500 }
      .check(seed: 3)
    #expect((report.classes["even"] ?? 0) > 50 && report.description.contains("even"))
    // More cases than the budget has are run until chance is excluded.
    #expect(report.cases > 200)
    await #expect(throws: CheckError.self) {
      try await numbers.cover("huge", atLeast: 5) { $0 > 2_000 }.check(seed: 3)
    }
  }

  @Test func `a failure is kept in its folder, tried first, and removed when it passes`() async throws {
    let folder = TemporaryFolder()
    let calls = Counter()
    func run(limit: Int) async throws -> Counterexample? {
      calls.count = 0
      return try await counterexample(
        Gen<Int>.int(in: 0...1_000).array(), failures: folder.path, name: "kept/failure"
      ) { numbers in
        calls.count += 1
        try ensure(numbers.allSatisfy { $0 < limit })
      }
    }
    #expect(try await run(limit: 900)?.source == "[900]")
    #expect(folder.files.count == 1)
    let again = try #require(try await run(limit: 900))
    #expect(again.source == "[900]" && again.foundAt == 0 && again.description.contains("folder of failures"))
    #expect(calls.count < 30)
    #expect(try await run(limit: 2_000) == nil)
    #expect(folder.files.isEmpty)
    // A file that is damaged is no failure.
    #expect(try await run(limit: 900) != nil)
    folder.write("what is this", to: folder.files[0])
    #expect(try await run(limit: 900)?.foundAt ?? 0 > 0)
  }

  @Test func `a check that is cancelled ends`() async throws {
    let task = Task {
      try await check(Gen<Int>.int(), Budget(cases: 1_000_000), seed: 1) { _ in await Task.yield() }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}

extension Sequence {
  fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
