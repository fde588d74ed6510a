// A cursor that reads the fields of a payload one after another, never past its end.

/// A position in borrowed bytes, which the owner must keep alive.
///
/// Every read is checked against the end. A read that does not fit, or a varint that is not in its shortest form,
/// returns nil and leaves the cursor unusable.
@usableFromInline
package struct ByteCursor {
  @usableFromInline package internal(set) var position: UnsafeRawPointer
  @usableFromInline package let end: UnsafeRawPointer

  @inlinable @inline(__always)
  package init(_ start: UnsafeRawPointer, count: Int) {
    position = start
    end = start + count
  }

  /// The number of bytes that are left.
  @inlinable @inline(__always)
  package var remaining: Int { end - position }

  @inlinable @inline(__always)
  package mutating func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
    let size = MemoryLayout<Integer>.size
    guard remaining >= size else { return nil }
    defer { position += size }
    return position.littleEndian(type, at: 0)
  }

  @inlinable @inline(__always)
  package mutating func varint() -> UInt64? {
    guard position < end else { return nil }
    let first = position.load(as: UInt8.self)
    if first < 0x80 {
      position += 1
      return UInt64(first)
    }
    return longVarint()
  }

  /// The same as `varint`, for numbers that often take two or three bytes.
  @inlinable @inline(__always)
  package mutating func mediumVarint() -> UInt64? {
    guard remaining >= 4 else { return varint() }
    let bytes = position.littleEndian(UInt32.self, at: 0)
    if bytes & 0x80 == 0 {
      position += 1
      return UInt64(bytes & 0x7F)
    }
    let low = bytes & 0x7F | (bytes & 0x7F00) >> 1
    if bytes & 0x8000 == 0 {
      position += 2
      return low > 0x7F ? UInt64(low) : nil
    }
    guard bytes & 0x80_0000 == 0 else { return longVarint() }
    position += 3
    return bytes & 0x7F_0000 > 0 ? UInt64(low | (bytes & 0x7F_0000) >> 2) : nil
  }

  @usableFromInline
  internal mutating func longVarint() -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    while position < end {
      let byte = position.load(as: UInt8.self)
      position += 1
      if shift == 63, byte > 1 { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return byte == 0 ? nil : value }
      shift += 7
      if shift > 63 { return nil }
    }
    return nil
  }

  /// Returns the next `count` bytes, without copying them.
  @inlinable @inline(__always)
  package mutating func bytes(_ count: UInt64) -> UnsafeRawBufferPointer? {
    guard count <= UInt64(remaining) else { return nil }
    let result = UnsafeRawBufferPointer(start: position, count: Int(count))
    position += Int(count)
    return result
  }

  /// Reads a length as a varint, and returns that many of the bytes after it, without copying them.
  @inlinable @inline(__always)
  package mutating func lengthPrefixed() -> UnsafeRawBufferPointer? {
    guard let count = varint() else { return nil }
    return bytes(count)
  }
}
