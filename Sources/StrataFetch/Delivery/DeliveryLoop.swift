// The loop that all consumers run: look, and if there is nothing to deliver, wait and look again.

package import StrataLists

/// What a consumer receives.
package enum News<Update: Sendable>: Sendable {
  case update(Update)
  /// The list cannot continue. The next call waits until it can.
  case failure(ListError)
  /// Nothing more will come.
  case end
}

/// A consumer of one list, or of several at once: what it has received, and how it looks for more.
protocol NewsSource: Sendable {
  associatedtype Update: Sendable
  /// The announcements that were seen before a look.
  associatedtype Mark: Sendable

  func mark() -> Mark
  /// Looks for something to deliver, without waiting. Returns nil if there is nothing; then `mark` is from before the
  /// last look.
  mutating func look(from mark: inout Mark) async -> News<Update>?
  /// Waits until something is announced after `mark`, or the task is cancelled.
  func wait(beyond mark: Mark) async throws(ListError)
}

extension NewsSource {
  /// Waits for the next thing to deliver. Runs on no actor, so the difference is not computed on the caller's actor.
  nonisolated mutating func next() async -> News<Update> {
    while !Task.isCancelled {
      // The mark comes first: whatever is announced from here on ends the wait.
      var mark = mark()
      if let news = await look(from: &mark) { return news }
      do throws(ListError) { try await wait(beyond: mark) } catch { return .failure(error) }
    }
    return .end
  }
}
