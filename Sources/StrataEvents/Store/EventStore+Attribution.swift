// Provenance: metadata that every event gets without being written at each call.

public import StrataDocuments

extension EventStore {
  @TaskLocal private static var taskAttribution: DocumentObject = [:]

  /// Returns the same store with metadata for everything that is appended through the returned object: who, from where,
  /// on whose behalf.
  ///
  /// ```swift
  /// func put(_ incident: Incident, in store: EventStore) async throws {
  ///   let mine = store.attributed(["by": "a7"])
  ///   try await mine.collection("incident", of: Incident.self).put(incident)  // {"by":"a7"}
  /// }
  /// ```
  ///
  /// Collections, tables and lists made from it append with that metadata too, and so do its collections in a batch. An
  /// event's own metadata goes first, key by key, then that of `attributing`, then this, then what `self` was
  /// attributed with; in a batch, that of a document's collection goes before that of the store whose `write` it is.
  /// Events of streams whose names begin with `$` get none. The metadata is part of an append's content: to repeat an
  /// append with the same id, give the same.
  public func attributed(_ metadata: DocumentObject) -> EventStore {
    EventStore(self, attribution: metadata.merged(over: attribution))
  }

  /// Runs an operation, all of whose appends, to any store, get this metadata. Child tasks inherit it, detached tasks do
  /// not. See ``attributed(_:)``.
  public static nonisolated(nonsending) func attributing<Result>(
    _ metadata: DocumentObject, operation: nonisolated(nonsending) () async throws -> Result
  ) async rethrows -> Result {
    try await $taskAttribution.withValue(metadata.merged(over: taskAttribution), operation: operation)
  }

  /// The metadata that an event is appended with.
  func metadata(of event: NewEvent) -> DocumentObject {
    let task = Self.taskAttribution
    guard !(attribution.isEmpty && task.isEmpty), event.stream.text.utf8.first != UInt8(ascii: "$") else {
      return event.metadata
    }
    return event.metadata.merged(over: task.merged(over: attribution))
  }
}

extension DocumentObject {
  /// This object with the members of another one that it does not have. Members are not merged themselves.
  fileprivate func merged(over defaults: DocumentObject) -> DocumentObject {
    if defaults.isEmpty { return self }
    if isEmpty { return defaults }
    var merged = defaults
    for (key, value) in self { merged[key] = value }
    return merged
  }
}
