// Keys as bytes: equality, order (unsigned, a prefix before the keys that it begins), and 8-byte words.

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes. Compares eight at a time; the last word overlaps the one before it.
  @inline(__always)
  func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard let left = baseAddress, let right = other.baseAddress else { return true }
    if count < 8 { return word(at: 0) == other.word(at: 0) }
    var offset = 0
    while offset < count - 8 {
      guard left.nativeWord(at: offset) == right.nativeWord(at: offset) else { return false }
      offset += 8
    }
    return left.nativeWord(at: count - 8) == right.nativeWord(at: count - 8)
  }

  /// Less than zero if these bytes order before the others, zero if they are equal, greater than zero if they order
  /// after.
  @inline(__always)
  func order(against other: UnsafeRawBufferPointer) -> Int {
    guard let left = baseAddress, let right = other.baseAddress else { return count - other.count }
    let common = Swift.min(count, other.count)
    var offset = 0
    while offset + 8 <= common {
      let (one, two) = (left.nativeWord(at: offset), right.nativeWord(at: offset))
      if one != two { return UInt64(bigEndian: one) < UInt64(bigEndian: two) ? -1 : 1 }
      offset += 8
    }
    while offset < common {
      let (one, two) = (left.nativeByte(at: offset), right.nativeByte(at: offset))
      if one != two { return one < two ? -1 : 1 }
      offset += 1
    }
    return count - other.count
  }

  /// How many first bytes both have in common.
  @inline(__always)
  func commonPrefix(with other: UnsafeRawBufferPointer) -> Int {
    guard let left = baseAddress, let right = other.baseAddress else { return 0 }
    let length = Swift.min(count, other.count)
    var offset = 0
    while offset + 8 <= length {
      let difference = left.nativeWord(at: offset) ^ right.nativeWord(at: offset)
      if difference != 0 { return offset + UInt64(littleEndian: difference).trailingZeroBitCount / 8 }
      offset += 8
    }
    while offset < length, left.nativeByte(at: offset) == right.nativeByte(at: offset) { offset += 1 }
    return offset
  }

  /// Whether these bytes begin with the prefix.
  @inline(__always)
  func begins(with prefix: UnsafeRawBufferPointer) -> Bool {
    guard count >= prefix.count else { return false }
    return UnsafeRawBufferPointer(start: baseAddress, count: prefix.count).hasSameBytes(as: prefix)
  }

  /// The eight bytes at `offset` as a number with the same order (the first byte is the most significant); bytes past
  /// the end count as zero.
  @inline(__always)
  func word(at offset: Int) -> UInt64 {
    let left = count - offset
    guard left > 0 else { return 0 }
    if left >= 8 { return UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)) }
    if left >= 4 {
      let high = UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      let low = UInt32(bigEndian: loadUnaligned(fromByteOffset: offset + left - 4, as: UInt32.self))
      return UInt64(high) << 32 | UInt64(low) << UInt64(8 * (8 - left))
    }
    var word: UInt64 = 0
    for index in 0..<left { word |= UInt64(self[offset + index]) << UInt64(56 - 8 * index) }
    return word
  }
}

extension UnsafeRawPointer {
  @inline(__always)
  fileprivate func nativeWord(at offset: Int) -> UInt64 {
    loadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  @inline(__always)
  fileprivate func nativeByte(at offset: Int) -> UInt8 { load(fromByteOffset: offset, as: UInt8.self) }
}
