// Section identifiers that are compared by their bytes.

internal import StrataBase
public import StrataDocuments
public import StrataTables

/// A section of a list, which equals another one if the bytes of their keys are equal.
///
/// Those of a list are in the snapshots of ``DiffableSnapshot/init(byteWise:)``. An application makes one from a value:
/// `SectionKey("open")`.
public struct SectionKey<Value: Hashable & Sendable>: Sendable, Hashable {
  /// The section.
  public let value: Value
  /// The key by which the list distinguishes its sections.
  let bytes: [UInt8]

  public static func == (a: Self, b: Self) -> Bool { a.bytes == b.bytes }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension SectionKey where Value: SortKey {
  /// Creates the key of the section in which `sectioned(by:)` puts the rows whose property has a value. O(bytes).
  public init(_ value: Value) {
    self.init(value: value, bytes: Self.bytes(of: value))
  }
}

extension SectionKey where Value == DocumentValue {
  /// Creates the key of the section in which `sectioned(byField:)` puts the rows whose field has a value. O(bytes).
  ///
  /// The key's `value` is the one that a list gives: 1 and 1.0 are one section, and its value is 1.
  ///
  /// - Throws: `notAKey` for arrays, objects and tags, which are the section of no row, and `integerTooLong` for
  ///   integers of more than 4,096 bytes.
  public init(_ value: DocumentValue) throws(SortKeyError) {
    let item: [UInt8]
    switch value {
    // Without encoding what is in them.
    case .array: item = DocumentValue.array([]).cbor()
    case .object: item = DocumentValue.object([:]).cbor()
    case .tagged(let tag, let content):
      item = if case .bytes = content.value { value.cbor() } else { DocumentValue.tagged(tag, .null).cbor() }
    default: item = value.cbor()
    }
    var writer = SortKeyWriter()
    try item.lendBytes { (item) throws(SortKeyError) in try writer.append(documentValue: item) }
    let bytes = SectionBytes.shortened(writer.bytes) ?? writer.bytes
    let shown = try bytes.lendBytes { (bytes) throws(SortKeyError) in
      var reader = SortKeyReader(bytes)
      return try reader.readDocumentValue()
    }
    self.init(value: shown, bytes: bytes)
  }
}

extension SectionKey {
  /// The bytes that a list writes for a property's value.
  static func bytes(of value: some SortKey) -> [UInt8] {
    var writer = SortKeyWriter()
    writer.append(value)
    return SectionBytes.shortened(writer.bytes) ?? writer.bytes
  }
}

extension SectionKey: CustomStringConvertible {
  public var description: String { "\(value)" }
}
