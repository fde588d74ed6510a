// Long work that a task waits for, and whose wait can be cancelled at any time.

extension FairThreads {
  private enum Wait<Value: Sendable> {
    case begins
    case waits(CheckedContinuation<Result<Value, any Error>, Never>)
    case isOver
  }

  /// Does work in slices, and returns what its last step returned. The calling task is suspended, and blocks no thread.
  ///
  /// If the task is cancelled, this throws `CancellationError` at once. The work is abandoned at the end of its current
  /// step, which may be later, so the state that the step touches must not be used again.
  ///
  /// - Parameter step: works until it has a result, which it returns, or until its slice is over; then it returns nil
  ///   and is called again.
  package func result<Value: Sendable>(
    _ step: @escaping @Sendable (TimeSlice) throws -> Value?
  ) async throws -> Value {
    let wait = Lock(Wait<Value>.begins)
    let slice = TimeSlice()
    @Sendable func end(_ result: Result<Value, any Error>) {
      let old = wait.withLock { wait in
        defer { wait = .isOver }
        return wait
      }
      if case .waits(let continuation) = old { continuation.resume(returning: result) }
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = wait.withLock { wait in
          if case .isOver = wait { return true }
          wait = .waits(continuation)
          return false
        }
        if isOver { return continuation.resume(returning: .failure(CancellationError())) }
        start(slice) {
          if wait.withLock({ if case .isOver = $0 { true } else { false } }) { return false }
          do {
            guard let value = try step(slice) else { return true }
            end(.success(value))
          } catch {
            end(.failure(error))
          }
          return false
        }
      }
    } onCancel: {
      slice.setWanted(false)
      withdraw(slice)
      end(.failure(CancellationError()))
    }
    return try result.get()
  }
}
