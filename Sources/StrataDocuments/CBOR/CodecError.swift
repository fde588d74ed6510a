// What can be wrong with CBOR bytes: the place and the reason.

/// Bytes that are not the CBOR that was asked for.
///
/// No call in this module traps on bytes, however damaged: each failure is a value of this type.
public struct CodecError: Error, Hashable, Sendable {
  /// Why the bytes were refused.
  public enum Reason: Hashable, Sendable {
    /// The bytes end inside an item. More of them may help.
    case truncated
    /// Not CBOR (RFC 8949, appendix F): a reserved value, a misplaced break, a wrong chunk.
    case malformed
    /// A text string is not UTF-8.
    case notUTF8
    /// Deeper than `CodecLimits.depthMax`.
    case tooDeep
    /// An integer longer than `CodecLimits.integerByteCountMax`.
    case tooLong
    /// A map has the same key twice.
    case duplicateKey(String)
    /// The item is CBOR, but not of the kind that the caller asked for.
    case unexpectedKind(CBORKind)
    /// The item is CBOR, but no document can hold it: undefined, an unassigned simple value, a key that is
    /// not text, an integer's tag on something else than bytes. `CBORReader` reads it.
    case notRepresentable(CBORKind)
    /// Something follows the item that should have been the only one.
    case trailingBytes
  }

  public var reason: Reason
  /// Where the item (or, if truncated, the missing byte) begins, in bytes from the first one.
  public var offset: Int

  public init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

extension CodecError: CustomStringConvertible {
  public var description: String { "CBOR at byte \(offset): \(explanation)" }

  private var explanation: String {
    switch reason {
    case .truncated: "the bytes end inside an item"
    case .malformed: "not a data item"
    case .notUTF8: "text that is not UTF-8"
    case .tooDeep: "nested deeper than \(CodecLimits.depthMax)"
    case .tooLong: "an integer of more than \(CodecLimits.integerByteCountMax) bytes"
    case .duplicateKey(let key): "the key \(String(reflecting: key)) occurs twice"
    case .unexpectedKind(let kind): "found \(kind) where something else was expected"
    case .notRepresentable(let kind): "found \(kind), which a document cannot hold here"
    case .trailingBytes: "more bytes after the item"
    }
  }
}
