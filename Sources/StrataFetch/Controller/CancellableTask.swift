// A task that can be cancelled before it has begun.

internal import StrataBase

/// A handle that is made before its task, so that locked state can hold it and the task starts after the lock is
/// released.
final class CancellableTask: Sendable {
  private struct State {
    var isCancelled = false
    var task: Task<Void, Never>?
  }

  private let state = Lock(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// - Parameter begin: begins the task; by default, on the thread pool.
  func start(
    by begin: (@escaping @Sendable () async -> Void) -> Task<Void, Never> = { body in Task { await body() } },
    _ body: @escaping @Sendable (CancellableTask) async -> Void
  ) {
    hold(
      begin { [weak self] in
        guard let self else { return }
        await body(self)
      })
  }

  /// Makes `cancel()` cancel the task. If the handle was cancelled already, the task is cancelled at once.
  func hold(_ task: Task<Void, Never>) {
    let isCancelled = state.withLock { state in
      if !state.isCancelled { state.task = task }
      return state.isCancelled
    }
    if isCancelled { task.cancel() }
  }

  func cancel() {
    let task = state.withLock { state in
      state.isCancelled = true
      defer { state.task = nil }
      return state.task
    }
    task?.cancel()
  }
}
