// An event to append.

internal import StrataDocuments

/// An event to append to a stream: a type, a payload and metadata.
public struct NewEvent: Hashable, Sendable {
  public var stream: StreamName
  /// The type's name, 1 to 255 bytes of UTF-8. Names that begin with `$` are reserved for Strata.
  public var type: String
  public var payload: EventPayload
  /// Data about the event that is not part of it: causation, correlation, a client's id.
  public var metadata: DocumentObject

  public init(
    _ type: String, in stream: StreamName, payload: EventPayload, metadata: DocumentObject = [:]
  ) {
    self.stream = stream
    self.type = type
    self.payload = payload
    self.metadata = metadata
  }

  /// Creates an event whose payload is a document.
  public init(
    _ type: String, in stream: StreamName, _ document: DocumentValue, metadata: DocumentObject = [:]
  ) {
    self.init(type, in: stream, payload: EventPayload(document), metadata: metadata)
  }
}

/// The types of the events that write documents.
public enum DocumentEvent {
  /// The payload is the whole document.
  public static let put = "$put"
  /// The payload is a merge patch (RFC 7396).
  public static let merge = "$merge"
  /// The document is deleted. The payload is null.
  public static let delete = "$delete"

  package static let all: Set<String> = [put, merge, delete]
}
