// Past states, rebuilt by replay from the start.

internal import StrataBase
package import StrataEvents
package import StrataLog

extension EventStore {
  /// The states at several points, by one replay in the order of the log. O(events up to the last point).
  ///
  /// The states share the pages that did not change between them.
  ///
  /// Throws `CancellationError` as soon as the task is cancelled.
  ///
  /// - Parameter view: a view that the states hold over one of their tables. It is built at the first point and kept up
  ///   to date from there.
  package func states(
    at points: [LogPoint], _ folding: Folding, view: (table: String, definition: ViewDefinition)? = nil
  ) async throws -> [TableSet] {
    let replay = Replay(self, folding, to: points, view: view)
    return try await machine.past.result { slice in try replay.goOn(slice) }
  }

  /// The same, for a thread that may block.
  package func statesBlocking(
    at points: [LogPoint], _ folding: Folding, view: (table: String, definition: ViewDefinition)? = nil
  ) throws(StoreError) -> [TableSet] {
    try Replay(self, folding, to: points, view: view).goOn(nil) ?? []
  }
}
