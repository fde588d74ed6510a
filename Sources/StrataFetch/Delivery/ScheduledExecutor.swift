// An executor that has its jobs run by a closure.

internal import StrataBase

/// Runs jobs through a closure that schedules work, one at a time, in the order in which they were enqueued.
///
/// It is a serial executor for callbacks, and a task executor for the task that computes what is delivered. Since its
/// jobs never overlap, one queue serves both, and each job runs as both, so the switch from one to the other is known
/// to the runtime.
///
/// The state has a lock of its own. Neither a job nor the closure runs under it. A delivery has at most one job here at
/// a time, so the jobs that wait are at most as many as the deliveries.
final class ScheduledExecutor: SerialExecutor, TaskExecutor {
  private struct State {
    var jobs: [UnownedJob] = []
    /// Whether a piece of work was given to the closure and has not ended.
    var isScheduled = false
  }

  private let state = Lock(State())
  private let schedule: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void

  init(schedule: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) {
    self.schedule = schedule
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isIdle = state.withLock { state in
      state.jobs.append(job)
      defer { state.isScheduled = true }
      return !state.isScheduled
    }
    if isIdle { schedule { self.runNext() } }
  }

  private func runNext() {
    let job = state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
    guard let job else { return assertionFailure("a piece of work was run twice") }
    job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    let hasMore = state.withLock { state in
      state.isScheduled = !state.jobs.isEmpty
      return state.isScheduled
    }
    if hasMore { schedule { self.runNext() } }
  }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
}
