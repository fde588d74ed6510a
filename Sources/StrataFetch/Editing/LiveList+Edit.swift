// Editing the list on a screen: indexes refer to what is shown.

public import StrataEvents
public import StrataLists
public import StrataTables

extension LiveList where Item: Codable {
  /// Deletes the document of the row that is shown at an index.
  @discardableResult
  public func delete(at index: ListIndex) async throws -> AppendReceipt {
    try await controller.delete(at: index, of: snapshot)
  }

  /// Deletes a row's document.
  @discardableResult
  public func delete(_ id: Item.ID) async throws -> AppendReceipt {
    try await controller.delete(id)
  }

  /// Moves a row from one shown index to another: see `FetchController.move(from:to:of:)`.
  @discardableResult
  public func move(from index: ListIndex, to place: ListIndex) async throws -> ListMove {
    try await controller.move(from: index, to: place, of: snapshot)
  }

  /// Changes the document of the row that is shown at an index.
  @discardableResult
  public func update(
    at index: ListIndex, _ change: (inout Item) throws -> Void
  ) async throws -> DocumentUpdate<Item> {
    try await controller.update(at: index, of: snapshot, change)
  }
}
