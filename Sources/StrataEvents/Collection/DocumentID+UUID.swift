// UUIDs as ids of documents.

internal import StrataDocuments

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension UUID: DocumentID {
  /// The usual text form, in upper case.
  public var documentID: String { text }

  public init?(documentID: String) { self.init(text: documentID) }
}
