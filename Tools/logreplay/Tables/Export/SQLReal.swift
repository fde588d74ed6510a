// Doubles as SQL that every version of SQLite reads as the same double.

/// SQLite does not read every decimal as the nearest double: its versions compute the digits times a power of ten with
/// the means of the machine, as `long double`. So a double is written as its shortest decimal only if one multiplication
/// or division gives it in any of these ways, and otherwise as an integer times or divided by powers of two, which no
/// arithmetic can get wrong.
enum SQLReal {
  static func append(_ number: Double, to bytes: inout [UInt8]) {
    guard number.isFinite else {
      // Beyond the largest double, as SQLite's own shell writes it.
      bytes += (number < 0 ? "-9e999" : "9e999").utf8
      return
    }
    let text = number.description
    if isSafe(text, of: number) {
      bytes += text.utf8
    } else {
      appendExactly(number, to: &bytes)
    }
  }

  /// The powers of ten that a double has exactly, as far as 64 bits have them.
  private static let powers: [UInt64] = (0..<20).map { exponent in
    (0..<exponent).reduce(1) { power, _ in power * 10 }
  }

  /// Whether a decimal is read as this double in whatever precision it is computed.
  private static func isSafe(_ text: String, of number: Double) -> Bool {
    guard let (digits, exponent) = parts(of: text), digits <= 1 << 53, abs(exponent) < powers.count else {
      return false
    }
    if digits == 0 { return true }
    let power = powers[abs(exponent)]
    // One exact product, or one that is rounded once.
    if exponent >= 0 { return !digits.multipliedReportingOverflow(by: power).overflow }
    return Double(digits) / Double(power) == number.magnitude && isRoundedOnce(digits, power)
  }

  /// The digits of a decimal as an integer, without zeros at their end, and the power of ten that they are multiplied by.
  private static func parts(of text: String) -> (digits: UInt64, exponent: Int)? {
    var digits: UInt64 = 0
    var exponent = 0
    var isFraction = false
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        guard digits < 1 << 58 else { return nil }
        digits = digits * 10 + UInt64(byte - UInt8(ascii: "0"))
        if isFraction { exponent -= 1 }
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"):
        guard let power = Int(String(decoding: rest.drop { $0 == UInt8(ascii: "+") }, as: UTF8.self)) else {
          return nil
        }
        exponent += power
        rest = rest[rest.endIndex...]
      default: return nil
      }
    }
    while digits > 0, digits % 10 == 0 {
      digits /= 10
      exponent += 1
    }
    return (digits, exponent)
  }

  /// Whether a quotient that is rounded to 64 bits and then to 53 is what it is when it is rounded to 53 bits: unless the
  /// first rounding leads to the middle between two doubles.
  private static func isRoundedOnce(_ dividend: UInt64, _ divisor: UInt64) -> Bool {
    let high = dividend << UInt64(dividend.leadingZeroBitCount)
    let low = divisor << UInt64(divisor.leadingZeroBitCount)
    // Both have their highest bit, so the quotient has 64 bits once the dividend is below the divisor.
    let (quotient, remainder) =
      high >= low
      ? low.dividingFullWidth((high >> 1, high << 63)) : low.dividingFullWidth((high, 0))
    if remainder == 0 { return quotient & 0x7FF != 0x400 }
    // Up or down: what is near the middle on either side is not taken.
    return quotient & 0x7FF != 0x400 && quotient & 0x7FF != 0x3FF
  }

  /// `4503599627370497*1.0/(1<<52)`: each step is exact.
  private static func appendExactly(_ number: Double, to bytes: inout [UInt8]) {
    var significand = number.significandBitPattern
    var exponent = Int(number.exponentBitPattern)
    if exponent == 0 { exponent = 1 } else { significand |= 1 << 52 }
    exponent -= 1075
    let zeros = min(significand.trailingZeroBitCount, 52)
    significand >>= UInt64(zeros)
    exponent += zeros
    if number.sign == .minus { bytes.append(UInt8(ascii: "-")) }
    bytes += "\(significand)*1.0".utf8
    var rest = abs(exponent)
    while rest > 0 {
      let step = min(rest, 62)
      bytes += (exponent < 0 ? "/" : "*").utf8
      bytes += "(1<<\(step))".utf8
      rest -= step
    }
  }
}
