// Errors of sort keys, and of values that cannot become one.

internal import StrataDocuments

/// A value that cannot be a key, or bytes that are not a key of the requested type.
public enum SortKeyError: Error, Hashable, Sendable {
  /// A document value of this kind, an array for example, cannot be a sort or section key. Choose another field.
  case notAKey(String)
  /// The document's bytes are damaged.
  case damagedValue
  /// An integer longer than 4,096 bytes.
  case integerTooLong
  /// The bytes end inside a component.
  case truncated
  /// The bytes are not a component of the requested type.
  case malformed
  /// A string that `.caseInsensitive` or `.numeric` changed.
  case notReversible
  /// The key is valid, but the requested type cannot hold its value.
  case outOfRange
}

extension SortKeyError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAKey(let kind): "\(kind) cannot be a sort or section key"
    case .damagedValue: "the document's bytes are damaged"
    case .integerTooLong: "an integer of more than \(CodecLimits.integerByteCountMax) bytes cannot be a key"
    case .truncated: "the key's bytes end inside a component"
    case .malformed: "the bytes are not a key of this type"
    case .notReversible: "a string that was folded for sorting cannot be read back"
    case .outOfRange: "the type cannot hold the key's value"
    }
  }
}
