// The errors of lists for code that displays any error.

internal import StrataEvents

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension FilterError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ListError: LocalizedError {
  public var errorDescription: String? {
    if case .store(let error) = self { error.errorDescription } else { description }
  }
  public var recoverySuggestion: String? {
    if case .store(let error) = self { error.recoverySuggestion } else { nil }
  }
}
