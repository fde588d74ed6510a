// Power cuts: whatever a simulated disk loses, nothing acknowledged is gone and nothing comes back wrong.

import StrataLog
import StrataTesting
import Testing

@Suite struct CrashTests {
  /// Histories that failed once, each with what it found.
  static let regressions: [UInt64] = [
    48_083_542_937_723_605, 6_515_222_305_134_737_282, 5_414_054_455_225_267_003, 530_316_033_880_218_305,
    8_430_544_691_956_864_249, 3_876_999_863_379_387_753, 6_131_180_200_314_785_313,
    12_094_437_402_061_216_064, 4_355_675_805_700_883_578,
  ]

  /// Cases in a debug build are few: the count that matters is that of the release build.
  private static var casesMin: Int {
    #if DEBUG
      2_000
    #else
      100_000
    #endif
  }

  @Test(arguments: regressions)
  func `a history that failed once does not fail again`(seed: UInt64) throws {
    var history = CrashHistory(seed: seed)
    try history.run()
  }

  @Test func `one seed gives one history, whatever else the machine does`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<30 {
      let seed = random.next()
      var (first, second) = (CrashHistory(seed: seed), CrashHistory(seed: seed))
      try first.run()
      try second.run()
      #expect(first.trace == second.trace, "history \(seed)")
    }
  }

  /// What several threads came to.
  private struct Outcome {
    var counts = CrashCounts()
    var failures: [String] = []
    var seeds: SeededGenerator
  }

  @Test(.timeLimit(.minutes(5)))
  func `after a power cut at any call nothing acknowledged is lost and no intact store is refused`() async throws {
    let outcome = Lock(Outcome(seeds: SeededGenerator(seed: SeededGenerator.testSeed())))
    let begin = ContinuousClock.now
    // Each history waits for its committer most of the time.
    let threads = try (0..<4).map { _ in
      try DedicatedThread(name: "strata-crash") {
        while true {
          let seed = outcome.withLock { outcome -> UInt64? in
            let isDone = outcome.counts.cases >= Self.casesMin || outcome.failures.count >= 10
            return isDone || begin.duration(to: .now) > .seconds(170) ? nil : outcome.seeds.next()
          }
          guard let seed else { return }
          var history = CrashHistory(seed: seed)
          var failure: String?
          do throws(CrashHistory.Failure) { try history.run() } catch { failure = error.description }
          outcome.withLock {
            $0.counts += history.counts
            if let failure { $0.failures.append(failure) }
          }
        }
      }
    }
    await IOThreads(name: "crash").run { for thread in threads { thread.join() } }
    let (counts, failures) = outcome.withLock { ($0.counts, $0.failures) }
    print(counts, "in", begin.duration(to: .now))
    for failure in failures { Issue.record("\(failure)") }
    #expect(counts.missing == [], "\(counts)")
  }
}
