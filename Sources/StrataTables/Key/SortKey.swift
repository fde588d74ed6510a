// The requirements for a type by which rows can be sorted and sectioned.

/// A value whose order can be written as bytes.
///
/// The order of the bytes is the order of the values. Types of the standard library, `Date`, `UUID`, `Data`,
/// `Timestamp` and optionals of keys conform. An enumeration with raw values needs no code at all, and a type
/// with several parts writes one after another:
///
/// ```swift
/// enum Impact: Int, SortKey { case low, medium, high }
///
/// extension Version: SortKey {
///   func encode(to writer: inout SortKeyWriter) {
///     writer.append(major)
///     writer.append(minor)
///   }
///   init(from reader: inout SortKeyReader) throws(SortKeyError) {
///     self.init(major: try reader.read(), minor: try reader.read())
///   }
/// }
/// ```
///
/// Write at least one component, and the same number of components for every value, so that no key is a prefix of
/// another.
public protocol SortKey: Sendable {
  /// Appends the value's components. O(bytes).
  func encode(to writer: inout SortKeyWriter)
  /// Reads what `encode(to:)` wrote. Throws for any other bytes.
  init(from reader: inout SortKeyReader) throws(SortKeyError)
}

extension SortKey where Self: RawRepresentable, RawValue: SortKey {
  @inlinable
  public func encode(to writer: inout SortKeyWriter) { writer.append(rawValue) }

  public init(from reader: inout SortKeyReader) throws(SortKeyError) {
    guard let value = Self(rawValue: try RawValue(from: &reader)) else { throw .outOfRange }
    self = value
  }
}
