// Unsigned LEB128, in its shortest form only.

/// The variable-length integers of the format: seven bits in each byte, lowest first.
@usableFromInline
package enum Varint {
  /// The length of the longest encoding of a 64-bit integer, in bytes.
  @inlinable
  package static var lengthMax: Int { 10 }

  /// Returns the length of the encoding of `value`, 1 to 10 bytes.
  @inlinable @inline(__always)
  package static func length(_ value: UInt64) -> Int {
    value < 0x80 ? 1 : (70 - value.leadingZeroBitCount) / 7
  }

  /// Writes `value` and returns the number of bytes written. `target` must have room for `length(value)`.
  @inlinable @inline(__always)
  package static func write(_ value: UInt64, to target: UnsafeMutableRawPointer) -> Int {
    var rest = value
    var count = 0
    while rest >= 0x80 {
      target.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, toByteOffset: count, as: UInt8.self)
      rest >>= 7
      count += 1
    }
    target.storeBytes(of: UInt8(truncatingIfNeeded: rest), toByteOffset: count, as: UInt8.self)
    return count + 1
  }
}
