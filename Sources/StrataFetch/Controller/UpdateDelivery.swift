// A task that tells updates.

internal import StrataBase

/// A task that tells updates, and whether it still may.
final class UpdateDelivery: Sendable {
  private struct State {
    var isCancelled = false
    var task: Task<Void, Never>?
  }

  private let state = Lock(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  func start(_ body: @escaping @Sendable (UpdateDelivery) async -> Void) {
    let task = Task { [weak self] in
      guard let self else { return }
      await body(self)
    }
    let isCancelled = state.withLock { state in
      state.task = task
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
