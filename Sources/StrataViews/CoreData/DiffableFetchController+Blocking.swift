// Fetching on a thread that may block.

#if canImport(Dispatch)
  internal import Dispatch
  internal import StrataBase
  internal import StrataEvents
  public import StrataLists

  extension DiffableFetchController {
    /// Fetches the list as `performFetch` does, and blocks the calling thread until it is there. For threads and
    /// dispatch queues of the program's own.
    ///
    /// It may not be called on the main queue, where the main actor runs, nor inside a task: not in an `async` function,
    /// on an actor, or in a method of a delegate. Both are checked, and end the process: a blocked thread of the
    /// concurrent pool is missing for all other tasks, and a blocked main queue is one that `configureFetch` or another
    /// fetch may wait for. For the same reason the main queue must not wait for the calling thread meanwhile. The fetch
    /// runs on the calling thread.
    ///
    /// The main queue is not always served by the main thread, the first of the process: with Swift 6.3.1 on Linux, it
    /// leaves that thread at the first `await` of an asynchronous `main`. So the queue is checked and not the thread.
    ///
    /// - Throws: `DiffableFetchError`, and `CancellationError` if the list was cancelled.
    @discardableResult
    public func performFetchBlocking() throws -> ListSnapshot<Item, Section> {
      precondition(
        withUnsafeCurrentTask { $0 == nil },
        "performFetchBlocking() was called in a task: await performFetch()")
      precondition(
        DispatchQueue.getSpecific(key: mainQueueMark) == nil,
        "performFetchBlocking() was called on the main queue: await performFetch()")
      let result = Lock<Result<ListSnapshot<Item, Section>, any Error>?>(nil)
      let executor = CallerExecutor()
      Task.detached(executorPreference: executor) {
        let outcome: Result<ListSnapshot<Item, Section>, any Error>
        do { outcome = .success(try await self.performFetch()) } catch { outcome = .failure(error) }
        result.withLock { $0 = outcome }
        executor.wake()
      }
      while true {
        executor.runNext()
        if let outcome = result.withLock({ $0 }) { return try outcome.get() }
      }
    }
  }

  /// Runs the jobs of a task on the thread that waits for it, so that the task needs no thread of the concurrent pool. On
  /// Linux the global dispatch queues share their threads with the pool, and callers there could block all of them.
  private final class CallerExecutor: TaskExecutor {
    private let jobs = Lock<[UnownedJob]>([])
    private let count = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(job) }
      count.signal()
    }

    /// Ends a `runNext` that waits, without a job.
    func wake() { count.signal() }

    /// Waits for a job and runs it, or for a `wake`.
    func runNext() {
      count.wait()
      let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
      job?.runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Marks the main queue, so that code can find out whether it runs there, on whatever thread that is.
  private let mainQueueMark: DispatchSpecificKey<Void> = {
    let mark = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: mark, value: ())
    return mark
  }()
#endif
