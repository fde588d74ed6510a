// The store's errors for those who show errors of any kind.

public import StrataLog

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Here because the log does without Foundation.
extension StoreError: LocalizedError {
  /// What happened, and where.
  public var errorDescription: String? { place.isEmpty ? what : "\(what) (\(place))" }
  /// What to do next.
  public var recoverySuggestion: String? { next }
}
