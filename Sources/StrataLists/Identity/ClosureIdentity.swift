// The identity of a closure in a request.

/// The name and version of a closure, or a unique object for a closure without a name.
enum ClosureIdentity: Hashable, Sendable {
  case named(String, version: Int)
  case unnamed(UnnamedClosure)

  /// An identity that no other closure has.
  static func unnamed() -> ClosureIdentity { .unnamed(UnnamedClosure()) }
}

/// Equal only to itself. Every request that holds the closure holds this object too, so that no other closure's object
/// can have the same address in the meantime.
final class UnnamedClosure: Hashable, Sendable {
  static func == (a: UnnamedClosure, b: UnnamedClosure) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
