// What can go wrong with a diffable fetch controller.

public import StrataLists

/// The errors of a diffable fetch controller's fetches.
public enum DiffableFetchError: Error, Sendable {
  /// The request has no sort keys. A plain list stands as its rows were created then; here it is an error, as it
  /// was.
  case fetchWithoutSortKeys
  /// The item key path says something else than the item's `id`.
  case itemKeyIsNotID
  /// What the list says.
  case list(ListError)
}

extension DiffableFetchError {
  /// Runs calls of the list and turns its errors into the façade's.
  @discardableResult
  static nonisolated(nonsending) func wrapping<Result>(
    _ body: nonisolated(nonsending) () async throws -> Result
  ) async throws -> Result {
    do { return try await body() } catch let error as ListError { throw DiffableFetchError.list(error) }
  }
}

extension DiffableFetchError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .fetchWithoutSortKeys: "the fetch request has no sort keys; give it at least one"
    case .itemKeyIsNotID: "the item key is not the item's id; items are named by their id alone"
    case .list(let error): "\(error)"
    }
  }
}
