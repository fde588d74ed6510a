// Many crash histories on several threads, for as many cases or as long as somebody wants.

internal import StrataBase
package import StrataLog

/// Histories from one seed after another, until there are enough cases, the time is over or too many failed.
package struct CrashRun: Sendable {
  /// What a run came to.
  package struct Outcome: Sendable {
    package var counts = CrashCounts()
    package var failures: [CrashHistory.Failure] = []
    package var duration: Duration = .zero

    /// Cases in a second.
    package var rate: Double { Double(counts.cases) / max(1e-9, duration / .seconds(1)) }
  }

  /// No further history begins once there are so many cases.
  package var casesMax = Int.max
  package var timeMax: Duration = .seconds(1 << 40)
  package var failuresMax = 10
  /// Each history waits for its committer some of the time, so there may be more threads than processors.
  package var threadCount = 4

  package init() {}

  /// - Parameters:
  ///   - seed: all seeds of histories follow from it.
  ///   - interval: how often `progress` is called, on this thread, with what there is so far.
  /// - Returns: when all threads have ended. Blocks.
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
        // One thread will do, and none will not.
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
