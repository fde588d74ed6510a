// Conformances to Foundation's LocalizedError, for code that shows errors of any kind.

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

extension StoreFinding: LocalizedError {
  /// What is wrong, and where.
  public var errorDescription: String? { "\(what) (\(file) at byte \(offset))" }
  /// What to do about it.
  public var recoverySuggestion: String? { next }
}
