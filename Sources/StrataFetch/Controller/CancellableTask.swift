// A task that can be cancelled before it has begun.

internal import StrataBase

/// A handle that is made before its task, so that a locked state can keep it and the task begins behind the lock.
final class CancellableTask: Sendable {
  private struct State {
    var isCancelled = false
    var task: Task<Void, Never>?
  }

  private let state = Lock(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func start(_ body: @escaping @Sendable (CancellableTask) async -> Void) {
    hold(
      Task { [weak self] in
        guard let self else { return }
        await body(self)
      })
  }

  /// Cancels the task with the handle: at once, where that was cancelled.
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
