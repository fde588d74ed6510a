// What shrinking leads to, and how much it costs.

import Foundation
import StrataCheck
import Testing

@Suite struct ChallengeTests {
  @Test(arguments: Challenge.all)
  func `a failure shrinks to the simplest one from every seed`(_ challenge: Challenge) async throws {
    var calls = 0
    for seed: UInt64 in 0..<20 {
      let found = try #require(try await challenge.fail(seed), "seed \(seed) finds no failure")
      #expect(challenge.simplest.contains(found.source), "seed \(seed): \(found)")
      #expect(!found.isCutShort && found.shrinkCalls < 500, "seed \(seed): \(found)")
      calls += found.shrinkCalls
    }
    #expect(Double(calls) / 20 <= challenge.callsMax)
  }

  /// For `Tools/soak shrinking`, which compares the figures with those of Hypothesis: one line for each challenge.
  @Test(.enabled(if: ProcessInfo.processInfo.environment["SHRINKING"] != nil))
  func `the figures of all challenges are printed for who asks`() async throws {
    let seeds = UInt64(ProcessInfo.processInfo.environment["SHRINKING"] ?? "") ?? 20
    for challenge in Challenge.all {
      var (calls, forms): (Int, [String: Int]) = (0, [:])
      for seed in 0..<seeds {
        let found = try await challenge.fail(seed)
        calls += found?.shrinkCalls ?? 0
        forms[found?.source ?? "none", default: 0] += 1
      }
      let simplest = forms.filter { challenge.simplest.contains($0.key) }.values.reduce(0, +)
      print("shrinking\t\(challenge.name)\t\(Double(calls) / Double(seeds))\t\(simplest)\t\(seeds)")
    }
    let cases = 100_000
    var elements = 0
    let clock = ContinuousClock()
    let duration = try await clock.measure {
      // The same size as Hypothesis makes them: eight elements on average.
      try await check(Gen<Int>.int().array(), Budget(cases: cases, size: 32), seed: 1) { numbers in
        elements += numbers.count
        try ensure(numbers.reversed().reversed() == numbers)
      }
    }
    let rate = Double(cases) / (duration / .seconds(1))
    print("rate\t\(rate)\t\(Double(elements) / Double(cases))")
  }
}
