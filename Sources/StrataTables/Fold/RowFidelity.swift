// Whether the rows of a type come back from their encoding as they were.

internal import StrataDocuments

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A fold may hand out a row that was written instead of what it decodes to only if both are the same; otherwise its
/// result would depend on which rows it happens to keep. A type may encode only some of its properties, or others than
/// it has, and a row that holds an object could be changed from outside.
enum RowFidelity {
  /// The most values in a row that are compared.
  private static let valueCountMax = 20_000

  /// Whether a document decodes as this row, down to the properties that `==` does not compare. O(bytes), and slow.
  static func isFaithful<Row: Codable>(_ row: Row, _ document: UnsafeRawBufferPointer) -> Bool {
    guard let decoded = try? CBORDecoder().decode(Row.self, from: document),
      let encoded = try? CBOREncoder().encode(decoded),
      encoded.withUnsafeBytes({ $0.hasSameBytes(as: document) })
    else { return false }
    var rest = valueCountMax
    return isSame(row, decoded, &rest)
  }

  private static func isSame(_ a: Any, _ b: Any, _ rest: inout Int) -> Bool {
    rest -= 1
    guard rest > 0, type(of: a) == type(of: b) else { return false }
    if a is Data || a is Date || a is URL || a is UUID || a is Decimal { return isEqual(a, b) }
    let (mirrorOfA, mirrorOfB) = (Mirror(reflecting: a), Mirror(reflecting: b))
    guard mirrorOfA.displayStyle != .class, mirrorOfA.children.count == mirrorOfB.children.count else {
      return false
    }
    switch mirrorOfA.displayStyle {
    case .dictionary, .set: return isEqual(a, b)
    case .optional where mirrorOfA.children.isEmpty: return true
    case .collection, .tuple, .optional: break
    default: if mirrorOfA.children.isEmpty { return isEqual(a, b) }
    }
    for (childOfA, childOfB) in zip(mirrorOfA.children, mirrorOfB.children) {
      guard childOfA.label == childOfB.label, isSame(childOfA.value, childOfB.value, &rest) else {
        return false
      }
    }
    return true
  }

  private static func isEqual(_ a: Any, _ b: Any) -> Bool {
    guard let a = a as? any Equatable else { return false }
    return isEqual(a, b)
  }

  private static func isEqual<Value: Equatable>(_ a: Value, _ b: Any) -> Bool { b as? Value == a }
}
