// A thread pool on which tasks make blocking calls.

/// A few threads on which tasks make their blocking calls, so that a slow disk never blocks a thread of the
/// cooperative pool.
///
/// Threads are started when there is work and no thread is free, and end with the last reference to this object. Work
/// is done in the order in which it was added. The queue has one entry for each waiting task, so its length is bounded
/// by their number. Cancelling a task does not stop its work, which runs to its end.
package final class IOThreads: Sendable {
  private struct Work {
    var waiting: [@Sendable () -> Void] = []
    /// The index in `waiting` of the first entry that still waits; those before it have been taken.
    var firstWaiting = 0
    var threadCount = 0
    /// The number of threads that are running a piece of work.
    var busyCount = 0
    var isEnding = false

    mutating func take() -> (@Sendable () -> Void)? {
      guard firstWaiting < waiting.count else { return nil }
      let job = waiting[firstWaiting]
      waiting[firstWaiting] = {}
      firstWaiting += 1
      // At least half of the entries have been taken, so moving the rest costs less than taking them did.
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
    precondition(threadCountMax > 0, "a pool has at least one thread")
    self.name = name
    self.threadCountMax = threadCountMax
    self.starter = starter
  }

  deinit {
    work.withLock { $0.isEnding = true }
    work.signalAll()
  }

  /// Runs the body on one of the threads, and returns what it returns. The calling task is suspended, and blocks no
  /// thread.
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

  /// Starts the body on one of the threads, and returns without waiting for it.
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
    // The thread holds a reference to the queue, not to this object: the end of this object ends the thread.
    let thread = try? starter.start(name) { [work] in Self.serve(work) }
    if thread == nil { startedTooFew() }
  }

  /// Handles a thread that the system did not give. The existing threads take the work; if there are none, the caller
  /// does it, because a late answer is better than none.
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
