// The errors of documents for those who show errors of any kind.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension CodecError: LocalizedError {
  public var errorDescription: String? { description }
}

extension JSONError: LocalizedError {
  public var errorDescription: String? { description }
}
