// Documents in a write batch.

public import StrataLog

extension WriteBatch {
  /// Writes a whole document.
  public mutating func put<Item: Codable & Identifiable & Sendable>(
    _ item: Item, in collection: DocumentCollection<Item>
  ) throws(StoreError) where Item.ID: DocumentID {
    events.append(try collection.putEvent(item))
  }

  /// Deletes a document.
  public mutating func delete<Item: Codable & Identifiable & Sendable>(
    _ id: Item.ID, in collection: DocumentCollection<Item>
  ) throws(StoreError) where Item.ID: DocumentID {
    events.append(try collection.deleteEvent(id))
  }
}
