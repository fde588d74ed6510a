// Conformances to Foundation's LocalizedError, for code that shows errors of any kind.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension CodecError: LocalizedError {
  package var errorDescription: String? { description }
}

extension JSONError: LocalizedError {
  public var errorDescription: String? { description }
}
