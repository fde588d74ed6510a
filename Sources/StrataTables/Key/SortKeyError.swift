// What can be wrong with a sort key, or with a value that should become one.

public import StrataDocuments

/// A value that is no key, or bytes that are not the key that was asked for.
public enum SortKeyError: Error, Hashable, Sendable {
  /// A document's value of this kind cannot be sorted or sectioned by. Choose another field.
  case notAKey(CBORKind)
  /// The document's bytes are damaged.
  case damagedValue
  /// An integer longer than `CodecLimits.integerByteCountMax`.
  case integerTooLong
  /// The bytes end inside a component.
  case truncated
  /// The bytes are no component of the type that was asked for.
  case malformed
  /// A string that `.caseInsensitive` or `.numeric` changed.
  case notReversible
  /// The value is a key, but the type that was asked for cannot hold it.
  case outOfRange
}

extension SortKeyError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notAKey(let kind): "\(kind) cannot be a sort or section key"
    case .damagedValue: "the document's bytes are damaged"
    case .integerTooLong: "an integer of more than \(CodecLimits.integerByteCountMax) bytes cannot be a key"
    case .truncated: "the key's bytes end inside a component"
    case .malformed: "the bytes are no key of this type"
    case .notReversible: "a string that was folded for sorting cannot be read back"
    case .outOfRange: "the type cannot hold the key's value"
    }
  }
}
