// Loading documents: each row of a sequence is put by an append of its own.

public import StrataDocuments
internal import StrataLog

extension DocumentCollection {
  /// Writes every document that a sequence delivers, in its order, each by an append of its own, without waiting for
  /// each.
  ///
  /// Everything that `EventStore.load` says holds here. The last of several documents with one id is the one that
  /// remains, and those before it are its past.
  ///
  /// ```swift
  /// func restore(_ incidents: AsyncStream<Incident>, in store: EventStore) async throws {
  ///   let receipt = try await store.collection("incident", of: Incident.self)
  ///     .load(incidents, appendID: { "dump-2026:\($0.id)" }, durableEvery: 10_000)
  ///   print(receipt.appendCount, "documents were written")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - appendID: the id of a document's append, unique in the store, so that the same load can be repeated.
  ///   - time: the time of a document's append. Nil for the clock's.
  ///   - metadata: the metadata of each of the events.
  ///   - durableEvery: after how many documents the load waits until all of them are on disk. Nil for once, at the end.
  ///   - reached: called with all that is on disk, each time, and once more before the load returns or throws.
  /// - Throws: `LoadError` with the index of the first document that was refused; what `EventStore.load` throws.
  @discardableResult
  public nonisolated(nonsending) func load<Items: AsyncSequence>(
    _ items: Items, appendID: ((Item) -> String?)? = nil, time: ((Item) -> Timestamp?)? = nil,
    metadata: DocumentObject = [:], durableEvery: Int? = nil, reached: (LoadReceipt) -> Void = { _ in }
  ) async throws -> LoadReceipt where Items.Element == Item {
    try await store.load(items, durableEvery: durableEvery, reached: reached) { load, item in
      load.submit(blocks: false) { () throws(StoreError) in
        let event = try putEvent(item, metadata: metadata)
        return try store.draft([event], id: appendID?(item), time: time?(item), expecting: [:], isOwn: false)
      }
    }
  }
}
