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
  /// Why the document was not encoded.
  private(set) var refusal: DocumentRefusal?

  public init(codec: PayloadCodec, bytes: [UInt8]) {
    self.codec = codec
    self.bytes = bytes
  }

  /// Encodes a document in deterministic CBOR.
  ///
  /// A document could not be read back if it is nested deeper than 128, if it holds an integer of more than 4,096 bytes,
  /// or if it has tag 2 or 3, which are those of big integers, on something other than bytes. Its payload has no bytes,
  /// and appending it throws an error that says why.
  public init(_ document: DocumentValue) {
    let refusal = document.refusal
    self.init(codec: .cbor, bytes: refusal == nil ? document.cbor() : [])
    self.refusal = refusal
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
        throw .undecodable(what: String(describing: error))
      }
    case .json:
      do throws(JSONError) { return try DocumentValue(json: bytes) } catch {
        throw .undecodable(what: String(describing: error))
      }
    }
  }
}
