// Random histories under random requests: the list is the naive one, and every batch makes it of an earlier one.

internal import StrataLog
internal import StrataTesting
internal import Testing

/// A run is what `ListRun` does: one history of one to three commits with everything that is checked of it.
@Suite struct ListPropertyTests {
  #if DEBUG
    static let runCount = 400
    static let repeatedCount = 40
  #else
    static let runCount = 100_000
    static let repeatedCount = 2_000
    /// Every class is at least so many in a hundred of the runs.
    static let rarest = 2.0
  #endif

  @Test("R24 Every batch of random histories makes the naive list of any earlier one, by every emitter")
  func lists() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var classes = ListRunClasses()
    for number in 0..<Self.runCount {
      let seed = random.next()
      do {
        var run = try ListRun(seed: seed)
        _ = try run.run()
        classes.add(run.classes)
        classes.commitCount += run.commitCount
        classes.batchCount += run.batchCount
        classes.itemCount += run.itemCount
        classes.changeCount += run.changeCount
      } catch {
        Issue.record("run \(number), whose own seed is \(seed): \(error)")
        throw error
      }
    }
    print(classes)
    #if DEBUG
      #expect(classes.rare(below: 0.1) == [])
    #else
      #expect(classes.rare(below: Self.rarest) == [])
    #endif
  }

  @Test("R72 A second run of a seed makes the same bytes of every batch")
  func again() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<Self.repeatedCount {
      let seed = random.next()
      var (first, second) = (try ListRun(seed: seed), try ListRun(seed: seed))
      try #require(try first.run() == second.run(), "run with its own seed \(seed)")
    }
  }

  @Test("R72 The batches of one seed are these bytes, in every process and on every machine")
  func golden() throws {
    var random = SeededGenerator(seed: 72)
    var digests: [UInt8] = []
    for _ in 0..<40 {
      var run = try ListRun(seed: random.next())
      withUnsafeBytes(of: try run.run().littleEndian) { digests += $0 }
    }
    #expect(XXH64.of(digests) == 9_490_279_507_874_594_783)
  }
}
