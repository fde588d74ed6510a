// Identifiers that are compared by their bytes.

public import StrataEvents
public import StrataLists

/// An id or a section of a list, which equals another one if the bytes of their keys in the store are equal.
///
/// In Swift, the composed and the decomposed form of "é" are equal, and NaN is not equal to itself. In a store, the first
/// are two ids or sections, and the second is one section. Snapshots with keys of this type, made by
/// ``DiffableSnapshot/init(byteWise:reconfiguredSince:)``, have all of them.
public struct ByteWise<Value: Hashable & Sendable>: Hashable, Sendable {
  public let value: Value
  /// What the list compares.
  private let bytes: [UInt8]

  init(_ value: Value, bytes: [UInt8]) {
    self.value = value
    self.bytes = bytes
  }

  /// Creates the key of a row with an id. O(bytes).
  public init(id: Value) where Value: DocumentID { self.init(id, bytes: Array(id.documentID.utf8)) }

  /// Creates the key of a section of a list, whether the list shows it or not. O(bytes).
  public init<Item>(section: Value, of list: ListSnapshot<Item, Value>) {
    self.init(section, bytes: list.encodeSection(section))
  }

  public static func == (a: Self, b: Self) -> Bool { a.bytes == b.bytes }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension ByteWise: CustomStringConvertible {
  public var description: String { "\(value)" }
}
