// Rows of a table as of a state: the newest one, or one of the past.

public import StrataEvents
internal import StrataLog
public import StrataTables

extension EventStore {
  /// The events that a projection could not apply, as of the newest state.
  public func failures(of projection: some Projection) async throws -> ProjectionFailures {
    try await projector(.own(projection)).state(reaching: head.sequence).failures
  }
}

extension RowTable {
  package var projector: Projector { store.projector(folding) }

  /// A row of the newest state.
  package func row(_ id: String) async throws -> Item? {
    let set = try await projector.state(reaching: store.head.sequence)
    return try row(id, in: set)
  }

  /// The state at a point: the projector's state for the head, and for a past point what a history, a saved
  /// state or a fold of the log gives.
  package func state(at point: LogPoint) async throws -> TableSet {
    if point == .head { return try await projector.state(reaching: store.head.sequence) }
    return try await store.states(at: [point], folding)[0]
  }
}
