// One move at a time in a store, so that each sees where the one before it has put its row.

internal import StrataLog

/// Turns that tasks take, first come, first served. Waiting is by continuation, so no thread is held, and is
/// bounded by those who wait.
final class EditQueue: Sendable {
  private struct State {
    var isTaken = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Lock(State())

  /// Runs the body when all before it have ended.
  func run<Result: Sendable, Failure: Error>(
    _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    await withCheckedContinuation { continuation in
      let isMine = state.withLock { state in
        if state.isTaken {
          state.waiters.append(continuation)
          return false
        }
        state.isTaken = true
        return true
      }
      if isMine { continuation.resume() }
    }
    defer { pass() }
    return try await body()
  }

  private func pass() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.waiters.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiters.removeFirst()
    }
    next?.resume()
  }
}
