// A thread of its own for a test that waits often.

internal import StrataBase
internal import Testing

/// Runs an asynchronous test on a thread of its own: beside tests that do not wait, it would wait for one of them to end
/// after each of its calls.
struct OwnThread: TestTrait, TestScoping {
  private final class Executor: TaskExecutor {
    private let thread = IOThreads(name: "test", threadCountMax: 1)

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      thread.start { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Executor()) { try await function() }
  }
}

extension Trait where Self == OwnThread {
  static var onItsOwnThread: Self { OwnThread() }
}
