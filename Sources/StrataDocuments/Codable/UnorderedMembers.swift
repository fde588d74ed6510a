// Which types of the standard library encode members in an order that equal values do not share.

internal import Synchronization

/// A type whose equal values encode the same members in different orders: that of their hashes, which depends on the
/// process, on the size of the table and on the order of insertion.
private protocol Unordered {
  /// The number of items of an array that belong together.
  static var groupSize: UInt8 { get }
}

extension Set: Unordered {
  fileprivate static var groupSize: UInt8 { 1 }
}

/// A dictionary whose keys are neither strings nor integers encodes as an array of keys and values by turns.
extension Dictionary: Unordered {
  fileprivate static var groupSize: UInt8 { 2 }
}

/// Finds these types. Only types that encode as an array are looked for, which are few, and those that are ordered are
/// remembered by their address, because asking the runtime for a conformance takes longer than encoding some numbers.
enum UnorderedMembers {
  /// A power of two.
  private static let placeCount = 64

  /// The addresses of ordered types; 0 where there is none.
  private static let ordered = AtomicAddresses(count: placeCount)

  /// The number of items that belong together, where their order says nothing; 0 where it does.
  static func groupSize<Value>(in type: Value.Type) -> UInt8 {
    let address = UInt(bitPattern: ObjectIdentifier(type))
    let hash = address >> 4 ^ address >> 10
    let place = ordered[Int(truncatingIfNeeded: hash & UInt(placeCount - 1))]
    if place.pointee.load(ordering: .relaxed) == address { return 0 }
    if let unordered = type as? any Unordered.Type { return unordered.groupSize }
    place.pointee.store(address, ordering: .relaxed)
    return 0
  }
}
