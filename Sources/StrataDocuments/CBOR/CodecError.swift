// The error of reading CBOR: a reason, and the position in the bytes.

/// An error in CBOR bytes: they are damaged, or are not what the caller expected.
///
/// No function of this module traps on damaged CBOR bytes: each failure is a value of this type.
package struct CodecError: Error, Hashable, Sendable {
  /// Why the bytes were refused.
  package enum Reason: Hashable, Sendable {
    /// The bytes end inside an item. The item may be complete if more bytes are read.
    case truncated
    /// The bytes are not CBOR (RFC 8949, appendix F): a reserved value, a misplaced break, a wrong chunk.
    case malformed
    /// A text string is not UTF-8.
    case notUTF8
    /// The item is nested deeper than `CodecLimits.depthMax`.
    case tooDeep
    /// An integer is longer than `CodecLimits.integerByteCountMax`.
    case tooLong
    /// A map has the same key twice.
    case duplicateKey(String)
    /// The item is CBOR, but not of the kind that the caller requested.
    case unexpectedKind(CBORKind)
    /// The item is CBOR, but a document cannot hold it: undefined, an unassigned simple value, a key that is not text,
    /// or the tag of a big integer on an item that is not bytes. `CBORReader` can read it.
    case notRepresentable(CBORKind)
    /// More bytes follow the item, which must be the only one.
    case trailingBytes
  }

  package var reason: Reason
  /// The offset of the item, or of the missing byte if the bytes are truncated, in bytes from the first one.
  package var offset: Int

  package init(_ reason: Reason, at offset: Int) {
    self.reason = reason
    self.offset = offset
  }
}

extension CodecError: CustomStringConvertible {
  package var description: String { "CBOR at byte \(offset): \(explanation)" }

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
