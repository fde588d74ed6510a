// The data model of payloads, metadata and documents: the values of JSON, plus bytes, big integers and tags.

/// A value of a document.
///
/// Two values are equal exactly if their deterministic encodings (`cbor()`) have the same bytes. So strings and keys
/// are compared by their UTF-8 bytes, `1` is not `1.0`, `-0.0` is not `0.0`, and NaN equals NaN.
///
/// Each integer has one form: `int` if it fits in 64 bits with a sign, `uint` if it fits in 64 bits without one, and
/// `bigInt` otherwise. The initialisers choose it. A value that was created in a longer form equals the shorter one.
public enum DocumentValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  /// Above `Int64.max`.
  case uint(UInt64)
  /// Above `UInt64.max` or below `Int64.min`.
  case bigInt(DocumentInteger)
  case double(Double)
  case string(String)
  case bytes([UInt8])
  case array([DocumentValue])
  case object(DocumentObject)
  /// A value with a CBOR tag (RFC 8949, 3.4) other than 2 and 3, which are `bigInt`.
  indirect case tagged(UInt64, DocumentValue)
}

extension DocumentValue {
  /// Creates an integer in its shortest form.
  @inline(__always)
  package init(_ value: Int) { self = .int(Int64(value)) }

  /// Creates an integer in its shortest form.
  public init(_ value: some BinaryInteger) {
    if let small = Int64(exactly: value) {
      self = .int(small)
    } else if let large = UInt64(exactly: value) {
      self = .uint(large)
    } else {
      self = .bigInt(DocumentInteger(value))
    }
  }

  /// Creates an integer in its shortest form.
  package init(_ value: DocumentInteger) {
    guard let magnitude = UInt64(bigEndianBytes: value.magnitude) else {
      self = .bigInt(value)
      return
    }
    if !value.isNegative {
      self = magnitude <= UInt64(Int64.max) ? .int(Int64(magnitude)) : .uint(magnitude)
    } else if magnitude <= Int64.min.magnitude {
      self = .int(Int64(truncatingIfNeeded: 0 &- magnitude))
    } else {
      self = .bigInt(value)
    }
  }

  /// The value of a key; nil if this is not an object or has no such key. O(log n).
  public subscript(key: String) -> DocumentValue? {
    guard case .object(let object) = self else { return nil }
    return object[key]
  }

  /// Whether this is `null`.
  package var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// The same value, with an integer in its shortest form.
  var withShortestInteger: DocumentValue {
    switch self {
    case .uint(let value) where value <= UInt64(Int64.max): .int(Int64(value))
    case .bigInt(let value): DocumentValue(value)
    default: self
    }
  }
}

extension DocumentValue: Hashable {
  public static func == (a: DocumentValue, b: DocumentValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.uint(let a), .uint(let b)): a == b
    case (.bigInt(let a), .bigInt(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN)
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.bytes(let a), .bytes(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    case (.tagged(let tagA, let a), .tagged(let tagB, let b)): tagA == tagB && a == b
    case (.int(let a), .uint(let b)), (.uint(let b), .int(let a)): a >= 0 && UInt64(a) == b
    case (.bigInt(let big), let other), (let other, .bigInt(let big)):
      if case .bigInt = DocumentValue(big) { false } else { DocumentValue(big) == other }
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch withShortestInteger {
    case .null: hasher.combine(0 as UInt8)
    case .bool(let value): hasher.combine(value ? 2 : 1 as UInt8)
    case .int(let value):
      hasher.combine(3 as UInt8)
      hasher.combine(value)
    case .uint(let value):
      hasher.combine(4 as UInt8)
      hasher.combine(value)
    case .bigInt(let value):
      hasher.combine(5 as UInt8)
      hasher.combine(value)
    case .double(let value):
      hasher.combine(6 as UInt8)
      hasher.combine(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
    case .string(let value):
      hasher.combine(7 as UInt8)
      value.hashBytes(into: &hasher)
    case .bytes(let value):
      hasher.combine(8 as UInt8)
      hasher.combine(value)
    case .array(let value):
      hasher.combine(9 as UInt8)
      hasher.combine(value)
    case .object(let value):
      hasher.combine(10 as UInt8)
      hasher.combine(value)
    case .tagged(let tag, let value):
      hasher.combine(11 as UInt8)
      hasher.combine(tag)
      hasher.combine(value)
    }
  }
}

extension DocumentValue: CustomStringConvertible {
  /// The value as compact JSON.
  public var description: String { json() }
}
