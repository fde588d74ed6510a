// The turns of a store's documents, and how long an update tries where others write past them.

package import StrataBase
package import StrataEvents

/// Turns for those who read a document, decide, and write it. While one task has a document's turn, no other of them
/// comes in between; writes that look at nothing still may, and so may other processes.
package final class DocumentTurns: Sendable {
  package let turns = Turns<StreamName>()
  private let pace: RetryPace

  package init(pace: RetryPace = RetryPace()) { self.pace = pace }

  /// The retries of one who has a turn. Their time begins now.
  package func retries() -> Retries { Retries(at: pace) }
}

extension EventStore {
  /// The turns of the store's documents.
  package var documentTurns: DocumentTurns { attachment { DocumentTurns() } }
}

/// What retries are timed by.
package struct RetryPace: Sendable {
  let now: @Sendable () -> MonotonicTime
  let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameter sleep: throws where the task is cancelled, and nowhere else.
  package init(
    now: @escaping @Sendable () -> MonotonicTime = { MonotonicTime.now() },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.now = now
    self.sleep = sleep
  }
}

/// How long conflicts are answered by another try, and how long is waited before it.
package struct Retries: Sendable {
  /// For how long conflicts are answered by another try.
  package static let timeMax = Duration.seconds(10)
  /// The longest pause before the second retry; it doubles from one to the next. The first one does not wait.
  package static let pauseMin = Duration.microseconds(500)
  /// The longest pause of all. It is short because a writer that looks at nothing does not give way.
  package static let pauseMax = Duration.milliseconds(16)

  private let pace: RetryPace
  private let end: MonotonicTime
  private var pause: Duration?

  init(at pace: RetryPace) {
    self.pace = pace
    end = pace.now().advanced(by: Self.timeMax)
  }

  /// Waits before another try, for a random part of the longest pause. False where the time is over.
  ///
  /// Throws `CancellationError` where the task is cancelled while it waits.
  package nonisolated(nonsending) mutating func goOn() async throws -> Bool {
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
