// The data model of payloads, metadata and documents: the values of JSON, plus bytes, big integers and tags.

/// A value of a document.
///
/// Two values are equal exactly if their deterministic encodings (`cbor()`) have the same bytes. So strings and keys
/// are compared by their UTF-8 bytes, `1` is not `1.0`, `-0.0` is not `0.0`, and NaN equals NaN.
///
/// Each integer has one form: `int` if it fits in 64 bits with a sign, `uint` if it fits in 64 bits without one, and
/// `bigInt` otherwise. The initialisers choose it. A value that was created in a longer form equals the shorter one.
///
/// A program can nest values as deep as memory allows: they are compared, patched, written as JSON and released without
/// recursion, since a case can be created without a call that could refuse it. A document is nested at most 128 levels
/// deep: whatever would record, encode or decode a deeper value throws an error that says so.
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
  case array(DocumentArray)
  case object(DocumentObject)
  /// A value with a CBOR tag (RFC 8949, 3.4) other than 2 and 3, which are `bigInt`.
  case tagged(UInt64, DocumentContent)
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
    // The pairs inside of containers that are still to be compared.
    var open: [(DocumentValue, DocumentValue)] = []
    guard isSame(a, b, level: 0, &open) else { return false }
    while let (a, b) = open.popLast() {
      guard isSame(a, b, level: 0, &open) else { return false }
    }
    return true
  }

  /// The number of levels that are compared by calls inside each other, which is faster.
  private static let recursionMax = 32

  /// Whether two values are equal, apart from containers that are deep inside of them, which are added to `open`.
  private static func isSame(
    _ a: DocumentValue, _ b: DocumentValue, level: Int, _ open: inout [(DocumentValue, DocumentValue)]
  ) -> Bool {
    switch (a, b) {
    case (.array(let a), .array(let b)):
      // A value that is shared at each level would take two to the power of the levels.
      if a.elements.isIdentical(to: b.elements) { return true }
      guard a.count == b.count else { return false }
      for index in 0..<a.count {
        guard isSameMember(a.elements[index], b.elements[index], level, &open) else { return false }
      }
      return true
    case (.object(let a), .object(let b)):
      if a.entries.isIdentical(to: b.entries) { return true }
      guard a.count == b.count else { return false }
      for index in 0..<a.count {
        let (a, b) = (a.entries[index], b.entries[index])
        guard a.key.hasSameBytes(as: b.key), isSameMember(a.value, b.value, level, &open) else {
          return false
        }
      }
      return true
    case (.tagged(let tagA, let a), .tagged(let tagB, let b)):
      return tagA == tagB && isSameMember(a.value, b.value, level, &open)
    default: return isSameScalar(a, b)
    }
  }

  @inline(__always)
  private static func isSameMember(
    _ a: DocumentValue, _ b: DocumentValue, _ level: Int, _ open: inout [(DocumentValue, DocumentValue)]
  ) -> Bool {
    guard a.isContainer, b.isContainer else { return isSameScalar(a, b) }
    if level < recursionMax { return isSame(a, b, level: level + 1, &open) }
    open.append((a, b))
    return true
  }

  /// Whether this has other values in it.
  var isContainer: Bool {
    switch self {
    case .array, .object, .tagged: true
    default: false
    }
  }

  private static func isSameScalar(_ a: DocumentValue, _ b: DocumentValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.int(let a), .int(let b)): a == b
    case (.uint(let a), .uint(let b)): a == b
    case (.bigInt(let a), .bigInt(let b)): a == b
    case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN)
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.bytes(let a), .bytes(let b)): a == b
    case (.int(let a), .uint(let b)), (.uint(let b), .int(let a)): a >= 0 && UInt64(a) == b
    case (.bigInt(let big), let other), (let other, .bigInt(let big)):
      if case .bigInt = DocumentValue(big) { false } else { DocumentValue(big) == other }
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) { hash(into: &hasher, level: 0) }

  /// What is nested deeper than a document can be is not hashed, so that the stack is large enough.
  func hash(into hasher: inout Hasher, level: Int) {
    guard level <= CodecLimits.depthMax else { return }
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
      hasher.combine(value.count)
      for value in value.elements { value.hash(into: &hasher, level: level + 1) }
    case .object(let value):
      hasher.combine(10 as UInt8)
      value.hash(into: &hasher, level: level)
    case .tagged(let tag, let value):
      hasher.combine(11 as UInt8)
      hasher.combine(tag)
      value.value.hash(into: &hasher, level: level + 1)
    }
  }
}

extension DocumentValue: CustomStringConvertible {
  /// The value as compact JSON.
  public var description: String { json() }
}
