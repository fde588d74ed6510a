// The errors of lists.

public import StrataLog

/// The errors of lists. A cancelled task, and a call on a cancelled list, get `CancellationError`.
public enum ListError: Error, Equatable, Sendable {
  /// The request's filter is malformed: the position, and what to write instead.
  case filter(FilterError)
  /// The store cannot continue.
  case store(StoreError)
  /// A requested row exists but cannot be shown: a sentence that says why.
  case row(String)
  /// A requested index or item is not in the list: a sentence that gives the range.
  case outOfRange(String)
  /// The log was trimmed past a token. The value is the oldest sequence that a token may have now.
  case tokenExpired(oldestAvailable: UInt64)
  /// A token or a joined list is of another store: the ids of both.
  case otherStore(String, expected: String)
}

extension ListError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .filter(let error): "\(error)"
    case .store(let error): "\(error)"
    case .row(let what): "\(what); correct the document or the type"
    case .outOfRange(let what): "\(what); use an index that the snapshot holds"
    case .tokenExpired(let oldest):
      "the log was trimmed past the token, and \(oldest) is the oldest sequence to resume from; fetch the whole list"
    case .otherStore(let store, let expected):
      "it belongs to the store \(store), and this store is \(expected); use values of this store only"
    }
  }

  /// Whether a token was rejected, and would be rejected again: begin with the whole list.
  public var refusesToken: Bool {
    switch self {
    case .tokenExpired, .otherStore, .store(.position(.diverged)): true
    default: false
    }
  }

  /// Whether the error only says that the store was closed.
  package var isEnd: Bool {
    if case .store(let error) = self { error == .closed } else { false }
  }

  /// Converts any error of this module and of lower ones; nil if it says that a task or a list was cancelled.
  package init?(_ error: any Error) {
    switch error {
    case let error as ListError: self = error
    case let error as StoreError: self = .store(error)
    case is CancellationError: return nil
    default:
      assertionFailure("every module throws its own errors or CancellationError")
      self = .store(.invalid(what: "\(error)"))
    }
  }

  /// Runs calls to the store and converts their errors to list errors.
  package static func wrapping<Result>(_ body: () async throws -> Result) async throws -> Result {
    do { return try await body() } catch let error as StoreError { throw ListError.store(error) }
  }
}
