// Floating-point numbers in an order in which simple ones come first.

/// Codes of positive numbers: smaller codes are simpler numbers.
///
/// Integers below 2⁵⁶ come first, in their order. Then the others by exponent, small positive exponents first, and
/// among those by the fraction read from its end, so that few digits are simpler than many. Infinity and then NaN are
/// last. The order is that of Hypothesis (D. MacIver and others, `conjecture/floats.py`, which describes it).
enum FloatOrder {
  private static let isFraction: UInt64 = 1 << 63

  static func code(of value: Double) -> UInt64 {
    let value = value.magnitude
    if value < 0x1p56, value == value.rounded(.towardZero) { return UInt64(value) }
    let exponent = Int(value.exponentBitPattern)
    return isFraction | UInt64(place(ofExponent: exponent)) << 52
      | reversed(value.significandBitPattern, exponent: exponent)
  }

  static func value(ofCode code: UInt64) -> Double {
    guard code & isFraction != 0 else { return Double(code & (1 << 56 - 1)) }
    let exponent = self.exponent(atPlace: Int(code >> 52) & 0x7FF)
    let significand = reversed(code & (1 << 52 - 1), exponent: exponent)
    return Double(sign: .plus, exponentBitPattern: UInt(exponent), significandBitPattern: significand)
  }

  /// 0 to 1,023 for exponents from 0 upwards, then those from −1 downwards, and 2,047 for what is not finite.
  private static func place(ofExponent biased: Int) -> Int {
    biased == 2_047 ? 2_047 : biased >= 1_023 ? biased - 1_023 : 2_046 - biased
  }

  private static func exponent(atPlace place: Int) -> Int {
    place == 2_047 ? 2_047 : place <= 1_023 ? place + 1_023 : 2_046 - place
  }

  /// Reverses the bits after the point. Its own inverse.
  private static func reversed(_ significand: UInt64, exponent biased: Int) -> UInt64 {
    if biased == 2_047 { return significand }
    let width = Swift.min(52, Swift.max(0, 52 - (biased - 1_023)))
    if width == 0 { return significand }
    let mask: UInt64 = 1 << UInt64(width) - 1
    var (left, bits) = (significand & mask, UInt64(0))
    for _ in 0..<width {
      bits = bits << 1 | left & 1
      left >>= 1
    }
    return significand & ~mask | bits
  }
}
