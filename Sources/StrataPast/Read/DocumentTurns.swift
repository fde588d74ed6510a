// The turns of a store's documents, and how long an update retries when writes without a turn interfere.

package import StrataBase
package import StrataEvents

/// Turns for tasks that read a document, decide, and write it. While one task has a document's turn, no other such task
/// comes in between. Unconditional writes and other processes still can.
package final class DocumentTurns: Sendable {
  package let turns = Turns<StreamName>()
  private let pace: RetryPace

  package init(pace: RetryPace = RetryPace()) { self.pace = pace }

  /// The retries of a task that has a turn. Their time begins now.
  package func retries() -> Retries { Retries(at: pace) }
}

extension EventStore {
  /// The turns of the store's documents.
  package var documentTurns: DocumentTurns { attachment { DocumentTurns() } }
}

/// The clock and the pauses of retries.
package struct RetryPace: Sendable {
  let now: @Sendable () -> MonotonicTime
  let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameter sleep: throws if the task is cancelled, and for no other reason.
  package init(
    now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime.now() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.now = now
    self.sleep = sleep
  }
}

/// How long conflicts are retried, and how long to wait before each retry.
package struct Retries: Sendable {
  /// How long conflicts are retried.
  package static let timeMax = Duration.seconds(10)
  /// The longest pause before the second retry; the bound doubles with each retry. The first retry does not wait.
  package static let pauseMin = Duration.microseconds(500)
  /// The upper bound of every pause. It is short because a writer without a condition does not back off.
  package static let pauseMax = Duration.milliseconds(16)

  private let pace: RetryPace
  private let end: MonotonicTime
  private var pause: Duration?

  init(at pace: RetryPace) {
    self.pace = pace
    end = pace.now().advanced(by: Self.timeMax)
  }

  /// Waits before another try, for a random part of the longest pause. Returns false if the time is over.
  ///
  /// Throws `CancellationError` if the task is cancelled while it waits.
  package nonisolated(nonsending) mutating func resume() async throws -> Bool {
    guard pace.now() < end else { return false }
    guard let longest = pause else {
      pause = Self.pauseMin
      return true
    }
    pause = min(longest * 2, Self.pauseMax)
    do { try await pace.sleep(longest * Double.random(in: 0...1)) } catch { throw CancellationError() }
    return true
  }
}
