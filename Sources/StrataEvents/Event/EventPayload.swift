// The payload of an event: bytes and their codec.

internal import StrataDocuments
package import StrataLog

/// The encoding of a payload's bytes. The raw values are those of the file format.
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
  /// The nesting depth of the document, if it was too deep to be encoded.
  private(set) var depthRefused: Int?

  public init(codec: PayloadCodec, bytes: [UInt8]) {
    self.codec = codec
    self.bytes = bytes
  }

  /// Encodes a document in deterministic CBOR.
  ///
  /// A document nested deeper than `CodecLimits.depthMax` could not be read back. Its payload has no bytes, and
  /// appending it throws `invalid`.
  public init(_ document: DocumentValue) {
    let depth = document.depth
    let isTooDeep = depth > CodecLimits.depthMax
    self.init(codec: .cbor, bytes: isTooDeep ? [] : document.cbor())
    depthRefused = isTooDeep ? depth : nil
  }

  /// Creates a payload of bytes that Strata does not interpret.
  public static func opaque(_ bytes: [UInt8]) -> EventPayload { EventPayload(codec: .bytes, bytes: bytes) }

  /// Returns the payload as a document: CBOR and JSON are decoded, other bytes become `.bytes`.
  package func document() throws(StoreError) -> DocumentValue {
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
