// The errors of lists for those who show errors of any kind.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension FilterError: LocalizedError {
  public var errorDescription: String? { description }
}

extension ListError: LocalizedError {
  public var errorDescription: String? { description }
}
