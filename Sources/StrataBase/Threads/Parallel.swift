// One piece of work on all processors.

/// Runs work that is split into numbered parts, on as many threads as there are processors.
package struct Parallel: Sendable {
  private let starter: ThreadStarter
  /// The maximum number of threads, the calling one included.
  package let threadCountMax: Int

  package init(threads starter: ThreadStarter, threadCountMax: Int = DedicatedThread.processorCount) {
    self.starter = starter
    self.threadCountMax = max(1, threadCountMax)
  }

  /// Runs everything on the calling thread.
  package static let none = Parallel(threads: .system, threadCountMax: 1)

  /// Calls the body once for each number below `count`, in no particular order, and returns when all calls have
  /// returned. The calling thread takes part; if no other thread can be started, it does everything.
  package func forEach(below count: Int, _ body: @Sendable (Int) -> Void) {
    withoutActuallyEscaping(body) { body in
      let next = Lock(0)
      let work: @Sendable () -> Void = {
        while let number = next.withLock({ next -> Int? in
          guard next < count else { return nil }
          defer { next += 1 }
          return next
        }) { body(number) }
      }
      let others = (1..<max(1, min(count, threadCountMax))).map { _ in
        try? starter.start("strata-parallel", work)
      }
      work()
      for thread in others { thread?.join() }
    }
  }
}
