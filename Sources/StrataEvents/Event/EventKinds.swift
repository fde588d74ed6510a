// Which types of events are enums, whose cases name their events.

internal import StrataBase

/// Tells enums from structs and classes. Safe to use from several threads: the answers, by type, are in a lock.
enum EventKinds {
  private static let enums = Lock<[ObjectIdentifier: Bool]>([:])

  /// Whether a value is one of an enum, or an optional one. Whatever describes itself to mirrors is taken for one, since
  /// its mirror need not say what it is. O(1), with one mirror made for each type.
  static func isEnum<Value>(_ value: Value) -> Bool {
    let id = ObjectIdentifier(Value.self)
    if let isEnum = enums.withLock({ $0[id] }) { return isEnum }
    var mirror = Mirror(reflecting: value)
    var isOwn = value is any CustomReflectable
    while !isOwn, mirror.displayStyle == .optional {
      // What an optional without a value would hold is not known.
      guard let wrapped = mirror.children.first?.value else { return true }
      isOwn = wrapped is any CustomReflectable
      mirror = Mirror(reflecting: wrapped)
    }
    let isEnum = isOwn || mirror.displayStyle == .enum
    enums.withLock { $0[id] = isEnum }
    return isEnum
  }
}
