// The saved state of the tables of documents, after many appends.

internal import StrataEvents
internal import StrataLog
internal import StrataPast
internal import StrataTables

extension EventStore {
  /// Saves the tables of the documents if they were saved before, so that they stay near the head. Blocks.
  ///
  /// `import` and `write` do this, which append any number of events. `put`, `merge`, `delete` and `append` do not: the
  /// next reader folds one event in less time than a save takes, and saves by itself once there are many.
  func extendDocumentState() {
    let states = try? SavedState.all(of: log)
    guard states?.contains(where: \.isOfDocuments) ?? false else { return }
    // What cannot be saved is folded again by the next reader.
    _ = try? checkpointBlocking()
  }
}
