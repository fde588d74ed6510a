// Reading bytes as Unicode scalars without making a string of them.

/// UTF-8, scalar by scalar.
package enum UTF8Scalars {
  /// What replaces bytes that are not UTF-8.
  package static let replacement: UInt32 = 0xFFFD

  /// The scalar at an index, which moves past it. Bytes that are not UTF-8 are U+FFFD, one for each maximal part of a
  /// well-formed sequence, as in `String(decoding:as:)`.
  @inline(__always)
  package static func next(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> UInt32 {
    let first = bytes[index]
    index &+= 1
    return first < 0x80 ? UInt32(first) : rest(of: first, bytes, &index)
  }

  private static func rest(
    of first: UInt8, _ bytes: UnsafeRawBufferPointer, _ index: inout Int
  ) -> UInt32 {
    let count: Int
    // Only the first of the bytes that follow is limited by what it follows (table 3-7 of the Unicode Standard).
    var wanted: ClosedRange<UInt8> = 0x80...0xBF
    var scalar: UInt32
    switch first {
    case 0xC2...0xDF: (count, scalar) = (1, UInt32(first & 0x1F))
    case 0xE0...0xEF:
      (count, scalar) = (2, UInt32(first & 0x0F))
      if first == 0xE0 { wanted = 0xA0...0xBF }
      if first == 0xED { wanted = 0x80...0x9F }
    case 0xF0...0xF4:
      (count, scalar) = (3, UInt32(first & 0x07))
      if first == 0xF0 { wanted = 0x90...0xBF }
      if first == 0xF4 { wanted = 0x80...0x8F }
    default: return replacement
    }
    for _ in 0..<count {
      guard index < bytes.count, wanted.contains(bytes[index]) else { return replacement }
      scalar = scalar << 6 | UInt32(bytes[index] & 0x3F)
      wanted = 0x80...0xBF
      index &+= 1
    }
    return scalar
  }

  /// Appends a scalar's UTF-8.
  package static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
    func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: scalar >> shift & 0x3F | 0x80) }
    switch scalar {
    case 0..<0x80: bytes.append(UInt8(truncatingIfNeeded: scalar))
    case 0x80..<0x800:
      bytes.append(UInt8(truncatingIfNeeded: scalar >> 6 | 0xC0))
      bytes.append(tail(0))
    case 0x800..<0x1_0000:
      bytes.append(UInt8(truncatingIfNeeded: scalar >> 12 | 0xE0))
      bytes.append(tail(6))
      bytes.append(tail(0))
    default:
      bytes.append(UInt8(truncatingIfNeeded: scalar >> 18 | 0xF0))
      bytes.append(tail(12))
      bytes.append(tail(6))
      bytes.append(tail(0))
    }
  }
}
