// An event before it is in the log.

internal import StrataDocuments

/// What a caller wants to append: a type, a payload and metadata, for a stream.
public struct NewEvent: Hashable, Sendable {
  public var stream: StreamName
  /// 1 to 255 bytes of UTF-8. Types that begin with `$` are Strata's own.
  public var type: String
  public var payload: EventPayload
  /// Causation, correlation, a client's id: anything that is about the event and not in it.
  public var metadata: DocumentObject

  public init(
    _ type: String, in stream: StreamName, payload: EventPayload, metadata: DocumentObject = [:]
  ) {
    self.stream = stream
    self.type = type
    self.payload = payload
    self.metadata = metadata
  }

  /// An event whose payload is a document.
  public init(
    _ type: String, in stream: StreamName, _ document: DocumentValue, metadata: DocumentObject = [:]
  ) {
    self.init(type, in: stream, payload: EventPayload(document), metadata: metadata)
  }
}

/// The types of the events that make documents.
public enum DocumentEvent {
  /// The payload is the whole document.
  public static let put = "$put"
  /// The payload is a merge patch (RFC 7396).
  public static let merge = "$merge"
  /// The document is gone. The payload is null.
  public static let delete = "$delete"

  package static let all: Set<String> = [put, merge, delete]
}
