// The errors of editing for those who show errors of any kind.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension ListEditError: LocalizedError {
  public var errorDescription: String? { description }
}
