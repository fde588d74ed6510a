// What a closure in a request is known by.

internal import StrataBase

/// The name and version that stand for a closure, or a number for one that has no name.
enum ClosureIdentity: Hashable, Sendable {
  case named(String, version: Int)
  case unnamed(Int)

  /// An identity that no other closure has.
  static func unnamed() -> ClosureIdentity {
    .unnamed(
      unnamedClosures.withLock {
        $0 += 1; return $0
      })
  }
}

/// Counts closures without a name, each of which is its own kind.
private let unnamedClosures = Lock(0)
