// The errors of editing a list.

public import StrataLists
public import StrataLog

/// The errors of editing. If one is thrown, nothing was appended, except for `store` with the reason `poisoned`: then
/// the edit may or may not be in the log after the next open, so look at the list there before you repeat it. A task
/// that is cancelled while it waits for its turn gets `CancellationError`, and nothing was appended.
public enum ListEditError: Error, Equatable, Sendable {
  /// The list cannot be edited in this way: a sentence that gives the reason.
  case notEditable(String)
  /// The row does not exist, or is not in the list: a sentence that says which.
  case absent(String)
  /// The index is out of range: a sentence that gives the range.
  case outOfRange(String)
  /// The rows next to which the row was put are no longer there, or other writes kept changing it first: a sentence
  /// that says which. Look at the list and repeat the edit.
  case conflict(String)
  /// The list could not be fetched.
  case list(ListError)
  /// The store rejected the append.
  case store(StoreError)
}

extension ListEditError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notEditable(let what): "\(what); edit the documents directly"
    case .absent(let what): "\(what); fetch the list and look again"
    case .outOfRange(let what): "\(what); use an index that the list shows"
    case .conflict(let what): "\(what); look at the list and repeat the edit"
    case .list(let error): "\(error)"
    case .store(let error): "\(error)"
    }
  }

  /// Other writes kept changing a document for as long as an edit retries.
  static func changedAgain(_ stream: String) -> ListEditError {
    .conflict("\(stream) was changed repeatedly by other writes")
  }

  /// Runs calls to the store and converts their errors to errors of editing.
  static func wrapping<Result>(
    _ body: () async throws -> Result
  ) async throws -> Result {
    do { return try await body() } catch let error as StoreError {
      if case .conflict(let stream, _, _) = error { throw changedAgain(stream) }
      throw ListEditError.store(error)
    } catch let error as ListError {
      throw ListEditError.list(error)
    }
  }
}
