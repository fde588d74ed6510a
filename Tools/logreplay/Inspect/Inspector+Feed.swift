// What is pushed to the page: that the log has grown.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

extension Inspector {
  /// Server-sent events: `head` with the end of the log, at once, whenever it has moved, in at most twenty a second, and
  /// again when nothing happened for some seconds, so that both sides notice a connection that is gone. Nil if too many
  /// pages follow the store.
  public func feed() -> AsyncStream<[UInt8]>? {
    let isAccepted = feedCount.withLock { count in
      guard count < InspectLimits.feedCountMax else { return false }
      count += 1
      return true
    }
    guard isAccepted else { return nil }
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let task = Task { [self] in
        defer { continuation.finish() }
        while !Task.isCancelled {
          let end = log.mark.sequence
          continuation.yield(Array("event: head\ndata: ".utf8) + head + Array("\n\n".utf8))
          do {
            try await wait(beyond: end)
            try await Task.sleep(for: .milliseconds(50))
          } catch {
            // The page asks again, and receives the reason.
            return
          }
        }
      }
      continuation.onTermination = { [feedCount] _ in
        task.cancel()
        feedCount.withLock { $0 -= 1 }
      }
    }
  }

  /// Returns when the log goes beyond a sequence, or after some seconds.
  private func wait(beyond sequence: UInt64) async throws {
    try await withThrowingTaskGroup(of: Void.self) { [store = opened.store] group in
      group.addTask { try await store.wait(beyond: sequence) }
      group.addTask { try await Task.sleep(for: .seconds(5)) }
      _ = try await group.next()
      group.cancelAll()
    }
  }
}
