// Identifiers that are compared by their bytes.

public import StrataEvents
public import StrataTables

/// A string that equals another one where their UTF-8 does.
///
/// Swift calls "é" as one character and as two equal. A list does not, since in a store they are two ids; as
/// the keys of a snapshot both forms can stand side by side.
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
    // No string's bytes are the beginning of another's.
    hasher.combine(0xFF as UInt8)
  }
}

extension StringKey: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral string: String) { self.init(string) }
  public var description: String { string }
}

/// The string itself.
extension StringKey: Codable {
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(string)
  }
}

/// As the id of a type it spares its snapshots every collision.
extension StringKey: DocumentID {
  public var documentID: String { string }
  public init?(documentID: String) { self.init(documentID) }
}

extension StringKey: SortKey {
  public func encode(to writer: inout SortKeyWriter) { writer.append(string) }
  public init(from reader: inout SortKeyReader) throws(SortKeyError) { self.init(try reader.read()) }
}
