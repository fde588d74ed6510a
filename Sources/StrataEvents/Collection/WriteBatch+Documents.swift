// Documents in a write batch.

public import StrataDocuments
public import StrataLog

extension WriteBatch {
  /// Writes a whole document, and optionally expects a version of it before this append.
  public mutating func put<Item: Codable & Identifiable & Sendable>(
    _ item: Item, in collection: DocumentCollection<Item>, expecting version: ExpectedVersion = .any,
    metadata: DocumentObject = [:]
  ) throws(StoreError) where Item.ID: DocumentID {
    try append(try collection.putEvent(item, metadata: metadata), expecting: version)
  }

  /// Deletes a document, and optionally expects a version of it before this append.
  public mutating func delete<Item: Codable & Identifiable & Sendable>(
    _ id: Item.ID, in collection: DocumentCollection<Item>, expecting version: ExpectedVersion = .any,
    metadata: DocumentObject = [:]
  ) throws(StoreError) where Item.ID: DocumentID {
    try append(try collection.deleteEvent(id, metadata: metadata), expecting: version)
  }
}
