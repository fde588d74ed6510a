// The errors of keys for those who show errors of any kind.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension SortKeyError: LocalizedError {
  public var errorDescription: String? { description }
}

extension FieldPathError: LocalizedError {
  public var errorDescription: String? { description }
}
