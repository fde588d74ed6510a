// The one loop of all who are given updates: look, and where there is nothing to tell, wait and look again.

package import StrataLists

/// What a consumer is given.
package enum News<Update: Sendable>: Sendable {
  case update(Update)
  /// The list cannot go on. Who asks again is given what comes once it can.
  case failure(ListError)
  /// There is nothing more to come.
  case end
}

/// A consumer of one list, or of several at once: what it was given, and where it looks.
protocol NewsSource: Sendable {
  associatedtype Update: Sendable
  /// What there was before a look.
  associatedtype Mark: Sendable

  func mark() -> Mark
  /// Looks what there is to tell, without waiting for more. Nil for nothing; then the mark is from before the last look.
  mutating func look(from mark: inout Mark) async -> News<Update>?
  /// Waits until there is more than there was at a mark, or the task is cancelled.
  func wait(beyond mark: Mark) async throws(ListError)
}

extension NewsSource {
  /// Waits for what is to be told next. Runs on no actor: the difference is found off the caller's.
  nonisolated mutating func next() async -> News<Update> {
    while !Task.isCancelled {
      // In this order: what is announced from here on ends the wait.
      var mark = mark()
      if let news = await look(from: &mark) { return news }
      do throws(ListError) { try await wait(beyond: mark) } catch { return .failure(error) }
    }
    return .end
  }
}
