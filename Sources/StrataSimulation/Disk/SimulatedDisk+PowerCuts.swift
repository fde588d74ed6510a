// Power cuts at each call of a piece of work that changes something.

internal import StrataBase
internal import StrataLog

extension SimulatedDisk {
  /// Does a piece of work, and returns how many of its calls change something. A hook that is set is lost.
  package nonisolated(nonsending) func changeCount(
    of work: nonisolated(nonsending) () async throws -> Void
  ) async rethrows -> Int {
    let count = countChanges()
    defer { onOperation(nil) }
    try await work()
    return count.withLock { $0 }
  }

  /// The same for work that does not wait.
  package func changeCount(of work: () throws -> Void) rethrows -> Int {
    let count = countChanges()
    defer { onOperation(nil) }
    try work()
    return count.withLock { $0 }
  }

  private func countChanges() -> Lock<Int> {
    let count = Lock(0)
    onOperation { call in
      if call.operation.isChange { count.withLock { $0 += 1 } }
      return .proceed
    }
    return count
  }

  /// Cuts the power at one of the calls that change something, counted from the next one as 1. Of a write, nothing, half
  /// or all has been done by then, in turn. A hook that is set is lost.
  package func cutPower(atChange number: Int) {
    let left = Lock(number)
    onOperation { call in
      guard call.operation.isChange else { return .proceed }
      return left.withLock { left in
        left -= 1
        return left == 0 ? .cutPower(partOfWrite: Double(number % 3) / 2) : .proceed
      }
    }
  }
}
