// Counts allocations of memory, if the process was started with the library that does it.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// What `Tools/support/allocations.c` counts: calls of `malloc` and its like by this thread.
enum Allocations {
  private typealias Counter = @convention(c) () -> UInt64

  private static let counter: Counter? = dlopen(nil, RTLD_NOW)
    .flatMap { dlsym($0, "strata_allocations") }
    .map { unsafeBitCast($0, to: Counter.self) }

  /// The number of allocations that a body makes on this thread. Nil if they are not counted; the body is run anyway.
  static func count(of body: () throws -> Void) rethrows -> UInt64? {
    let before = counter?()
    try body()
    return counter.flatMap { now in before.map { now() - $0 } }
  }
}
