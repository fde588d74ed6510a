// A thread pool for long work, which its threads do in slices.

/// A few threads that do long work in slices, so that short work does not wait for long work to end.
///
/// A piece of work is a step that is called repeatedly until there is no more to do. Pieces of work get a thread in the
/// order in which they were started. A step returns when its slice is over, which its `TimeSlice` says, and the work
/// goes to the end of the queue. While no other work waits, a slice does not end.
///
/// A step that does not return cannot be stopped. If it keeps its thread for longer than `patience` after the end of
/// its slice while other work waits, it is no longer counted as active, and another thread continues with the rest. So
/// work is delayed by at most one slice of each piece of work before it in the queue, plus `patience`, as long as fewer
/// than `threadCountMax` steps do not return. Steps that were given up do not count.
///
/// Threads are started when there is work and no thread is free. In addition to the active threads, one is kept to
/// watch them. Further threads end when they are not needed, and all of them end with the last reference to this
/// object.
package final class FairThreads: Sendable {
  package struct Limits: Sendable {
    /// The number of pieces of work that run at the same time, without those that are overdue.
    package var activeCountMax = 2
    /// The maximum number of threads.
    package var threadCountMax = 16
    /// How long work keeps its thread while other work waits.
    package var slice = Duration.milliseconds(4)
    /// How long work may delay other work after the end of its slice, before another thread takes over.
    package var patience = Duration.milliseconds(20)

    package init() {}

    var sliceNanoseconds: Int64 { MonotonicTime(nanoseconds: 0).advanced(by: slice).nanoseconds }
    var patienceNanoseconds: Int64 { MonotonicTime(nanoseconds: 0).advanced(by: patience).nanoseconds }
  }

  private let queue: Gate<FairQueue>
  /// What a thread needs to start another one.
  private struct Source: Sendable {
    let name: String
    let starter: ThreadStarter
  }
  private let source: Source

  package init(name: String, limits: Limits = Limits(), starter: ThreadStarter = .system) {
    precondition(
      limits.activeCountMax > 0 && limits.threadCountMax > limits.activeCountMax,
      "threadCountMax is larger than activeCountMax, so that a thread can watch the active ones")
    queue = Gate(FairQueue(limits))
    source = Source(name: name, starter: starter)
  }

  deinit {
    queue.withLock { $0.isEnding = true }
    queue.signalAll()
  }

  /// The number of pieces of work that wait for a thread.
  package var waitingCount: Int { queue.withLock { $0.waitingCount } }

  /// The number of threads.
  package var threadCount: Int { queue.withLock { $0.threadCount } }

  /// Starts a piece of work, and returns without waiting for it.
  ///
  /// - Parameters:
  ///   - slice: the slice of this work. No other work may use it at the same time.
  ///   - step: does one slice, and returns true if there is more to do. It is never called twice at the same time.
  package func start(_ slice: TimeSlice, _ step: @escaping @Sendable () -> Bool) {
    change { $0.begin(slice, at: MonotonicTime.now().nanoseconds, step) }
  }

  /// Lets another thread take the place of the one that is inside of a step which may never return, until it does. It
  /// keeps none of `threadCountMax` meanwhile.
  package func giveUp(_ slice: TimeSlice) { change { $0.giveUp(slice) } }

  /// Changes the queue, and starts the thread that it then lacks.
  private func change(_ body: (inout FairQueue) -> Void) {
    let (lacksThread, isWatched) = queue.withLock { queue in
      body(&queue)
      let lacksThread = queue.lacksThread
      if lacksThread { queue.threadCount += 1 }
      return (lacksThread, queue.isWatched)
    }
    // A watching thread may have to keep watching, and would not pass a single signal on.
    guard lacksThread else { return isWatched ? queue.signalAll() : queue.signalOne() }
    guard !Self.startThread(queue, source) else { return }
    // If there is no thread at all, the caller does the work: a late read is better than none.
    while let job = queue.withLock({ queue in
      queue.threadCount == 0 ? queue.take(at: MonotonicTime.now().nanoseconds) : nil
    }) {
      Self.run(job, queue)
    }
  }

  /// Removes work that has not begun yet, or that waits for its next slice.
  package func withdraw(_ slice: TimeSlice) { queue.withLock { $0.remove(slice) } }

  /// Starts a thread that has been counted already. If the system gives none, takes it off the count and returns false.
  private static func startThread(_ queue: Gate<FairQueue>, _ source: Source) -> Bool {
    // The thread holds a reference to the queue, not to the pool: the end of the pool ends the thread.
    if (try? source.starter.start(source.name) { serve(queue, source) }) != nil { return true }
    queue.withLock { $0.threadCount -= 1 }
    queue.signalOne()
    return false
  }

  private enum Turn {
    case run(FairJob, needsThread: Bool)
    case watch(until: Int64)
    case end
  }

  private static func serve(_ queue: Gate<FairQueue>, _ source: Source) {
    while true {
      let turn = queue.wait { queue -> Turn? in
        if let job = queue.take(at: MonotonicTime.now().nanoseconds) {
          let needsThread = queue.lacksThread
          if needsThread { queue.threadCount += 1 }
          return .run(job, needsThread: needsThread)
        }
        if queue.isContended, !queue.isWatched, let due = queue.nextDue {
          queue.isWatched = true
          return .watch(until: due)
        }
        guard queue.isEnding || queue.hasSpareThread else { return nil }
        queue.threadCount -= 1
        return .end
      }
      switch turn {
      case .run(let job, let needsThread):
        if needsThread { _ = startThread(queue, source) }
        run(job, queue)
      case .watch(let due): watch(queue, until: due)
      case .end: return
      }
    }
  }

  private static func run(_ job: FairJob, _ queue: Gate<FairQueue>) {
    let isMore = job.step()
    queue.withLock { $0.finish(job, isMore: isMore, at: MonotonicTime.now().nanoseconds) }
  }

  /// Waits until active work is overdue, or no other work waits for it.
  private static func watch(_ queue: Gate<FairQueue>, until due: Int64) {
    let left = Duration.nanoseconds(due - MonotonicTime.now().nanoseconds)
    _ = queue.wait(timeout: left) { !$0.isContended || $0.nextDue.map { $0 > due } ?? true }
    queue.withLock { queue in
      queue.isWatched = false
      queue.passOverdue(at: MonotonicTime.now().nanoseconds)
    }
  }
}
