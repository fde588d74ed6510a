// Comparing bytes with the system's `memcmp`.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

@inline(__always)
func compareMemory(_ a: UnsafeRawPointer, _ b: UnsafeRawPointer, _ count: Int) -> Int {
  Int(memcmp(a, b, count))
}

extension UnsafeRawBufferPointer {
  /// Whether both buffers hold the same bytes.
  package func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    count == other.count && order(other) == 0
  }

  /// Below, equal to or above 0 if these bytes order before, equal to or after the others.
  package func order(_ other: UnsafeRawBufferPointer) -> Int {
    let shared = Swift.min(count, other.count)
    if shared > 0, let a = baseAddress, let b = other.baseAddress {
      let order = compareMemory(a, b, shared)
      if order != 0 { return order }
    }
    return count - other.count
  }
}
