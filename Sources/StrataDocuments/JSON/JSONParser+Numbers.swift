// The parsing of numbers in JSON text: integers exactly, other numbers as the nearest double.

extension JSONParser {
  /// Reads a number. The next byte is a minus sign or a digit.
  mutating func parseNumber() throws(Failure) -> DocumentValue {
    let start = offset
    let isNegative = base[offset] == UInt8(ascii: "-")
    if isNegative { offset &+= 1 }
    let firstDigit = offset
    var significand: UInt64 = 0
    try parseDigits(&significand)
    let integerDigitCount = offset - firstDigit
    if integerDigitCount > 1, base[firstDigit] == UInt8(ascii: "0") {
      throw Failure(reason: .invalidNumber, offset: start)
    }
    guard offset < end, isFractionOrExponent(base[offset]) else {
      return try integer(isNegative: isNegative, significand, from: firstDigit, at: start)
    }
    var digitCount = integerDigitCount
    var exponent = 0
    if base[offset] == UInt8(ascii: ".") {
      offset &+= 1
      let firstFraction = offset
      try parseDigits(&significand)
      exponent = firstFraction - offset
      digitCount -= exponent
    }
    if offset < end, base[offset] | 0x20 == UInt8(ascii: "e") {
      exponent += try parseExponent()
    }
    let text = UnsafeBufferPointer(start: base + start, count: offset - start)
    let value: Double
    if digitCount <= 19, let exact = Double(exactSignificand: significand, exponent: exponent) {
      value = isNegative ? -exact : exact
    } else {
      guard let nearest = Double(String(decoding: text, as: UTF8.self)), nearest.isFinite else {
        throw Failure(reason: .numberOutOfRange, offset: start)
      }
      value = nearest
    }
    if noticesRounding, firstRounded == nil {
      // A double that is not close to zero gives back any 15 digits.
      let isSurelyKept = digitCount <= 15 && (value.isNormal || significand == 0)
      if !isSurelyKept, !DecimalDigits(text).areKept(by: value) { firstRounded = (start, value) }
    }
    return .double(value)
  }

  @inline(__always)
  private func isFractionOrExponent(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ".") || byte | 0x20 == UInt8(ascii: "e")
  }

  /// Reads at least one digit. More than 19 digits may overflow the significand, which is then not used.
  @inline(__always)
  private mutating func parseDigits(_ significand: inout UInt64) throws(Failure) {
    let first = offset
    while offset < end {
      let digit = base[offset] &- UInt8(ascii: "0")
      if digit > 9 { break }
      significand = significand &* 10 &+ UInt64(digit)
      offset &+= 1
    }
    if offset == first {
      throw Failure(reason: offset < end ? .invalidNumber : .truncated, offset: offset)
    }
  }

  private mutating func parseExponent() throws(Failure) -> Int {
    offset &+= 1
    var isNegative = false
    if offset < end, base[offset] == UInt8(ascii: "-") || base[offset] == UInt8(ascii: "+") {
      isNegative = base[offset] == UInt8(ascii: "-")
      offset &+= 1
    }
    let first = offset
    var value: UInt64 = 0
    try parseDigits(&value)
    // A longer exponent may have overflowed. Any value this large sends the number to the general conversion.
    if offset - first > 9 { value = 1_000_000_000 }
    return isNegative ? -Int(value) : Int(value)
  }

  @inline(__always)
  private func integer(
    isNegative: Bool,
    _ significand: UInt64,
    from firstDigit: Int,
    at start: Int
  ) throws(Failure) -> DocumentValue {
    let digitCount = offset - firstDigit
    if digitCount <= 19 {  // 10¹⁹ − 1 fits in 64 bits without a sign
      if !isNegative {
        return significand <= UInt64(Int64.max) ? .int(Int64(significand)) : .uint(significand)
      }
      if significand == 0 { return .double(-0.0) }
      if significand <= Int64.min.magnitude { return .int(Int64(truncatingIfNeeded: 0 &- significand)) }
    }
    guard digitCount <= CodecLimits.integerDigitCountMax,
      let value = DocumentInteger(
        isNegative: isNegative,
        digits: UnsafeBufferPointer(start: base + firstDigit, count: digitCount))
    else { throw Failure(reason: .tooLong, offset: start) }
    return DocumentValue(value)
  }
}

private let powersOfTen: [Double] = [
  1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
  1e19, 1e20, 1e21, 1e22,
]

extension Double {
  /// Creates the double nearest to significand × 10ᵉ if both factors are exact, so that the result is rounded only
  /// once; nil otherwise. (W. Clinger, How to read floating point numbers accurately, PLDI 1990.)
  fileprivate init?(exactSignificand significand: UInt64, exponent: Int) {
    guard significand <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
    let value = Double(significand)
    self = exponent < 0 ? value / powersOfTen[-exponent] : value * powersOfTen[exponent]
  }
}
