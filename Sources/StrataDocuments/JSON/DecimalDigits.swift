// The digits of a decimal number, to tell whether a double gives it back.

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A decimal number without its sign: 0.d₁d₂d₃… × 10ᵉ, with neither a first nor a last digit of 0. Zero has no digits.
struct DecimalDigits: Equatable {
  private(set) var digits: [UInt8] = []
  private(set) var exponent = 0

  /// No double has more digits, however exactly it is written.
  private static let countMax = 767

  /// Reads the text of a number: digits, with a point and an exponent or without. Anything else is passed over.
  init(_ text: some Sequence<UInt8>) {
    var pointAt: Int?
    var written: Int?
    var isNegative = false
    var count = 0
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let digit = byte - UInt8(ascii: "0")
        if let exponent = written {
          // Far beyond the range of doubles it no longer matters what the exponent is.
          written = min(exponent * 10 + Int(digit), 1_000_000_000)
        } else {
          count += 1
          if digit > 0 || !digits.isEmpty { digits.append(digit) }
        }
      case UInt8(ascii: "e"), UInt8(ascii: "E"): written = 0
      case UInt8(ascii: "-"): if written != nil { isNegative = true }
      case UInt8(ascii: "+"): break
      // A point, or what separates fractions in the locale of a program.
      default: pointAt = pointAt ?? count
      }
    }
    let leadingZeros = count - digits.count
    while digits.last == 0 { digits.removeLast() }
    guard !digits.isEmpty else { return }
    exponent = (pointAt ?? count) - leadingZeros + (isNegative ? -(written ?? 0) : written ?? 0)
  }

  /// Whether this is the shortest text of a double, or the double's value rounded to as many digits.
  func areKept(by value: Double) -> Bool {
    guard !digits.isEmpty else { return value == 0 }
    if self == DecimalDigits(value.magnitude.description.utf8) { return true }
    return digits.count <= Self.countMax
      && self == DecimalDigits(Self.rounded(value.magnitude, to: digits.count))
  }

  /// The text of a double with a number of digits, correctly rounded.
  private static func rounded(_ value: Double, to count: Int) -> [UInt8] {
    let size = countMax + 16
    var text = [CChar](repeating: 0, count: size)
    let length = withVaList([CInt(count - 1), value]) { vsnprintf(&text, size, "%.*e", $0) }
    return text.prefix(max(0, Int(length))).map { UInt8(bitPattern: $0) }
  }
}

/// Comparisons of the texts of numbers.
package enum DecimalText {
  /// Whether a text has the digits of a double's shortest text.
  package static func isShortest(_ text: UnsafeRawBufferPointer, of value: Double) -> Bool {
    DecimalDigits(text) == DecimalDigits(value.magnitude.description.utf8)
  }
}
