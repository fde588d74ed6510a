// The identity of a closure in a request.

/// The id of a closure, or a unique object for a closure without an id.
enum ClosureIdentity: Hashable, Sendable {
  case id(ClosureID)
  case unnamed(UnnamedClosure)

  /// The identity with an id; one that no other closure has if the id cannot be encoded.
  static func id(encoding value: some Codable & Sendable) -> ClosureIdentity {
    StableBytes.encoded(value).map { .id(ClosureID(bytes: $0)) } ?? .unnamed()
  }

  /// An identity that no other closure has.
  static func unnamed() -> ClosureIdentity { .unnamed(UnnamedClosure()) }
}

/// Equal only to itself. Every request that holds the closure holds this object too, so that no other closure's object
/// can have the same address in the meantime.
final class UnnamedClosure: Hashable, Sendable {
  static func == (a: UnnamedClosure, b: UnnamedClosure) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
