// Properties of the bytes of a text, tested eight bytes at a time.

extension UnsafeRawBufferPointer {
  /// Whether any byte is zero. O(n).
  @inline(__always)
  var hasZero: Bool {
    var index = 0
    while index &+ 8 <= count {
      let word = loadUnaligned(fromByteOffset: index, as: UInt64.self)
      if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
      index &+= 8
    }
    while index < count {
      if self[index] == 0 { return true }
      index &+= 1
    }
    return false
  }

  /// Whether every byte is below 0x80. O(n).
  package var isASCII: Bool {
    var found: UInt64 = 0
    var index = 0
    while index &+ 8 <= count {
      found |= loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    while index < count {
      found |= UInt64(self[index])
      index &+= 1
    }
    return found & 0x8080_8080_8080_8080 == 0
  }
}

extension UInt8 {
  @inline(__always)
  var isDigit: Bool { self &- UInt8(ascii: "0") <= 9 }

  @inline(__always)
  var lowercasedASCII: UInt8 { self &- UInt8(ascii: "A") < 26 ? self | 0x20 : self }
}
