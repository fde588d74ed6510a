// The errors of this module as localized errors, for code that shows errors of any kind.

internal import StrataLists

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension DiffableFetchError: LocalizedError {
  public var errorDescription: String? {
    if case .list(let error) = self { error.errorDescription } else { description }
  }
  public var recoverySuggestion: String? {
    if case .list(let error) = self { error.recoverySuggestion } else { nil }
  }
}

extension DiffableSnapshotError: LocalizedError {
  public var errorDescription: String? { description }
}
