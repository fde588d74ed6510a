// Explaining a list: why it shows an item or not, at any point of the log.

internal import StrataBase
public import StrataEvents
internal import StrataLists
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension FetchController {
  /// Why the list shows an item where it does, or does not show it, at a point of the log.
  ///
  /// The explanation gives the events that created the row and changed it last, the result of each filter and the
  /// values that it saw, the row's section, its sort key, its rank among all rows, and the limits of the window. The
  /// head costs O(log n + sections) and the reading of two blocks, any other point what `snapshot(at:)` costs there.
  public func why(_ id: Item.ID, at point: LogPoint = .head) async throws -> ListExplanation {
    try checkNotCancelled()
    let request = request
    let (rows, id) = (rows, id.documentID)
    @Sendable func finding(in snapshot: ListSnapshot<Item, Section>) -> (
      ListExplainer<Item, Section>.StoreFinding, sequence: UInt64
    ) {
      let explainer = ListExplainer(request: request, rows: rows, version: snapshot.version)
      return (explainer.finding(for: id), snapshot.sequence)
    }
    let (finding, sequence) =
      point == .head
      ? finding(in: try await rows.newestSnapshot(request))
      : try await withLists(at: [point], request) { finding(in: $0[0]) }
    var explanation = finding.explanation
    let store = rows.store
    explanation.created = await store.cause(finding.created)
    explanation.changed = await store.cause(finding.changed)
    guard explanation.outcome == .absent, case .documents = rows.folding else { return explanation }
    let stream = StreamName(category: rows.name, id: id)
    let deletion = try await ListError.wrapping {
      try await store.lastDeletion(in: stream, notAfter: sequence)
    }
    explanation.deleted = await store.cause(deletion)
    if explanation.deleted != nil { explanation.outcome = .deleted }
    return explanation
  }
}

extension EventStore {
  /// The event with a sequence, nil if its block cannot be read; the explanation is then given without it.
  fileprivate func cause(_ sequence: UInt64?) async -> ListExplanation.Cause? {
    guard let sequence, let append = try? await append(holding: sequence),
      let event = append.events.first(where: { $0.sequence == sequence })
    else { return nil }
    return ListExplanation.Cause(
      sequence: sequence, nanoseconds: event.time.nanoseconds, stream: event.stream.text, type: event.type,
      append: append.sequences, appendID: append.id)
  }

  /// The sequence of the event that deleted a missing document. It comes from the index, which knows the sequences of a
  /// stream's events without reading them. Nil if the document never existed up to `last`; deletions that found no
  /// document are skipped.
  fileprivate func lastDeletion(
    in stream: StreamName, notAfter last: UInt64
  ) async throws -> UInt64? {
    let parts = try await lookingUp { [self] builds throws(StoreError) in
      try documentSequencesBlocking(stream, builds: builds)
    }
    let result = await machine.reads.result { [self] () throws(StoreError) in
      var deletion: UInt64?
      for part in parts.reversed() {
        for sequence in part.reversed() where sequence <= last {
          guard let append = try appendBlocking(holding: sequence),
            let event = append.events.first(where: { $0.sequence == sequence })
          else { return nil as UInt64? }
          if event.type == DocumentEvent.delete {
            deletion = sequence
          } else if event.state == .whole, DocumentEvent.all.contains(event.type) {
            return deletion
          }
          // An erased event, or one that is not a document event, changed nothing.
        }
      }
      return nil
    }
    return try result.get()
  }
}
