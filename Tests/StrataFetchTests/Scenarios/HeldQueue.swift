// A queue whose work is done when a test says so, one piece at a time.

internal import StrataBase
internal import StrataFetch

/// Holds what it is given until it is told to run it.
final class HeldQueue: Sendable {
  private let work = Lock<[@Sendable () -> Void]>([])

  var executor: UpdateExecutor {
    .scheduled { self.add($0) }
  }

  var isEmpty: Bool { count == 0 }
  var count: Int { work.withLock { $0.count } }

  func add(_ piece: @escaping @Sendable () -> Void) { work.withLock { $0.append(piece) } }

  /// Runs one piece on the calling thread; false where there is none.
  @discardableResult
  func runOne() -> Bool {
    guard let next = work.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
    next()
    return true
  }

  func runAll() { while runOne() {} }
}

/// An actor whose work is done when a test says so.
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
  /// Runs the next piece as soon as there is one.
  func runNext() async {
    while !runOne() { await Task.yield() }
  }

  /// Waits until there is a piece to run.
  func waitForWork() async {
    while isEmpty { await Task.yield() }
  }
}
