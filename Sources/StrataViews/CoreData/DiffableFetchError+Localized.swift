// The errors of the façade for those who show errors of any kind.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension DiffableFetchError: LocalizedError {
  public var errorDescription: String? { description }
}

extension DiffableSnapshotError: LocalizedError {
  public var errorDescription: String? { description }
}
