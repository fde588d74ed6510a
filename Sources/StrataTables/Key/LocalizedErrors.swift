// Localized descriptions for the errors of keys and field paths.

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
