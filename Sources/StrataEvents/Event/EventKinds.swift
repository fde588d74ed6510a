// Which types of events are enums, whose cases name their events.

internal import StrataBase

/// Tells enums from structs and classes. Safe to use from several threads: the answers, by type, are in a lock.
enum EventKinds {
  private static let enums = Lock<[ObjectIdentifier: Bool]>([:])

  /// Whether a value is one of an enum. Whatever describes itself to mirrors is taken for one, since its mirror need not say
  /// what it is. O(1), with one mirror made for each type.
  static func isEnum<Value>(_ value: Value) -> Bool {
    let id = ObjectIdentifier(Value.self)
    if let isEnum = enums.withLock({ $0[id] }) { return isEnum }
    let isEnum = value is any CustomReflectable || Mirror(reflecting: value).displayStyle == .enum
    enums.withLock { $0[id] = isEnum }
    return isEnum
  }
}
