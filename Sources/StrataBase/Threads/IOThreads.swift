// The bridge from tasks to calls that block.

/// A few threads on which tasks have their blocking calls made, so that a slow disk never holds a thread of
/// the cooperative pool.
///
/// Threads are started when there is work and none is free, and end with the last reference to this object.
/// Work is taken in the order in which it came. One entry is held per waiting task and nothing else, so the
/// queue is bounded by those who wait. Cancelling a task does not take its work back: it runs to its end.
package final class IOThreads: Sendable {
  private struct Work {
    var waiting: [@Sendable () -> Void] = []
    /// Where the first waiting entry is in `waiting`; those before it are taken.
    var firstWaiting = 0
    var threadCount = 0
    /// How many threads are at a piece of work.
    var busyCount = 0
    var isEnding = false

    mutating func take() -> (@Sendable () -> Void)? {
      guard firstWaiting < waiting.count else { return nil }
      let job = waiting[firstWaiting]
      waiting[firstWaiting] = {}
      firstWaiting += 1
      // Half of the array and more is taken: moving the rest costs less than what was taken.
      if firstWaiting * 2 >= waiting.count {
        waiting.removeFirst(firstWaiting)
        firstWaiting = 0
      }
      return job
    }
  }

  private let work = Gate(Work())
  private let name: String
  private let threadCountMax: Int
  private let starter: ThreadStarter

  package init(name: String = "strata-io", threadCountMax: Int = 2, starter: ThreadStarter = .system) {
    precondition(threadCountMax > 0, "without a thread no work is ever done")
    self.name = name
    self.threadCountMax = threadCountMax
    self.starter = starter
  }

  deinit {
    work.withLock { $0.isEnding = true }
    work.signalAll()
  }

  /// Runs the body on one of the threads and returns what it returns. The calling task is suspended, and
  /// blocks nobody.
  package func run<Result: Sendable, Failure: Error>(
    _ body: @escaping @Sendable () throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    let result = await withCheckedContinuation { continuation in
      enqueue {
        do throws(Failure) {
          continuation.resume(returning: Swift.Result<Result, Failure>.success(try body()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }

  /// Runs the body on one of the threads, and waits for nothing.
  package func start(_ body: @escaping @Sendable () -> Void) { enqueue(body) }

  private func enqueue(_ job: @escaping @Sendable () -> Void) {
    let needsThread = work.withLock { work in
      work.waiting.append(job)
      let idleCount = work.threadCount - work.busyCount
      guard work.waiting.count - work.firstWaiting > idleCount, work.threadCount < threadCountMax
      else { return false }
      work.threadCount += 1
      return true
    }
    guard needsThread else { return work.signalOne() }
    // The thread holds the queue and not this object, whose end is what ends the thread.
    let thread = try? starter.start(name) { [work] in Self.serve(work) }
    if thread == nil { startedTooFew() }
  }

  /// The system gave no thread. Those that there are will come to the work; where there are none the caller
  /// does it, because a store that answers late is better than one that does not.
  private func startedTooFew() {
    while true {
      let job = work.withLock { work -> (@Sendable () -> Void)? in
        if work.threadCount == 1, let job = work.take() { return job }
        work.threadCount -= 1
        return nil
      }
      guard let job else { return work.signalOne() }
      job()
    }
  }

  private static func serve(_ work: Gate<Work>) {
    while true {
      let job = work.wait { work -> (@Sendable () -> Void)?? in
        if let job = work.take() {
          work.busyCount += 1
          return .some(job)
        }
        return work.isEnding ? .some(nil) : nil
      }
      guard let job else { return }
      job()
      work.withLock { $0.busyCount -= 1 }
    }
  }
}
