// What can go wrong with a list.

public import StrataLog

/// The errors of the lists floor. A task that was cancelled, and who asks a list that was, gets `CancellationError`.
public enum ListError: Error, Sendable {
  /// The request's filter is no filter: where, and what to write instead.
  case filter(FilterError)
  /// The store cannot go on.
  case store(StoreError)
  /// A row that was asked for is there and cannot be shown: a sentence that says why.
  case row(String)
  /// What was asked for is not in the list: a sentence that says what there is.
  case outOfRange(String)
  /// The log was trimmed behind a token. The oldest sequence that a token may have now.
  case tokenExpired(oldestAvailable: UInt64)
  /// A token, or a list that is joined to others, is of another store: the ids of both.
  case otherStore(String, expected: String)
}

extension ListError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .filter(let error): "\(error)"
    case .store(let error): "\(error)"
    case .row(let what): "\(what); correct the document or the type"
    case .outOfRange(let what): "\(what); ask again with what the snapshot holds"
    case .tokenExpired(let oldest):
      "the log begins behind the token, and \(oldest) is the oldest sequence to go on from; fetch the list whole"
    case .otherStore(let store, let expected):
      "it belongs to the store \(store), and this is \(expected); use what this store gave"
    }
  }

  /// Whether a token was refused, which it would be again.
  package var refusesToken: Bool {
    switch self {
    case .tokenExpired, .otherStore, .store(.position(.diverged)): true
    default: false
    }
  }

  /// Whether it only says that somebody closed the store.
  package var isEnd: Bool {
    if case .store(let error) = self { error == .closed } else { false }
  }

  /// Any error of this floor and of those below as one of lists; nil where it says that a task or a list was cancelled.
  package init?(_ error: any Error) {
    switch error {
    case let error as ListError: self = error
    case let error as StoreError: self = .store(error)
    case is CancellationError: return nil
    default:
      assertionFailure("the floors throw their own errors, or that something was cancelled")
      self = .store(.invalid(what: "\(error)"))
    }
  }

  /// Runs calls of the store and turns its errors into the list's.
  package static func wrapping<Result>(_ body: () async throws -> Result) async throws -> Result {
    do { return try await body() } catch let error as StoreError { throw ListError.store(error) }
  }
}
