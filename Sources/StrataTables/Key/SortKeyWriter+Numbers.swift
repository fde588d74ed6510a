// Numbers of every kind as bytes in one exact order: 1 and 1.0 are the same key.

extension SortKeyWriter {
  /// Appends a double. −0 is stored as 0. Every NaN is stored as the same key, which comes last.
  @inline(__always)
  mutating func append(number value: Double) {
    guard !value.isNaN else {
      reserve(1)
      return store(SortKeyTag.nan)
    }
    storeNumber(magnitude: value.magnitude, rest: 0, isNegative: value < 0)
  }

  @inline(__always)
  mutating func append(integer magnitude: UInt64, isNegative: Bool) {
    // A double holds 53 bits exactly.
    let cut = UInt64(max(0, 11 - magnitude.leadingZeroBitCount))
    let rest = magnitude & (1 << cut &- 1)
    assert(
      UInt64(exactly: Double(magnitude &- rest)) == magnitude &- rest,
      "a double does not hold 53 bits exactly")
    storeNumber(magnitude: Double(magnitude &- rest), rest: rest, isNegative: isNegative)
  }

  @inline(__always)
  mutating func append<Integer: FixedWidthInteger>(integer value: Integer) {
    if let small = UInt64(exactly: value.magnitude) {
      append(integer: small, isNegative: value < 0)
    } else {
      let magnitude = UInt128(value.magnitude)
      Swift.withUnsafeBytes(of: magnitude.bigEndian) { append(bigInteger: $0, isNegative: value < 0) }
    }
  }

  @inline(__always)
  private mutating func storeNumber(magnitude: Double, rest: UInt64, isNegative: Bool) {
    reserve(18)
    let change: UInt64 = isNegative ? .max : 0
    store(isNegative ? SortKeyTag.negative : SortKeyTag.positive)
    store(bigEndian: magnitude.bitPattern ^ change)
    if rest == 0 {
      store(UInt8(truncatingIfNeeded: change))
    } else {
      let length = 8 &- rest.leadingZeroBitCount / 8
      store(UInt8(truncatingIfNeeded: UInt64(length) ^ change))
      let aligned = (rest ^ change) << UInt64(64 &- 8 &* length)
      base.storeBytes(of: aligned.bigEndian, toByteOffset: count, as: UInt64.self)
      count &+= length
    }
  }

  /// Appends an integer given by the bytes of its absolute value, most significant first. There may be at most
  /// `CodecLimits.integerByteCountMax` + 1 bytes.
  mutating func append(bigInteger bytes: UnsafeRawBufferPointer, isNegative: Bool) {
    let significant = UnsafeRawBufferPointer(rebasing: bytes.drop { $0 == 0 })
    guard significant.count > 8 else {
      let magnitude = significant.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      return append(integer: magnitude, isNegative: isNegative)
    }
    let bitCount = significant.count * 8 - significant[0].leadingZeroBitCount
    let head = UInt64(bigEndian: significant.loadUnaligned(as: UInt64.self))
    let magnitude: Double
    var rest = Array(significant)
    if bitCount <= 1024 {
      let mantissa = (head << UInt64(significant[0].leadingZeroBitCount)) >> 11
      magnitude = Double(sign: .plus, exponent: bitCount - 53, significand: Double(mantissa))
      Self.clear(first: 53, of: &rest)
    } else {
      magnitude = .greatestFiniteMagnitude
      Self.subtractGreatestDouble(from: &rest)
    }
    rest.removeFirst(rest.prefix { $0 == 0 }.count)
    assert(rest.count <= Int(UInt16.max), "the remainder of a number is longer than its length can hold")
    reserve(12 + rest.count)
    let change: UInt8 = isNegative ? 0xFF : 0
    store(isNegative ? SortKeyTag.negative : SortKeyTag.positive)
    store(bigEndian: isNegative ? ~magnitude.bitPattern : magnitude.bitPattern)
    if rest.count < SortKeyTag.longLength {
      store(UInt8(rest.count) ^ change)
    } else {
      store(SortKeyTag.longLength ^ change)
      store(bigEndian: isNegative ? ~UInt16(rest.count) : UInt16(rest.count))
    }
    for byte in rest { store(byte ^ change) }
  }

  /// Clears the first `bitCount` bits, counted from the highest set bit. The number must have more bits.
  private static func clear(first bitCount: Int, of bytes: inout [UInt8]) {
    let skipped = bytes[0].leadingZeroBitCount + bitCount
    for index in 0..<skipped / 8 { bytes[index] = 0 }
    if skipped % 8 > 0 { bytes[skipped / 8] &= 0xFF >> UInt8(skipped % 8) }
  }

  /// Subtracts the greatest double, 2¹⁰²⁴ − 2⁹⁷¹, from a greater number.
  private static func subtractGreatestDouble(from bytes: inout [UInt8]) {
    let double = [UInt8](repeating: 0xFF, count: 6) + [0xF8] + [UInt8](repeating: 0, count: 121)
    var borrow = 0
    for distance in 1...bytes.count {
      let subtrahend = distance <= double.count ? Int(double[double.count - distance]) : 0
      let difference = Int(bytes[bytes.count - distance]) - subtrahend - borrow
      bytes[bytes.count - distance] = UInt8(truncatingIfNeeded: difference)
      borrow = difference < 0 ? 1 : 0
    }
    assert(borrow == 0, "the greatest double is subtracted from a smaller number")
  }
}
