// Addresses that any thread reads and replaces.

internal import Synchronization

/// A fixed number of addresses, 0 at first, in memory that is never freed: for static properties.
struct AtomicAddresses: @unchecked Sendable {
  // Safe to send: the memory never changes its place, and each address is atomic.
  private let first: UnsafeMutablePointer<Atomic<UInt>>

  init(count: Int) {
    first = .allocate(capacity: count)
    for index in 0..<count { (first + index).initialize(to: Atomic(0)) }
  }

  /// The address at an index, which is less than the count.
  @inline(__always)
  subscript(index: Int) -> UnsafeMutablePointer<Atomic<UInt>> { first + index }
}
