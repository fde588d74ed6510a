// The system's comparison of memory.

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
