// States at several points of the past.

internal import StrataBase
package import StrataEvents
package import StrataLog
package import StrataTables

extension EventStore {
  /// The states at several points, by one replay in the order of the log, or from a history if there is one. O(events up to
  /// the last point), or O(rows).
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
    try await withStates(at: points, folding, view: view) { $0 }
  }

  /// The result of a function of the states, on the thread that reads them: a state of the past reads its pages when it
  /// is looked at, so to count its sections or to compare two of them reads files.
  ///
  /// - Parameters:
  ///   - counter: counts where the states came from.
  ///   - findsChains: whether the states get the chains of the log up to them, which are read from it.
  ///   - body: called once, with the states in the order of the points.
  package func withStates<Result: Sendable>(
    at points: [LogPoint], _ folding: Folding, view: (table: String, definition: ViewDefinition)?,
    counting counter: PastCounter = PastCounter(), findsChains: Bool = true,
    _ body: @escaping @Sendable ([TableSet]) -> Result
  ) async throws -> Result {
    let call = log.observation.beginCall()
    defer { log.observation.end(call, .past) }
    let slot = try await pastMemory.slots.take()
    let states = PastPoints(
      self, folding, to: points, view: view, counting: counter, findsChains: findsChains, in: slot)
    return try await machine.past.result { slice in try states.resume(slice).map(body) }
  }

  /// The same, for a thread that may block.
  package func statesBlocking(
    at points: [LogPoint], _ folding: Folding, view: (table: String, definition: ViewDefinition)? = nil
  ) throws(StoreError) -> [TableSet] {
    try PastPoints(self, folding, to: points, view: view).resume(nil) ?? []
  }
}
