// Conversion between big integers and decimal digits, by the schoolbook method, 18 digits at a time.

private let chunkDigitCount = 18
private let chunkValue: UInt64 = 1_000_000_000_000_000_000

extension DocumentInteger: LosslessStringConvertible {
  /// Creates an integer from an optional sign and decimal digits, leading zeros allowed; nil for anything else and
  /// for more than 4,096 bytes. O(n²) in the digits.
  public init?(_ description: String) {
    var digits = Substring(description).utf8
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
    let significant = digits.drop { $0 == UInt8(ascii: "0") }
    guard !digits.isEmpty, significant.count <= CodecLimits.integerDigitCountMax,
      let value = Array(significant).withUnsafeBufferPointer({
        DocumentInteger(isNegative: isNegative, digits: $0)
      })
    else { return nil }
    self = value
  }

  /// The decimal digits, after a minus sign if the integer is negative. O(n²) in the bytes.
  public var description: String {
    if magnitude.isEmpty { return "0" }
    var limbs = bigEndianLimbs
    var chunks: [UInt64] = []
    var start = 0
    while start < limbs.count {
      var remainder: UInt64 = 0
      for index in start..<limbs.count {
        (limbs[index], remainder) = chunkValue.dividingFullWidth((remainder, limbs[index]))
      }
      chunks.append(remainder)
      while start < limbs.count, limbs[start] == 0 { start += 1 }
    }
    var text = isNegative ? "-" : ""
    text += String(chunks[chunks.count - 1])
    for chunk in chunks.dropLast().reversed() {
      let digits = String(chunk)
      text += String(repeating: "0", count: chunkDigitCount - digits.utf8.count) + digits
    }
    return text
  }

  /// Creates an integer from ASCII digits; nil if there are other bytes, or too many digits.
  init?(isNegative: Bool, digits: UnsafeBufferPointer<UInt8>) {
    var limbs: [UInt64] = []  // least significant first
    var index = 0
    while index < digits.count {
      let end = min(index + chunkDigitCount, digits.count)
      var chunk: UInt64 = 0
      var scale: UInt64 = 1
      while index < end {
        let digit = digits[index] &- UInt8(ascii: "0")
        guard digit <= 9 else { return nil }
        chunk = chunk * 10 + UInt64(digit)
        scale *= 10
        index += 1
      }
      var carry = chunk
      for position in limbs.indices {
        let product = limbs[position].multipliedFullWidth(by: scale)
        let (low, overflow) = product.low.addingReportingOverflow(carry)
        limbs[position] = low
        carry = product.high &+ (overflow ? 1 : 0)
      }
      if carry != 0 { limbs.append(carry) }
    }
    let magnitude = limbs.reversed().flatMap { limb in
      (0..<8).map { UInt8(truncatingIfNeeded: limb >> UInt64(56 - 8 * $0)) }
    }
    self.init(isNegative: isNegative, magnitude: magnitude)
    guard self.magnitude.count <= CodecLimits.integerByteCountMax else { return nil }
  }

  private var bigEndianLimbs: [UInt64] {
    var limbs = [UInt64](repeating: 0, count: (magnitude.count + 7) / 8)
    for (distance, byte) in magnitude.reversed().enumerated() {
      limbs[limbs.count - 1 - distance / 8] |= UInt64(byte) << UInt64(8 * (distance % 8))
    }
    return limbs
  }
}
