// Threads for work that takes long, which take turns at it.

/// A few threads that do long work in slices, so that short work does not wait for long work to end.
///
/// A piece of work is a step that is called again until there is no more to do. It gets a thread in the order in which
/// it came; when its slice is over, which it asks its `TimeSlice`, it returns and goes behind all that wait. While nobody
/// waits, no slice is ever over.
///
/// A step that does not return cannot be stopped. Where one holds its thread for longer than `patience` after its slice
/// has ended and others wait, it counts no longer among those that are active, and another thread goes on with the
/// rest. So work is held up by others for at most a slice of each that waits before it, plus `patience`, as long as
/// fewer than `threadCountMax` steps do not return.
///
/// Threads are started when there is work and none is free. One more than are active is kept to watch the others; those
/// beyond end when they are not needed, and all of them with the last reference to this object.
package final class FairThreads: Sendable {
  package struct Limits: Sendable {
    /// How many pieces of work are done at once, those not counted that are overdue.
    package var activeCountMax = 2
    /// How many threads there are at most.
    package var threadCountMax = 16
    /// How long work keeps its thread while others wait.
    package var slice = Duration.milliseconds(4)
    /// How long after its slice work may hold up others before they get another thread.
    package var patience = Duration.milliseconds(20)

    package init() {}

    var sliceNanoseconds: Int64 { MonotonicTime(nanoseconds: 0).advanced(by: slice).nanoseconds }
    var patienceNanoseconds: Int64 { MonotonicTime(nanoseconds: 0).advanced(by: patience).nanoseconds }
  }

  private let queue: Gate<FairQueue>
  /// What a thread needs to start another.
  private struct Source: Sendable {
    let name: String
    let starter: ThreadStarter
  }
  private let source: Source

  package init(name: String, limits: Limits = Limits(), starter: ThreadStarter = .system) {
    precondition(
      limits.activeCountMax > 0 && limits.threadCountMax > limits.activeCountMax,
      "without a thread more than are active nothing watches them")
    queue = Gate(FairQueue(limits))
    source = Source(name: name, starter: starter)
  }

  deinit {
    queue.withLock { $0.isEnding = true }
    queue.signalAll()
  }

  /// How many pieces of work wait for a thread.
  package var waitingCount: Int { queue.withLock { $0.waitingCount } }

  /// How many threads there are.
  package var threadCount: Int { queue.withLock { $0.threadCount } }

  /// Begins work, and waits for nothing.
  ///
  /// - Parameters:
  ///   - slice: of this piece of work, and of nothing else that is done at the same time.
  ///   - step: does one slice; true where there is more to do. Never called twice at once.
  package func start(_ slice: TimeSlice, _ step: @escaping @Sendable () -> Bool) {
    let (lacksThread, isWatched) = queue.withLock { queue in
      queue.begin(slice, at: MonotonicTime.now().nanoseconds, step)
      let lacksThread = queue.lacksThread
      if lacksThread { queue.threadCount += 1 }
      return (lacksThread, queue.isWatched)
    }
    // A thread that watches may have to go on watching, and would not pass the signal on.
    guard lacksThread else { return isWatched ? queue.signalAll() : queue.signalOne() }
    guard !Self.startThread(queue, source) else { return }
    // Without any thread the caller does the work: a read that comes late is better than one that never comes.
    while let job = queue.withLock({ queue in
      queue.threadCount == 0 ? queue.take(at: MonotonicTime.now().nanoseconds) : nil
    }) {
      Self.run(job, queue)
    }
  }

  /// Takes work back that no thread has begun, or that waits for its next slice.
  package func withdraw(_ slice: TimeSlice) { queue.withLock { $0.remove(slice) } }

  /// False where the system gave no thread; then it is not counted any more.
  private static func startThread(_ queue: Gate<FairQueue>, _ source: Source) -> Bool {
    // The thread holds the queue and not the pool, whose end is what ends the thread.
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

  /// Waits until work is overdue, or nobody waits for it any more.
  private static func watch(_ queue: Gate<FairQueue>, until due: Int64) {
    let left = Duration.nanoseconds(due - MonotonicTime.now().nanoseconds)
    _ = queue.wait(timeout: left) { !$0.isContended || $0.nextDue.map { $0 > due } ?? true }
    queue.withLock { queue in
      queue.isWatched = false
      queue.passOverdue(at: MonotonicTime.now().nanoseconds)
    }
  }
}
