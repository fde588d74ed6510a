// Random histories under random requests: the list equals the naive one, and every batch turns an earlier list into it.

internal import Foundation
internal import StrataBase
internal import StrataTesting
internal import Testing

/// Each run is a `ListRun`: one history of one to three commits, with all its checks.
@Suite struct ListPropertyTests {
  #if DEBUG
    static let runCount = 400
    static let repeatedCount = 40
  #else
    /// The number of runs. The environment variable `RUNS` sets another one.
    static let runCount = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 10_000
    static let repeatedCount = 300
    /// The least percentage of the runs that belong to each class.
    static let rarest = 2.0
  #endif

  @Test
  func `R24 Every batch of random histories makes the naive list of any earlier one, by every emitter`()
    async throws
  {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let seeds = (0..<Self.runCount).map { _ in random.next() }
    let processorCount = ProcessInfo.processInfo.activeProcessorCount
    var classes = ListRunClasses()
    // The counts are sums, so they do not depend on the number of processors.
    try await withThrowingTaskGroup(of: ListRunClasses.self) { group in
      for part in 0..<processorCount {
        group.addTask {
          try await Self.classes(
            of: stride(from: part, to: seeds.count, by: processorCount).map { ($0, seeds[$0]) })
        }
      }
      for try await part in group { classes.add(part) }
    }
    print(classes)
    #if DEBUG
      #expect(classes.rare(below: 0.1) == [])
    #else
      #expect(classes.rare(below: Self.rarest) == [])
    #endif
  }

  private static func classes(of runs: [(number: Int, seed: UInt64)]) async throws -> ListRunClasses {
    var classes = ListRunClasses()
    for (number, seed) in runs {
      // Lets other tests run.
      await Task.yield()
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
    return classes
  }

  @Test
  func `R72 A second run of a seed makes the same bytes of every batch`() async throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<Self.repeatedCount {
      await Task.yield()
      let seed = random.next()
      var (first, second) = (try ListRun(seed: seed), try ListRun(seed: seed))
      try #require(try first.run() == second.run(), "run with its own seed \(seed)")
    }
  }

  @Test
  func `R72 The batches of one seed are these bytes, in every process and on every machine`() throws {
    var random = SeededGenerator(seed: 72)
    var digests: [UInt8] = []
    for _ in 0..<40 {
      var run = try ListRun(seed: random.next())
      withUnsafeBytes(of: try run.run().littleEndian) { digests += $0 }
    }
    #expect(XXH64.of(digests) == 17_309_664_111_876_082_574)
  }
}
