// The forms of Foundation's value types in a document, which filters can compare and people can read.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Date {
  /// The seconds from 1970 to 2001, the reference date of `Date`.
  private static let referenceSeconds: Int64 = 978_307_200

  /// The instant that reads back as exactly this date: in nanoseconds if that is precise enough, else in attoseconds
  /// (dates within eight milliseconds of 2001-01-01T00:00:00Z are rounded to attoseconds). Nil if the date is not an
  /// instant in the years 0000…9999.
  var instant: Instant? {
    let time = timeIntervalSinceReferenceDate
    let whole = time.rounded(.down)
    guard abs(whole) < 1e15 else { return nil }
    let fraction = time - whole
    let nanoseconds = Int64((fraction * 1e9).rounded())
    let coarse = Instant(
      seconds: Int64(whole) + (nanoseconds == 1_000_000_000 ? 1 : 0) + Self.referenceSeconds,
      attoseconds: nanoseconds == 1_000_000_000 ? 0 : nanoseconds * RFC3339.attosecondsPerNanosecond)
    if Date(coarse).timeIntervalSinceReferenceDate == time { return coarse }
    // Compute the attoseconds exactly from the fractional part, which the subtraction does not round. A double is an
    // integer times a power of two, and 2⁵³ · 10¹⁸ fits in 128 bits.
    let rest = abs(time - time.rounded(.towardZero))
    guard rest > 1e-19 else { return coarse }
    let shift = 52 - Int(rest.exponent)
    let product = UInt128(rest.significandBitPattern | 1 << 52) * UInt128(RFC3339.attosecondsPerSecond)
    let attoseconds = Int64((product + UInt128(1) << UInt128(shift - 1)) >> UInt128(shift))
    let sum = time < 0 ? RFC3339.attosecondsPerSecond - attoseconds : attoseconds
    let carry: Int64 = sum == RFC3339.attosecondsPerSecond ? 1 : 0
    return Instant(
      seconds: Int64(whole) + carry + Self.referenceSeconds,
      attoseconds: sum - carry * RFC3339.attosecondsPerSecond)
  }

  /// Creates the date nearest to an instant. If the instant has nine digits or fewer, the result may be off by one unit
  /// in the last place.
  init(_ instant: Instant) {
    let seconds = instant.seconds - Self.referenceSeconds
    let (nanoseconds, rest) = instant.attoseconds.quotientAndRemainder(
      dividingBy: RFC3339.attosecondsPerNanosecond)
    if rest == 0 {
      self.init(timeIntervalSinceReferenceDate: Double(seconds) + Double(nanoseconds) / 1e9)
    } else {
      self.init(timeIntervalSinceReferenceDate: Self.nearest(seconds, instant.attoseconds))
    }
  }

  /// Returns the double nearest to the sum of seconds and attoseconds, rounded only once.
  private static func nearest(_ seconds: Int64, _ attoseconds: Int64) -> Double {
    let unit = UInt128(RFC3339.attosecondsPerSecond)
    let sum = Int128(seconds) * Int128(unit) + Int128(attoseconds)
    // Shift so that the quotient has at least 55 bits. The remainder then only decides ties.
    let shift = max(0, sum.magnitude.leadingZeroBitCount - (128 - 115))
    let (quotient, remainder) = (sum.magnitude << UInt128(shift)).quotientAndRemainder(dividingBy: unit)
    let rounded = Double(quotient | (remainder == 0 ? 0 : 1))
    let scaled = rounded * Double(sign: .plus, exponent: -shift, significand: 1)
    return sum < 0 ? -scaled : scaled
  }
}

extension UUID {
  /// Calls `body` with the 36 characters, in upper case.
  func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 36) { text in
      withUnsafeBytes(of: uuid) { bytes in
        var position = 0
        for index in 0..<16 {
          if index == 4 || index == 6 || index == 8 || index == 10 {
            text[position] = UInt8(ascii: "-")
            position &+= 1
          }
          text[position] = Self.digit(bytes[index] >> 4)
          text[position &+ 1] = Self.digit(bytes[index] & 0xF)
          position &+= 2
        }
      }
      return body(UnsafeBufferPointer(text))
    }
  }

  @inline(__always)
  private static func digit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") &+ nibble : UInt8(ascii: "A") &+ nibble &- 10
  }

  /// Creates a UUID from 36 characters, in upper or lower case.
  init?(text: UnsafeBufferPointer<UInt8>) {
    guard text.count == 36 else { return nil }
    var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    let isValid = withUnsafeMutableBytes(of: &uuid) { bytes in
      var position = 0
      for index in 0..<16 {
        if index == 4 || index == 6 || index == 8 || index == 10 {
          guard text[position] == UInt8(ascii: "-") else { return false }
          position &+= 1
        }
        let high = Self.nibble(text[position])
        let low = Self.nibble(text[position &+ 1])
        guard high | low < 16 else { return false }
        bytes[index] = high << 4 | low
        position &+= 2
      }
      return true
    }
    guard isValid else { return nil }
    self.init(uuid: uuid)
  }

  /// The value of a hexadecimal digit, 255 for other characters.
  @inline(__always)
  private static func nibble(_ digit: UInt8) -> UInt8 {
    let decimal = digit &- UInt8(ascii: "0")
    if decimal <= 9 { return decimal }
    let letter = (digit | 0x20) &- UInt8(ascii: "a")
    return letter < 6 ? letter &+ 10 : 255
  }
}

extension Decimal {
  /// The value that a document holds for this decimal: an integer; else the double whose shortest text is this decimal;
  /// else, if it has more digits than a double keeps, its digits as a string. Nil for NaN.
  var documentValue: DocumentValue? {
    guard isFinite else { return nil }
    let text = description
    if let integer = DocumentInteger(text) { return DocumentValue(integer) }
    if let double = Double(text), double.isFinite, Decimal(string: double.description) == self {
      return .double(double)
    }
    return .string(text)
  }

  /// Creates the decimal that such a value represents. A double is read as its shortest text.
  init?(_ value: DocumentValue) {
    switch value {
    case .int(let value): self.init(value)
    case .uint(let value): self.init(value)
    case .bigInt(let value): self.init(string: value.description)
    case .double(let value) where value.isFinite: self.init(string: value.description)
    case .string(let value) where Double(value) != nil: self.init(string: value)
    default: return nil
    }
  }
}
