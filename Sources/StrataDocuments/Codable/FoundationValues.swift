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
  /// in the last place. One in a leap second becomes the last moment before the next second.
  init(_ instant: Instant) {
    let instant = instant.onClock
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
  /// The 36 characters, in upper case, without the detour of Foundation's own through C's formatted output.
  package var text: String {
    String(unsafeUninitializedCapacity: Self.textLength) { text in
      writeText(to: text)
      return Self.textLength
    }
  }

  /// Calls `body` with the 36 characters, in upper case.
  package func withText<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.textLength) { text in
      writeText(to: text)
      return body(UnsafeBufferPointer(text))
    }
  }

  private static var textLength: Int { 36 }

  private func writeText(to text: UnsafeMutableBufferPointer<UInt8>) {
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
  }

  @inline(__always)
  private static func digit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? UInt8(ascii: "0") &+ nibble : UInt8(ascii: "A") &+ nibble &- 10
  }

  /// Creates a UUID from its text in upper or lower case; nil for anything else.
  package init?(text: String) {
    var text = text
    guard let value = text.withUTF8({ UUID(text: $0) }) else { return nil }
    self = value
  }

  /// Creates a UUID from 36 characters, in upper or lower case.
  init?(text: UnsafeBufferPointer<UInt8>) {
    guard text.count == Self.textLength, let base = text.baseAddress else { return nil }
    let bytes = UnsafeRawPointer(base)
    // The hyphens are at 8, 13, 18 and 23.
    guard bytes.load(fromByteOffset: 8, as: UInt8.self) == UInt8(ascii: "-"),
      bytes.load(fromByteOffset: 13, as: UInt8.self) == UInt8(ascii: "-"),
      bytes.load(fromByteOffset: 18, as: UInt8.self) == UInt8(ascii: "-"),
      bytes.load(fromByteOffset: 23, as: UInt8.self) == UInt8(ascii: "-"),
      let first = Self.value(of: bytes, 0, 4), let second = Self.value(of: bytes, 9, 14),
      let third = Self.value(of: bytes, 19, 24), let fourth = Self.value(of: bytes, 28, 32)
    else { return nil }
    let words = (UInt64(first) << 32 | UInt64(second), UInt64(third) << 32 | UInt64(fourth))
    self.init(uuid: unsafeBitCast((words.0.bigEndian, words.1.bigEndian), to: uuid_t.self))
  }

  /// The value of twice four hexadecimal digits; nil if there is any other character. All eight are looked at in one
  /// word, in which the first is the lowest byte.
  @inline(__always)
  private static func value(of text: UnsafeRawPointer, _ first: Int, _ second: Int) -> UInt32? {
    let low = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: first, as: UInt32.self))
    let high = UInt32(littleEndian: text.loadUnaligned(fromByteOffset: second, as: UInt32.self))
    let digits = UInt64(low) | UInt64(high) << 32
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops = ones << 7
    // Bit 7 of each byte: whether it is at least, or above, a character. No byte carries into the next, since none has
    // bit 7 itself.
    guard digits & tops == 0 else { return nil }
    let lower = digits | ones << 5
    let isDigit = (digits &+ ones &* (128 - 0x30)) & ~(digits &+ ones &* (128 - 0x3A))
    let isLetter = (lower &+ ones &* (128 - 0x61)) & ~(lower &+ ones &* (128 - 0x67))
    guard (isDigit | isLetter) & tops == tops else { return nil }
    let nibbles = (digits & (ones &* 0x0F)) &+ ((isLetter & tops) >> 7) &* 9
    // The nibbles of two bytes make one, those of four two, and so on; the first is the highest.
    let bytes = (nibbles << 4 | nibbles >> 8) & 0x00FF_00FF_00FF_00FF
    let pairs = (bytes << 8 | bytes >> 16) & 0x0000_FFFF_0000_FFFF
    return UInt32(truncatingIfNeeded: pairs << 16 | pairs >> 32)
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
    case .string(let value) where Self.isWritten(as: value): self.init(string: value)
    default: return nil
    }
  }

  /// Whether a whole text is a decimal number. `init(string:)` takes the longest prefix that is one, so that it reads
  /// "0x10" as 0; a double has hexadecimal texts too.
  private static func isWritten(as text: String) -> Bool {
    let isDecimal = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"),
        UInt8(ascii: "e"), UInt8(ascii: "E"):
        true
      default: false
      }
    }
    return isDecimal && Double(text) != nil
  }
}
