// Keeping histories on request.

internal import StrataBase
package import StrataEvents
package import StrataLog
package import StrataTables

/// What is on disk of the history of one projection.
package struct HistoryCheckpoint: Sendable, Hashable {
  /// The projection's name; `$documents` for the documents.
  package var projection: String
  /// The first event that the history answers about; nil if there is none.
  package var firstSequence: UInt64?
  /// The last event that is in the history.
  package var sequence: UInt64
  /// The files of its runs, and their bytes.
  package var runCount: Int
  package var byteCount: UInt64
  /// The kept lists that this process asked for.
  package var lists: [ListHistory]
}

extension EventStore {
  /// Continues the histories of the documents, and of each projection that this object was asked for, to the end of the
  /// log. O(events that are in none). Blocks.
  ///
  /// Throws what folding throws, and `full` or `unavailable` if a run could not be written; that loses nothing.
  ///
  /// - Parameters:
  ///   - lists: kept lists of documents that the history is to have.
  ///   - progress: called from time to time while the history of the documents goes on.
  package func recordHistoriesBlocking(
    keeping lists: [(table: String, definition: ViewDefinition)] = [],
    progress: ((StateProgress) -> Void)? = nil
  ) throws(StoreError) -> [HistoryCheckpoint] {
    let documents = kept(.documents(only: nil))
    for list in lists { documents.history?.keep(list.definition, of: list.table) }
    var made: [HistoryCheckpoint] = []
    for (kept, _) in projectors.inUse {
      guard let historian = kept.historian else { continue }
      let last = Int(clamping: log.mark.visible.sequence)
      try historian.recordBlocking(writesRest: true) { sequence in
        if kept === documents { progress?(.events(Int(clamping: sequence), of: last)) }
      }
      let runs = historian.runs()?.runs ?? []
      made.append(
        HistoryCheckpoint(
          projection: historian.name.name, firstSequence: historian.firstSequence, sequence: historian.end,
          runCount: runs.count,
          byteCount: runs.reduce(0) { $0.addingSaturated($1.length) }, lists: historian.lists))
    }
    return made.sorted { $0.projection < $1.projection }
  }

  /// From which event on the history of the documents has some kept lists. Opens its runs. Blocks.
  package func listHistoriesBlocking(
    _ lists: [(table: String, definition: ViewDefinition)]
  ) -> [ListHistory] {
    guard let history = kept(.documents(only: nil)).history else { return [] }
    let runs = history.runs()
    return lists.compactMap { list in
      KeyOwner(list.table, list.definition).flatMap { ListHistory($0, in: runs) }
    }
  }
}
