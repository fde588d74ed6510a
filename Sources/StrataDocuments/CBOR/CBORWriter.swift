// A writer of CBOR in the core deterministic encoding of RFC 8949, section 4.2.1.

/// A growing buffer of CBOR items.
///
/// Each call writes the deterministic form: shortest heads, the shortest float that keeps the value, NaN as `f97e00`,
/// definite lengths. The caller must write a map's keys in the order of their encoded bytes, so that shorter text comes
/// first; `write(_:)` of a document does so.
///
/// Memory is freed with the writer. Appending costs O(1) per byte, amortised.
package struct CBORWriter: ~Copyable {
  private(set) var base: UnsafeMutableRawPointer
  /// The number of bytes written.
  package internal(set) var count = 0
  private var capacity: Int
  /// False if the caller owns the memory, which then cannot grow and must be large enough.
  private let ownsMemory: Bool

  /// Creates an empty writer with room for `capacity` bytes before it has to grow.
  package init(capacity: Int = 512) {
    self.capacity = max(capacity, 64)
    base = .allocate(byteCount: self.capacity, alignment: 8)
    ownsMemory = true
  }

  /// Creates a writer into the caller's memory, which must be large enough for everything that is written.
  init(into memory: UnsafeMutableRawBufferPointer) {
    capacity = memory.count
    base = memory.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    ownsMemory = false
  }

  deinit {
    if ownsMemory { base.deallocate() }
  }

  /// A copy of the bytes written so far.
  package var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: base, count: count)) }

  /// Calls `body` with the bytes written so far. The pointer is valid only during the call.
  package func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(start: base, count: count))
  }

  /// Removes everything that was written, and keeps the memory.
  package mutating func removeAll() { count = 0 }

  /// Makes room for `additional` more bytes.
  @inline(__always)
  mutating func reserve(_ additional: Int) {
    if capacity &- count < additional { grow(additional) }
  }

  @inline(never)
  private mutating func grow(_ additional: Int) {
    precondition(ownsMemory, "memory given to a CBOR writer has room for everything that is written")
    let larger = max(capacity * 2, count + additional)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
    memory.copyMemory(from: base, byteCount: count)
    base.deallocate()
    base = memory
    capacity = larger
  }
}

extension CBORWriter {
  package mutating func writeNull() { writeByte(CBORByte.null) }

  package mutating func writeBool(_ value: Bool) { writeByte(value ? CBORByte.true : CBORByte.false) }

  @inline(__always)
  package mutating func writeInteger(_ value: Int64) {
    if value >= 0 {
      writeHead(CBORMajor.unsigned, UInt64(bitPattern: value))
    } else {
      writeHead(CBORMajor.negative, UInt64(bitPattern: ~value))  // −1 − value
    }
  }

  package mutating func writeUnsigned(_ value: UInt64) { writeHead(CBORMajor.unsigned, value) }

  /// Writes the integer −1 − `offset`.
  package mutating func writeNegative(_ offset: UInt64) { writeHead(CBORMajor.negative, offset) }

  /// Writes an integer of any size: in 64 bits if it fits, else with tag 2 or 3 (RFC 8949, 3.4.3).
  package mutating func writeInteger(_ value: DocumentInteger) {
    let bytes = value.isNegative ? value.negativeOffset : value.magnitude
    if let short = UInt64(bigEndianBytes: bytes) {
      writeHead(value.isNegative ? CBORMajor.negative : CBORMajor.unsigned, short)
    } else {
      writeTag(value.isNegative ? CBORTag.negativeBignum : CBORTag.positiveBignum)
      bytes.withUnsafeBytes { writeBytes($0) }
    }
  }

  /// Writes the shortest float that keeps the value.
  package mutating func writeDouble(_ value: Double) {
    reserve(9)
    guard !value.isNaN else {
      storeArgument(CBORByte.half, UInt16(0x7E00))
      return
    }
    let single = Float(value)
    guard Double(single) == value else {
      storeArgument(CBORByte.double, value.bitPattern)
      return
    }
    if let half = single.halfBits {
      storeArgument(CBORByte.half, half)
    } else {
      storeArgument(CBORByte.single, single.bitPattern)
    }
  }

  @inline(__always)
  package mutating func writeText(_ text: String) {
    text.withUTF8Bytes { utf8 in
      writeHead(CBORMajor.text, UInt64(truncatingIfNeeded: utf8.count))
      writeEncoded(UnsafeRawBufferPointer(utf8))
    }
  }

  /// Writes a text whose bytes are known to be UTF-8.
  @inline(__always)
  package mutating func writeText(utf8 bytes: UnsafeRawBufferPointer) {
    writeHead(CBORMajor.text, UInt64(truncatingIfNeeded: bytes.count))
    writeEncoded(bytes)
  }

  package mutating func writeBytes(_ bytes: UnsafeRawBufferPointer) {
    writeHead(CBORMajor.bytes, UInt64(bytes.count))
    writeEncoded(bytes)
  }

  /// Begins an array. Exactly `count` items must follow.
  package mutating func writeArrayHead(count: Int) { writeHead(CBORMajor.array, UInt64(count)) }

  /// Begins a map. Exactly `count` pairs must follow, ascending by the keys' encoded bytes.
  package mutating func writeMapHead(count: Int) { writeHead(CBORMajor.map, UInt64(count)) }

  /// Tags the item that follows.
  package mutating func writeTag(_ tag: UInt64) { writeHead(CBORMajor.tag, tag) }

  package mutating func writeUndefined() { writeByte(CBORByte.undefined) }

  /// Writes a simple value. The values 20…31 are not allowed: they have their own functions, or are reserved.
  package mutating func writeSimple(_ value: UInt8) {
    precondition(!(20..<32).contains(value), "simple value \(value) is reserved, or has its own function")
    writeHead(CBORMajor.simple, UInt64(value))
  }

  /// Writes bytes that are encoded already.
  @inline(__always)
  package mutating func writeEncoded(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress, bytes.count > 0 else { return }
    reserve(bytes.count)
    Self.copy(bytes.count, from: source, to: base + count)
    count &+= bytes.count
  }

  /// Sorts the parts of what was written from a position on, by their bytes. The ranges are from that position on, and
  /// cover it all, one after another.
  mutating func sort(_ parts: [Range<Int>], from position: Int) {
    guard parts.count > 1 else { return }
    let tail = UnsafeRawBufferPointer(start: base + position, count: count - position)
    let old = UnsafeMutableRawBufferPointer.allocate(byteCount: tail.count, alignment: 1)
    defer { old.deallocate() }
    old.copyMemory(from: tail)
    func bytes(_ part: Range<Int>) -> UnsafeBufferPointer<UInt8> {
      UnsafeRawBufferPointer(rebasing: old[part]).assumingMemoryBound(to: UInt8.self)
    }
    count = position
    for part in parts.sorted(by: { compareBytes(bytes($0), bytes($1)) < 0 }) {
      writeEncoded(UnsafeRawBufferPointer(bytes(part)))
    }
  }

  /// Copies bytes. Most texts and keys are short: two words that may overlap, without a call.
  @inline(__always)
  private static func copy(_ count: Int, from source: UnsafeRawPointer, to target: UnsafeMutableRawPointer) {
    if count > 16 { return target.copyMemory(from: source, byteCount: count) }
    if count >= 8 {
      let (head, tail) = (
        source.loadUnaligned(as: UInt64.self),
        source.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
      )
      target.storeBytes(of: head, as: UInt64.self)
      target.storeBytes(of: tail, toByteOffset: count &- 8, as: UInt64.self)
    } else if count >= 4 {
      let (head, tail) = (
        source.loadUnaligned(as: UInt32.self),
        source.loadUnaligned(fromByteOffset: count &- 4, as: UInt32.self)
      )
      target.storeBytes(of: head, as: UInt32.self)
      target.storeBytes(of: tail, toByteOffset: count &- 4, as: UInt32.self)
    } else {
      for offset in 0..<count {
        target.storeBytes(
          of: source.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
      }
    }
  }

  @inline(__always)
  mutating func writeByte(_ byte: UInt8) {
    reserve(1)
    base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count &+= 1
  }

  /// Writes an initial byte and its argument in the fewest bytes.
  @inline(__always)
  mutating func writeHead(_ major: UInt8, _ argument: UInt64) {
    reserve(9)
    if argument < 24 {
      base.storeBytes(of: major | UInt8(truncatingIfNeeded: argument), toByteOffset: count, as: UInt8.self)
      count &+= 1
    } else if argument <= 0xFF {
      storeArgument(major | 24, UInt8(truncatingIfNeeded: argument))
    } else if argument <= 0xFFFF {
      storeArgument(major | 25, UInt16(truncatingIfNeeded: argument))
    } else if argument <= 0xFFFF_FFFF {
      storeArgument(major | 26, UInt32(truncatingIfNeeded: argument))
    } else {
      storeArgument(major | 27, argument)
    }
  }

  /// Writes an initial byte and a big-endian argument. There must be room for both.
  @inline(__always)
  private mutating func storeArgument<Argument: FixedWidthInteger & BitwiseCopyable>(
    _ initial: UInt8,
    _ argument: Argument
  ) {
    base.storeBytes(of: initial, toByteOffset: count, as: UInt8.self)
    base.storeBytes(of: argument.bigEndian, toByteOffset: count &+ 1, as: Argument.self)
    count &+= 1 &+ MemoryLayout<Argument>.size
  }
}

extension Float {
  /// The bits of the IEEE 754 half with exactly this value; nil if there is none. Not for NaN.
  var halfBits: UInt16? {
    let sign = UInt16(truncatingIfNeeded: bitPattern >> 16) & 0x8000
    if isInfinite { return sign | 0x7C00 }
    if isZero { return sign }
    let exponent = Int(bitPattern >> 23 & 0xFF) - 127
    let fraction = bitPattern & 0x7F_FFFF
    if exponent >= -14, exponent <= 15 {
      guard fraction & 0x1FFF == 0 else { return nil }
      return sign | UInt16(exponent + 15) << 10 | UInt16(fraction >> 13)
    }
    // A subnormal half is a multiple of 2⁻²⁴ below 2⁻¹⁴.
    guard exponent >= -24, exponent < -14 else { return nil }
    let significand = fraction | 0x80_0000
    let shift = UInt32(-exponent - 1)
    guard significand & (1 << shift - 1) == 0 else { return nil }
    return sign | UInt16(significand >> shift)
  }
}
