// UUIDs as ids of documents.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension UUID: DocumentID {
  /// The usual text form, in upper case.
  public var documentID: String { uuidString }

  public init?(documentID: String) { self.init(uuidString: documentID) }
}
