// A queue that runs its work when the test calls for it, one piece at a time.

internal import StrataBase
internal import StrataFetch

/// A queue that holds its work until the test runs it.
final class HeldQueue: Sendable {
  private let work = Lock<[@Sendable () -> Void]>([])

  var executor: UpdateExecutor {
    .scheduled { self.add($0) }
  }

  var isEmpty: Bool { count == 0 }
  var count: Int { work.withLock { $0.count } }

  func add(_ piece: @escaping @Sendable () -> Void) { work.withLock { $0.append(piece) } }

  /// Runs one piece of work on the calling thread. Returns false if there is none.
  @discardableResult
  func runOne() -> Bool {
    guard let next = work.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    next()
    return true
  }

  func runAll() { while runOne() {} }
}

/// An actor that runs its jobs when the test calls for it.
actor HeldActor {
  private final class Executor: SerialExecutor {
    let queue = HeldQueue()

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.add { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private let executor = Executor()

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated var queue: HeldQueue { executor.queue }
}

extension HeldQueue {
  /// Runs the next piece of work as soon as there is one.
  func runNext() async {
    while !runOne() { await Task.yield() }
  }

  /// Waits until there is a piece of work to run.
  func waitForWork() async {
    while isEmpty { await Task.yield() }
  }
}
