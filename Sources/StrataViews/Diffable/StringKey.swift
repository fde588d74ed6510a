// String identifiers that are compared by their bytes.

public import StrataEvents
public import StrataTables

/// A string that equals another one if their UTF-8 bytes are equal.
///
/// In Swift, the composed and the decomposed form of "é" are equal. In a store they are two ids, and so they are in a
/// list. A snapshot whose keys are of this type can hold both.
public struct StringKey: Sendable {
  public var string: String

  public init(_ string: String) { self.string = string }
}

extension StringKey: Hashable, Comparable {
  public static func == (a: Self, b: Self) -> Bool { a.string.utf8.elementsEqual(b.string.utf8) }

  public static func < (a: Self, b: Self) -> Bool { a.string.utf8.lexicographicallyPrecedes(b.string.utf8) }

  public func hash(into hasher: inout Hasher) {
    var string = string
    string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // 0xFF does not occur in UTF-8, so it marks where the string ends.
    hasher.combine(0xFF as UInt8)
  }
}

extension StringKey: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral string: String) { self.init(string) }
  public var description: String { string }
}

/// Encoded as the string itself.
extension StringKey: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(string)
  }
}

/// Snapshots of a type whose `id` is a `StringKey` have no collisions of items.
extension StringKey: DocumentID {
  public var documentID: String { string }
  public init?(documentID: String) { self.init(documentID) }
}

extension StringKey: SortKey {
  public func encode(to writer: inout SortKeyWriter) { writer.append(string) }
  public init(from reader: inout SortKeyReader) throws(SortKeyError) { self.init(try reader.read()) }
}
