// Section identifiers that are compared by their bytes.

/// A section of a list, which equals another one if the bytes of their keys are equal.
public struct SectionKey<Value: Hashable & Sendable>: Sendable, Hashable {
  public let value: Value
  /// The key by which the list distinguishes its sections.
  let bytes: [UInt8]

  public static func == (a: Self, b: Self) -> Bool { a.bytes == b.bytes }

  public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension SectionKey: CustomStringConvertible {
  public var description: String { "\(value)" }
}
