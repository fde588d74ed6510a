// Documents in a write batch.

public import StrataDocuments
public import StrataLog

extension WriteBatch {
  /// Writes a whole document, and optionally expects a version of it before this append.
  ///
  /// - Parameter collection: of the store whose batch this is. If it was made from an attributed store, the event gets
  ///   the metadata that it has when the collection appends it.
  /// - Throws: `invalid` if the document cannot be encoded, its `id` is not the id of its stream, the collection is of
  ///   another store, or the batch expects another version of the document already.
  public mutating func put<Item: Codable & Identifiable & Sendable>(
    _ item: Item, in collection: DocumentCollection<Item>, expecting version: ExpectedVersion = .any,
    metadata: DocumentObject = [:]
  ) throws(StoreError) where Item.ID: DocumentID {
    try checkStore(of: collection)
    let event = try collection.putEvent(item, metadata: metadata)
    try append(attributed(event, by: collection.store), expecting: version)
  }

  /// Changes some fields of a document by a merge patch (RFC 7396), and optionally expects a version of it before this
  /// append.
  ///
  /// Fields that the patch does not name stay as they are, also those that `Item` does not know. A field that is null
  /// in the patch is removed, objects are merged, and arrays are replaced. The patch names fields as the document has
  /// them, and neither the document nor the result is read here: a document that `Item` does not decode is a row that
  /// lists report as a problem. One that is not there is made of the patch alone, so expect the version that was read.
  ///
  /// ```swift
  /// func close(_ versions: [String: UInt64], in incidents: DocumentCollection<Incident>) async throws {
  ///   try await incidents.store.write { batch in
  ///     for (id, version) in versions {
  ///       try batch.merge(id, ["status": "Closed"], in: incidents, expecting: .exactly(version))
  ///     }
  ///   }
  /// }
  /// ```
  ///
  /// - Parameter collection: of the store whose batch this is. If it was made from an attributed store, the event gets
  ///   the metadata that it has when the collection appends it.
  /// - Throws: `invalid` if the id is empty or too long, the patch would give the document another id or none, the
  ///   collection is of another store, or the batch expects another version of the document already.
  public mutating func merge<Item: Codable & Identifiable & Sendable>(
    _ id: Item.ID, _ patch: DocumentObject, in collection: DocumentCollection<Item>,
    expecting version: ExpectedVersion = .any, metadata: DocumentObject = [:]
  ) throws(StoreError) where Item.ID: DocumentID {
    try checkStore(of: collection)
    let event = try collection.mergeEvent(id, patch, metadata: metadata)
    try append(attributed(event, by: collection.store), expecting: version)
  }

  /// Deletes a document, and optionally expects a version of it before this append.
  ///
  /// - Parameter collection: of the store whose batch this is. If it was made from an attributed store, the event gets
  ///   the metadata that it has when the collection appends it.
  /// - Throws: `invalid` if the id is empty or too long, the collection is of another store, or the batch expects
  ///   another version of the document already.
  public mutating func delete<Item: Codable & Identifiable & Sendable>(
    _ id: Item.ID, in collection: DocumentCollection<Item>, expecting version: ExpectedVersion = .any,
    metadata: DocumentObject = [:]
  ) throws(StoreError) where Item.ID: DocumentID {
    try checkStore(of: collection)
    let event = try collection.deleteEvent(id, metadata: metadata)
    try append(attributed(event, by: collection.store), expecting: version)
  }
}

extension WriteBatch {
  /// Throws if a collection is of another store than this batch. An attributed store is the same store.
  private func checkStore<Item>(of collection: DocumentCollection<Item>) throws(StoreError) {
    guard collection.store.log.storeID != store.log.storeID else { return }
    throw .invalid(
      what: "the collection '\(collection.category)' is of another store than the batch that it is given to",
      next: "make the collection from the store whose batch it is, or write to its own store")
  }

  /// An event with the metadata that a collection's store gives it. What it lacks then is from this batch's store.
  private func attributed(_ event: NewEvent, by other: EventStore) -> NewEvent {
    // Most collections have no attribution: their events get the task's when the batch is appended.
    guard !other.attribution.isEmpty else { return event }
    var event = event
    event.metadata = other.metadata(of: event)
    return event
  }
}
