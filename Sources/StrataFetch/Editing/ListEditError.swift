// What can go wrong when a list is edited.

public import StrataLists
public import StrataLog

/// The errors of editing. Where one is thrown, nothing was appended; nor where a task was cancelled while it waited, which
/// gets `CancellationError`.
public enum ListEditError: Error, Sendable {
  /// The list cannot be edited in this way: a sentence that says why.
  case notEditable(String)
  /// The row is not there, or not in the list: a sentence that says which.
  case absent(String)
  /// There is no such place in the list: a sentence that says what there is.
  case outOfRange(String)
  /// The rows next to which it was put are gone, or others were faster again and again: a sentence that says
  /// which. Look at the list and move it again.
  case conflict(String)
  /// The list could not be fetched.
  case list(ListError)
  /// The store refused the append.
  case store(StoreError)
}

extension ListEditError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notEditable(let what): "\(what); edit the documents themselves"
    case .absent(let what): "\(what); fetch the list and look again"
    case .outOfRange(let what): "\(what); ask again with what the list shows"
    case .conflict(let what): "\(what); look at the list and edit it again"
    case .list(let error): "\(error)"
    case .store(let error): "\(error)"
    }
  }

  /// Others wrote a document for as long as an edit tries.
  static func changedAgain(_ stream: String) -> ListEditError {
    .conflict("\(stream) was changed again and again")
  }

  /// Runs calls of the store and turns its errors into those of editing.
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
