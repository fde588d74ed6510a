// The standard library's types as sort keys.

extension Bool: SortKey {
  public func encode(to writer: inout SortKeyWriter) {
    writer.reserve(1)
    writer.store(self ? SortKeyTag.true : SortKeyTag.false)
  }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) {
    switch try reader.readByte() {
    case SortKeyTag.true: self = true
    case SortKeyTag.false: self = false
    default: throw .malformed
    }
  }
}

extension SortKey where Self: FixedWidthInteger {
  /// Integers of equal value have equal keys, whatever their types.
  public func encode(to writer: inout SortKeyWriter) { writer.append(integer: self) }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) { self = try reader.readInteger() }
}

extension Int: SortKey {
  public func encode(to writer: inout SortKeyWriter) {
    writer.append(integer: UInt64(magnitude), isNegative: self < 0)
  }
}
extension Int8: SortKey {}
extension Int16: SortKey {}
extension Int32: SortKey {}
extension Int64: SortKey {
  public func encode(to writer: inout SortKeyWriter) {
    writer.append(integer: magnitude, isNegative: self < 0)
  }
}
extension Int128: SortKey {}
extension UInt: SortKey {}
extension UInt8: SortKey {}
extension UInt16: SortKey {}
extension UInt32: SortKey {}
extension UInt64: SortKey {}
extension UInt128: SortKey {}

/// −0 is stored as 0, and every NaN as the same key, which comes after +infinity. Equal numbers have equal keys,
/// whether they are doubles, floats or integers.
extension Double: SortKey {
  public func encode(to writer: inout SortKeyWriter) { writer.append(number: self) }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) { self = try reader.readDouble() }
}

extension Float: SortKey {
  public func encode(to writer: inout SortKeyWriter) { writer.append(number: Double(self)) }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) {
    let value = try reader.readDouble()
    guard let float = value.isNaN ? .nan : Float(exactly: value) else { throw .outOfRange }
    self = float
  }
}

/// Ordered by UTF-8. Strings that are equal in Swift have different keys if their UTF-8 differs.
extension String: SortKey {
  public func encode(to writer: inout SortKeyWriter) {
    if utf8.withContiguousStorageIfAvailable({ writer.append(utf8: UnsafeRawBufferPointer($0)) }) == nil {
      var copy = self
      copy.withUTF8 { writer.append(utf8: UnsafeRawBufferPointer($0)) }
    }
  }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) { self = try reader.readString() }
}

/// Ordered byte by byte, a shorter value before its extensions.
extension [UInt8]: SortKey {
  public func encode(to writer: inout SortKeyWriter) {
    withUnsafeBytes { writer.append(escaped: $0, tag: SortKeyTag.bytes) }
  }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) {
    try reader.expect(SortKeyTag.bytes)
    self = try reader.readEscaped()
  }
}
