// What a closure in a request is known by.

/// The name and version that identify a closure, or an object of its own for one that has no name.
enum ClosureIdentity: Hashable, Sendable {
  case named(String, version: Int)
  case unnamed(UnnamedClosure)

  /// An identity that no other closure has.
  static func unnamed() -> ClosureIdentity { .unnamed(UnnamedClosure()) }
}

/// Equal to itself alone. Every request that holds the closure holds this too, so that no other closure can have the
/// same address meanwhile.
final class UnnamedClosure: Hashable, Sendable {
  static func == (a: UnnamedClosure, b: UnnamedClosure) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
