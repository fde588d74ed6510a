// The conformance to Foundation's LocalizedError, for code that shows errors of any kind.

public import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// In this module, because StrataLog does not import Foundation.
extension StoreError: LocalizedError {
  /// What happened, and where.
  public var errorDescription: String? { whatAndWhere }
  /// What to do next.
  public var recoverySuggestion: String? { next }
}
