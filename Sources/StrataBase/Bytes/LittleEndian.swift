// Little-endian integers, the byte order of the format, at any address.

extension UnsafeRawPointer {
  /// Reads the little-endian integer at `offset` bytes from here, at any alignment.
  @inlinable @inline(__always)
  package func littleEndian<Integer: FixedWidthInteger>(_ type: Integer.Type, at offset: Int) -> Integer {
    Integer(littleEndian: loadUnaligned(fromByteOffset: offset, as: type))
  }
}

extension UnsafeMutableRawPointer {
  /// Writes an integer in little-endian order at `offset` bytes from here, at any alignment.
  @inlinable @inline(__always)
  package func setLittleEndian<Integer: FixedWidthInteger>(_ value: Integer, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Integer.self)
  }
}
