// What shrinking leads to, and how much it costs.

import StrataCheck
import Testing

@Suite struct ChallengeTests {
  @Test(arguments: Challenge.all)
  func `a failure shrinks to the simplest one from every seed`(_ challenge: Challenge) async throws {
    for seed: UInt64 in 0..<20 {
      let found = try #require(try await challenge.fail(seed), "seed \(seed) finds no failure")
      #expect(challenge.simplest.contains(found.source), "seed \(seed): \(found)")
      #expect(!found.isCutShort)
      // The mean is at most 110 in all challenges.
      #expect(found.shrinkCalls < 500, "seed \(seed): \(found)")
    }
  }
}
