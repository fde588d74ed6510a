// A reader of CBOR, RFC 8949, item by item, from borrowed bytes.

/// A position in CBOR bytes, with functions that read the items there.
///
/// It reads everything that is well-formed: indefinite lengths, half floats, tags, simple values, keys of any
/// kind, heads longer than needed. A call that succeeds moves past what it read; one that throws leaves the position
/// at the refused item or within it. No bytes make it trap, and it never allocates more than the bytes contain.
///
/// The reader does not keep the bytes alive: use it only while the pointer is valid.
///
/// ```swift
/// try bytes.withUnsafeBytes {
///   var reader = CBORReader($0)
///   for _ in 0..<(try reader.readArrayHead() ?? 0) { total += try reader.readInteger() }
/// }
/// ```
package struct CBORReader {
  /// The first byte.
  let base: UnsafeRawPointer
  /// The number of bytes.
  let end: Int
  /// The offset of the next item, in bytes from the first one.
  package internal(set) var offset: Int

  /// Creates a reader at the first of these bytes.
  package init(_ bytes: UnsafeRawBufferPointer) {
    self.init(bytes, at: 0)
  }

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    base = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = bytes.count
    self.offset = offset
  }

  /// Whether all bytes have been read.
  package var isAtEnd: Bool { offset >= end }

  /// The number of bytes that have not been read yet.
  @inline(__always)
  var remaining: Int { end &- offset }
}

extension CBORReader {
  /// Reads the head of the next item.
  ///
  /// For a number or a simple value, the head is the whole item. For a string, continue with `readRaw(count:)`; for a
  /// container or a tag, with the items inside. A count that the remaining bytes cannot hold throws `.truncated`.
  package mutating func readHead() throws(CodecError) -> CBORHead {
    let start = offset
    guard offset < end else { throw CodecError(.truncated, at: end) }
    let initial = base.load(fromByteOffset: offset, as: UInt8.self)
    let major = initial & 0xE0
    let info = initial & 0x1F
    if major == CBORMajor.simple { return try readSimpleHead(initial) }
    if info == CBORByte.indefinite {
      offset &+= 1
      switch major {
      case CBORMajor.bytes: return .bytes(count: nil)
      case CBORMajor.text: return .text(count: nil)
      case CBORMajor.array: return .array(count: nil)
      case CBORMajor.map: return .map(count: nil)
      default: throw CodecError(.malformed, at: start)
      }
    }
    let argument = try readArgument()
    switch major {
    case CBORMajor.unsigned: return .unsigned(argument)
    case CBORMajor.negative: return .negative(argument)
    case CBORMajor.bytes: return .bytes(count: try checkedCount(argument, unit: 1))
    case CBORMajor.text: return .text(count: try checkedCount(argument, unit: 1))
    case CBORMajor.array: return .array(count: try checkedCount(argument, unit: 1))
    case CBORMajor.map: return .map(count: try checkedCount(argument, unit: 2))
    default: return .tag(argument)
    }
  }

  /// Reads the head of the next item without moving past it.
  package func peekHead() throws(CodecError) -> CBORHead {
    var copy = self
    return try copy.readHead()
  }

  /// The next byte, without moving past it; nil at the end.
  @inline(__always)
  var nextByte: UInt8? { offset < end ? base.load(fromByteOffset: offset, as: UInt8.self) : nil }

  /// Reads the initial byte, and its argument, which is in that byte or follows it (RFC 8949, section 3).
  @inline(__always)
  mutating func readArgument() throws(CodecError) -> UInt64 {
    let info = base.load(fromByteOffset: offset, as: UInt8.self) & 0x1F
    if info < 24 {
      offset &+= 1
      return UInt64(info)
    }
    guard info < 28 else { throw CodecError(.malformed, at: offset) }
    let width = 1 << Int(info &- 24)
    guard remaining > width else { throw CodecError(.truncated, at: end) }
    let argument = base + offset + 1
    offset &+= 1 &+ width
    switch width {
    case 1: return UInt64(argument.load(as: UInt8.self))
    case 2: return UInt64(UInt16(bigEndian: argument.loadUnaligned(as: UInt16.self)))
    case 4: return UInt64(UInt32(bigEndian: argument.loadUnaligned(as: UInt32.self)))
    default: return UInt64(bigEndian: argument.loadUnaligned(as: UInt64.self))
    }
  }

  @inline(__always)
  private func checkedCount(_ argument: UInt64, unit: Int) throws(CodecError) -> Int {
    guard argument <= UInt64(remaining / unit) else { throw CodecError(.truncated, at: end) }
    return Int(truncatingIfNeeded: argument)
  }

  private mutating func readSimpleHead(_ initial: UInt8) throws(CodecError) -> CBORHead {
    let start = offset
    switch initial {
    case CBORByte.false: offset &+= 1; return .bool(false)
    case CBORByte.true: offset &+= 1; return .bool(true)
    case CBORByte.null: offset &+= 1; return .null
    case CBORByte.undefined: offset &+= 1; return .undefined
    case CBORByte.breakCode: offset &+= 1; return .breakCode
    default: break
    }
    let argument = try readArgument()
    switch initial {
    case CBORByte.half: return .float(Double(halfBits: UInt16(truncatingIfNeeded: argument)))
    case CBORByte.single: return .float(Double(Float(bitPattern: UInt32(truncatingIfNeeded: argument))))
    case CBORByte.double: return .float(Double(bitPattern: argument))
    case 0xF8:
      // Values below 32 have a form of one byte or are reserved, so two bytes are not allowed for them.
      guard argument >= 32 else { throw CodecError(.malformed, at: start) }
      return .simple(UInt8(truncatingIfNeeded: argument))
    default: return .simple(UInt8(truncatingIfNeeded: argument))
    }
  }
}

extension CBORReader {
  /// Moves past one item with everything inside it, and checks that it is well-formed. Strings are not checked for
  /// UTF-8. O(bytes of the item).
  package mutating func skip() throws(CodecError) { try skip(depth: 0) }

  /// Returns whether the next byte is the break that ends an item of indefinite length, and if so, moves past it.
  @inline(__always)
  package mutating func readBreak() throws(CodecError) -> Bool {
    guard let byte = nextByte else { throw CodecError(.truncated, at: end) }
    guard byte == CBORByte.breakCode else { return false }
    offset &+= 1
    return true
  }

  mutating func skip(depth: Int) throws(CodecError) {
    guard let initial = nextByte else { throw CodecError(.truncated, at: end) }
    let start = offset
    if initial & 0x1F == CBORByte.indefinite { return try skipIndefinite(depth: depth) }
    let argument = try readArgument()
    switch initial & 0xE0 {
    case CBORMajor.unsigned, CBORMajor.negative: break
    case CBORMajor.bytes, CBORMajor.text: offset &+= try checkedCount(argument, unit: 1)
    case CBORMajor.array: try skipItems(try checkedCount(argument, unit: 1), depth: depth, start: start)
    case CBORMajor.map: try skipItems(try checkedCount(argument, unit: 2) &* 2, depth: depth, start: start)
    case CBORMajor.tag:
      // A big integer does not add a level of nesting.
      let isInteger = argument == CBORTag.positiveBignum || argument == CBORTag.negativeBignum
      if isInteger, let byte = nextByte, byte & 0xE0 == CBORMajor.bytes {
        try skip(depth: depth)
      } else {
        try skipItems(1, depth: depth, start: start)
      }
    default:
      if initial == 0xF8, argument < 32 { throw CodecError(.malformed, at: start) }
    }
  }

  private mutating func skipIndefinite(depth: Int) throws(CodecError) {
    let start = offset
    switch try readHead() {
    case .bytes: try skipChunks(major: CBORMajor.bytes)
    case .text: try skipChunks(major: CBORMajor.text)
    case .array: try skipItems(nil, depth: depth, start: start)
    case .map:
      guard depth < CodecLimits.depthMax else { throw CodecError(.tooDeep, at: start) }
      while !(try readBreak()) {
        try skip(depth: depth + 1)
        try skip(depth: depth + 1)
      }
    default: throw CodecError(.malformed, at: start)
    }
  }

  private mutating func skipItems(_ count: Int?, depth: Int, start: Int) throws(CodecError) {
    guard depth < CodecLimits.depthMax else { throw CodecError(.tooDeep, at: start) }
    if let count {
      for _ in 0..<count { try skip(depth: depth + 1) }
    } else {
      while !(try readBreak()) { try skip(depth: depth + 1) }
    }
  }

  private mutating func skipChunks(major: UInt8) throws(CodecError) {
    while !(try readBreak()) { offset &+= try readChunkHead(major: major) }
  }

  /// Reads the head of a chunk, which must have the same major type and a definite length (RFC 8949, 3.2.3).
  mutating func readChunkHead(major: UInt8) throws(CodecError) -> Int {
    let start = offset
    switch try readHead() {
    case .bytes(let count?) where major == CBORMajor.bytes: return count
    case .text(let count?) where major == CBORMajor.text: return count
    default: throw CodecError(.malformed, at: start)
    }
  }
}

extension Double {
  /// Creates a double from the bits of an IEEE 754 half, exactly (RFC 8949, appendix D).
  init(halfBits bits: UInt16) {
    let exponent = Int(bits >> 10 & 0x1F)
    let fraction = UInt64(bits & 0x3FF)
    let sign = UInt64(bits >> 15) << 63
    switch exponent {
    case 0:
      let magnitude = Double(fraction) * 0x1p-24
      self = sign == 0 ? magnitude : -magnitude
    case 31: self.init(bitPattern: sign | 0x7FF0_0000_0000_0000 | fraction << 42)
    default: self.init(bitPattern: sign | UInt64(exponent - 15 + 1023) << 52 | fraction << 42)
    }
  }
}
