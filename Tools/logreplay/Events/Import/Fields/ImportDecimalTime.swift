// Times as decimal numbers of seconds, or of parts of them, since 1970.

/// The reading of decimal numbers without a detour over doubles, which have too few digits for nanoseconds.
enum ImportDecimalTime {
  /// A number times 10 to the power of `scale`, rounded down; nil if the text is no decimal number, or the result does
  /// not fit. Digits after the ones that count are dropped.
  static func nanoseconds(_ text: UnsafeRawBufferPointer, scale: Int) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    var digits = 0
    var fractionDigits: Int?
    var value: Int128 = 0
    var hasMore = false
    for byte in text.dropFirst(isNegative ? 1 : 0) {
      if byte == UInt8(ascii: "."), fractionDigits == nil {
        fractionDigits = 0
        continue
      }
      guard byte &- UInt8(ascii: "0") <= 9 else { return nil }
      digits += 1
      if let count = fractionDigits {
        guard count < scale else {
          hasMore = hasMore || byte != UInt8(ascii: "0")
          continue
        }
        fractionDigits = count + 1
      }
      value = value * 10 + Int128(byte - UInt8(ascii: "0"))
      guard value < 1 << 100 else { return nil }
    }
    guard digits > 0 else { return nil }
    for _ in 0..<(scale - (fractionDigits ?? 0)) {
      value *= 10
      guard value < 1 << 100 else { return nil }
    }
    if isNegative { value = -value - (hasMore ? 1 : 0) }
    guard let nanoseconds = Int64(exactly: value), nanoseconds != .min else { return nil }
    return nanoseconds
  }

  /// A double's shortest text without an exponent.
  static func text(of value: Double) -> String {
    let text = value.description
    guard let exponentMark = text.firstIndex(of: "e"),
      let exponent = Int(text[text.index(after: exponentMark)...]), abs(exponent) < 40
    else { return text }
    let isNegative = text.hasPrefix("-")
    let mantissa = text[..<exponentMark].drop { $0 == "-" }
    let digits = mantissa.filter { $0 != "." }
    let zeros = String(repeating: "0", count: 40)
    // One digit is before the point.
    let whole = exponent >= 0 ? String((digits + zeros).prefix(exponent + 1)) : "0"
    let fraction =
      exponent >= 0
      ? String(digits.dropFirst(exponent + 1)) : String(zeros.prefix(-exponent - 1)) + digits
    return (isNegative ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
  }
}
