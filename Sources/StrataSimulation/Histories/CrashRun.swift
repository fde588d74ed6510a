// Many crash histories on several threads, up to a number of cases or a time limit.

internal import StrataBase
package import StrataLog

/// A run of histories, one seed after another, until there are enough cases, the time is over, or too many have failed.
package struct CrashRun: Sendable {
  /// The result of a run.
  package struct Outcome: Sendable {
    package var counts = CrashCounts()
    package var failures: [CrashHistory.Failure] = []
    package var duration: Duration = .zero

    /// The number of cases per second.
    package var rate: Double { Double(counts.cases) / max(1e-9, duration / .seconds(1)) }
  }

  /// The number of cases from which on no further history is begun.
  package var casesMax = Int.max
  package var timeMax: Duration = .seconds(1 << 40)
  package var failuresMax = 10
  /// The number of threads. It may exceed the number of processors, since each history sometimes waits for its
  /// committer.
  package var threadCount = 4

  package init() {}

  /// - Parameters:
  ///   - seed: the seed from which the seeds of all histories are generated.
  ///   - interval: the interval at which `progress` is called, on this thread, with the outcome so far.
  /// - Returns: the outcome, once all threads have ended. Blocks.
  package func run(
    seed: UInt64, interval: Duration = .seconds(30), progress: (Outcome) -> Void = { _ in }
  ) throws(StoreError) -> Outcome {
    let state = Gate((outcome: Outcome(), seeds: SeededGenerator(seed: seed), running: threadCount))
    let begin = MonotonicTime.now()
    for _ in 0..<threadCount {
      do throws(StoreError) {
        try StoreMachine.process.start("strata-crash") {
          while let seed = state.withLock({ next($0.outcome, &$0.seeds, begin) }) {
            var history = CrashHistory(seed: seed)
            var failure: CrashHistory.Failure?
            do throws(CrashHistory.Failure) { try history.run() } catch { failure = error }
            state.withLock {
              $0.outcome.counts += history.counts
              if let failure { $0.outcome.failures.append(failure) }
            }
          }
          state.withLock { $0.running -= 1 }
          state.signalAll()
        }
      } catch {
        // Continue with fewer threads, as long as there is at least one.
        let isAnyLeft = state.withLock { state in
          state.running -= 1
          return state.running > 0
        }
        if !isAnyLeft { throw error }
      }
    }
    func outcome() -> Outcome {
      var outcome = state.withLock { $0.outcome }
      outcome.duration = begin.elapsed
      return outcome
    }
    while !state.wait(timeout: interval, until: { $0.running == 0 }) { progress(outcome()) }
    return outcome()
  }

  private func next(_ outcome: Outcome, _ seeds: inout SeededGenerator, _ begin: MonotonicTime) -> UInt64? {
    let isOver =
      outcome.counts.cases >= casesMax || outcome.failures.count >= failuresMax || begin.elapsed >= timeMax
    return isOver ? nil : seeds.next()
  }
}
