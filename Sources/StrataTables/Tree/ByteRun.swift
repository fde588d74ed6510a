// Bytes by address and length, and how keys are compared.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A run of bytes that is kept alive elsewhere.
package struct ByteRun {
  package var base: UnsafeRawPointer
  package var count: Int

  @inline(__always)
  package init(base: UnsafeRawPointer, count: Int) {
    assert(count >= 0, "a run of bytes has a length below zero")
    self.base = base
    self.count = count
  }

  /// An empty buffer may have no address; an empty run has an address that is never read.
  @inline(__always)
  package init(_ buffer: UnsafeRawBufferPointer) {
    base = buffer.baseAddress ?? UnsafeRawPointer(bitPattern: 8)!
    count = buffer.count
  }

  @inline(__always) package var buffer: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base, count: count)
  }

  @inline(__always)
  private func word(_ offset: Int) -> UInt64 {
    UInt64(bigEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// The 8 bytes from `start` as a big-endian number, padded with zeros.
  @inline(__always)
  package func head(_ start: Int) -> UInt64 {
    let rest = count - start
    if rest >= 8 { return word(start) }
    if rest <= 0 { return 0 }
    if count >= 8 { return word(count - 8) << UInt64(truncatingIfNeeded: (8 - rest) * 8) }
    var head: UInt64 = 0
    for index in start..<count {
      head |= UInt64(base.load(fromByteOffset: index, as: UInt8.self)) << UInt64((7 - (index - start)) * 8)
    }
    return head
  }

  /// Below zero if this run orders before every key with the prefix, above zero if it orders after them, zero if it has
  /// the prefix.
  @inline(__always)
  func order(againstPrefix prefix: ByteRun) -> Int {
    let length = prefix.count
    if count >= length, length >= 8 {
      var offset = 0
      while true {
        let mine = word(offset)
        let other = prefix.word(offset)
        if mine != other { return mine < other ? -1 : 1 }
        if offset == length - 8 { return 0 }
        offset = min(offset + 8, length - 8)
      }
    }
    let both = min(count, length)
    for index in 0..<both {
      let mine = base.load(fromByteOffset: index, as: UInt8.self)
      let other = prefix.base.load(fromByteOffset: index, as: UInt8.self)
      if mine != other { return mine < other ? -1 : 1 }
    }
    return count < length ? -1 : 0
  }

  /// Below, equal to or above zero if this run orders before, equal to or after the other.
  @inline(__always)
  package func order(against other: ByteRun) -> Int {
    let order = memcmp(base, other.base, min(count, other.count))
    return order != 0 ? Int(order) : count - other.count
  }

  @inline(__always)
  func equals(_ other: ByteRun) -> Bool {
    count == other.count && (count == 0 || memcmp(base, other.base, count) == 0)
  }

  /// The length of the common prefix of both runs, in bytes.
  package func commonPrefixLength(_ other: ByteRun) -> Int {
    let both = min(count, other.count)
    var length = 0
    while length + 8 <= both {
      let difference = word(length) ^ other.word(length)
      if difference != 0 { return length + difference.leadingZeroBitCount / 8 }
      length += 8
    }
    while length < both,
      base.load(fromByteOffset: length, as: UInt8.self)
        == other.base.load(fromByteOffset: length, as: UInt8.self)
    { length += 1 }
    return length
  }

  /// The length of the common suffix of both runs, in bytes.
  ///
  /// - Parameter most: how long it may be; both runs are at least as long.
  package func commonSuffixLength(_ other: ByteRun, atMost most: Int) -> Int {
    assert(most <= min(count, other.count), "a suffix is longer than its run")
    var length = 0
    while length + 8 <= most {
      let difference = word(count - length - 8) ^ other.word(other.count - length - 8)
      if difference != 0 { return length + difference.trailingZeroBitCount / 8 }
      length += 8
    }
    while length < most,
      base.load(fromByteOffset: count - length - 1, as: UInt8.self)
        == other.base.load(fromByteOffset: other.count - length - 1, as: UInt8.self)
    { length += 1 }
    return length
  }
}

extension [UInt8] {
  /// Whether it is before other bytes, compared as unsigned bytes.
  package func isBefore(_ other: [UInt8]) -> Bool { order(against: other) < 0 }

  /// Below, equal to or above zero, compared as unsigned bytes.
  package func order(against other: [UInt8]) -> Int {
    withUnsafeBytes { a in other.withUnsafeBytes { a.order($0) } }
  }
}
