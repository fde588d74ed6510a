// What an event says: bytes, and how to read them.

internal import StrataDocuments
public import StrataLog

/// How a payload's bytes are to be read. The raw values are those of the format.
public enum PayloadCodec: UInt64, Sendable {
  /// RFC 8949. The default.
  case cbor = 1
  /// RFC 8259.
  case json = 2
  case bytes = 3
}

/// A payload as it is in the log.
public struct EventPayload: Hashable, Sendable {
  public var codec: PayloadCodec
  public var bytes: [UInt8]
  /// How deep the document was nested, where that is too deep to be written.
  private(set) var depthRefused: Int?

  public init(codec: PayloadCodec, bytes: [UInt8]) {
    self.codec = codec
    self.bytes = bytes
  }

  /// A document, in deterministic CBOR. One that is nested deeper than `CodecLimits.depthMax` could not be read back:
  /// it has no bytes, and appending it throws `invalid`.
  public init(_ document: DocumentValue) {
    let depth = document.depth
    let isTooDeep = depth > CodecLimits.depthMax
    self.init(codec: .cbor, bytes: isTooDeep ? [] : document.cbor())
    depthRefused = isTooDeep ? depth : nil
  }

  /// Bytes that Strata does not look into.
  public static func opaque(_ bytes: [UInt8]) -> EventPayload { EventPayload(codec: .bytes, bytes: bytes) }

  /// The payload as a document: CBOR and JSON decoded, bytes as they are.
  public func document() throws(StoreError) -> DocumentValue {
    switch codec {
    case .bytes:
      return .bytes(bytes)
    case .cbor:
      do throws(CodecError) { return try DocumentValue(cbor: bytes) } catch {
        throw .invalid(what: String(describing: error))
      }
    case .json:
      do throws(JSONError) { return try DocumentValue(json: bytes) } catch {
        throw .invalid(what: String(describing: error))
      }
    }
  }
}
