// Power cuts: whatever a simulated disk loses, nothing acknowledged is gone and nothing comes back wrong.

import StrataLog
import StrataTesting
import Testing

@Suite struct CrashTests {
  /// Histories that failed once, each with what it found.
  static let regressions: [UInt64] = [
    48_083_542_937_723_605, 6_515_222_305_134_737_282, 5_414_054_455_225_267_003, 530_316_033_880_218_305,
    8_430_544_691_956_864_249, 3_876_999_863_379_387_753, 6_131_180_200_314_785_313,
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

  @Test(.timeLimit(.minutes(5)))
  func `after a power cut at any call nothing acknowledged is lost and no intact store is refused`() throws {
    var seeds = SeededGenerator(seed: SeededGenerator.testSeed())
    var counts = CrashCounts()
    var failures: [String] = []
    let begin = ContinuousClock.now
    while counts.cases < Self.casesMin, begin.duration(to: .now) < .seconds(170) {
      var history = CrashHistory(seed: seeds.next())
      do throws(CrashHistory.Failure) { try history.run() } catch {
        failures.append(error.description)
        if failures.count >= 10 { break }
      }
      counts += history.counts
    }
    print(counts, "in", begin.duration(to: .now))
    for failure in failures { Issue.record("\(failure)") }
    #expect(failures.isEmpty)
    #expect(counts.isComplete, "\(counts)")
  }
}
