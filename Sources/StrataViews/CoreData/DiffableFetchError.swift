// The errors of a diffable fetch controller.

public import StrataLists

/// The errors of a diffable fetch controller's fetches.
public enum DiffableFetchError: Error, Equatable, Sendable {
  /// The request has no sort keys. For a fetched results controller that is an error, and so it is here; a
  /// `FetchController` lists its rows in the order in which they were created. Add a sort key.
  case fetchWithoutSortKeys
  /// An error of the list.
  case list(ListError)
}

extension DiffableFetchError {
  /// Runs calls of the list and wraps their errors.
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
    case .list(let error): "\(error)"
    }
  }
}
