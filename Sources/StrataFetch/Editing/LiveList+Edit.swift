// Editing the list on a screen: indexes refer to what is shown, and ids need not be.

public import StrataDocuments
public import StrataEvents
public import StrataLists
public import StrataPast
internal import StrataTables

extension LiveList where Item: Codable {
  /// Deletes the document of the row that is shown at an index. The event gets the metadata.
  @discardableResult
  public func delete(at index: ListIndex, metadata: DocumentObject = [:]) async throws -> AppendReceipt {
    try await controller.delete(at: index, of: snapshot, metadata: metadata)
  }

  /// Deletes a row's document. The event gets the metadata.
  @discardableResult
  public func delete(_ id: Item.ID, metadata: DocumentObject = [:]) async throws -> AppendReceipt {
    try await controller.delete(id, metadata: metadata)
  }

  /// Moves a row from one shown index to another: see `FetchController.move(from:to:of:metadata:)`. Each event that the
  /// move appends gets the metadata.
  @discardableResult
  public func move(
    from index: ListIndex, to target: ListIndex, metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    try await controller.move(from: index, to: target, of: snapshot, metadata: metadata)
  }

  /// Changes the document of the row that is shown at an index. The event gets the metadata.
  @discardableResult
  public func update(
    at index: ListIndex, metadata: DocumentObject = [:], _ change: (inout Item) throws -> Void
  ) async throws -> DocumentUpdate<Item> {
    try await controller.update(at: index, of: snapshot, metadata: metadata, change)
  }
  /// Changes a row's document, which the list need not show: see `FetchController.update(_:metadata:_:)`. The event gets
  /// the metadata.
  @discardableResult
  public func update(
    _ id: Item.ID, metadata: DocumentObject = [:], _ change: (inout Item) throws -> Void
  ) async throws -> DocumentUpdate<Item> {
    try await controller.update(id, metadata: metadata, change)
  }

  /// Moves a row directly before another one, into its section. Each event of the move gets the metadata.
  @discardableResult
  public func move(
    _ id: Item.ID, before other: Item.ID, metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    try await controller.move(id, before: other, metadata: metadata)
  }

  /// Moves a row directly after another one, into its section. Each event of the move gets the metadata.
  @discardableResult
  public func move(
    _ id: Item.ID, after other: Item.ID, metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    try await controller.move(id, after: other, metadata: metadata)
  }

  /// Moves a row to the front of a section, which may be empty. Each event of the move gets the metadata.
  @discardableResult
  public func move(
    _ id: Item.ID, toFrontOf section: Section, metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    try await controller.move(id, toFrontOf: section, metadata: metadata)
  }

  /// Moves a row to the end of a section, which may be empty. Each event of the move gets the metadata.
  @discardableResult
  public func move(
    _ id: Item.ID, toEndOf section: Section, metadata: DocumentObject = [:]
  ) async throws -> ListMove {
    try await controller.move(id, toEndOf: section, metadata: metadata)
  }
}
