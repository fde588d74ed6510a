// A number of a document, as a sum takes it.

package import StrataDocuments

/// A number of a document, as a sum takes it: digits times a power of ten.
///
/// Documents hold a decimal as an integer, as the double whose shortest text it is, or, if no double keeps its digits, as
/// a string. So a double is the number that its shortest text says: 0.1 is a tenth.
package enum Summand: Equatable, Sendable {
  /// Null or missing.
  case nothing
  case integer(Int64)
  case decimal(isNegative: Bool, digits: UInt64, exponent: Int)
  /// Decimal digits of a larger integer, or of a decimal: they are read again whenever they are added.
  case text(String, isInteger: Bool)
  /// A NaN or an infinity.
  case notFinite
  case notNumber
}

extension Summand {
  package init(_ value: DocumentValue) {
    switch value {
    case .null: self = .nothing
    case .int(let value): self = .integer(value)
    case .uint(let value): self = .text("\(value)", isInteger: true)
    case .bigInt(let value): self = .text(value.description, isInteger: true)
    case .double(let value): self.init(value)
    case .string(let text) where Self.isDecimal(text): self = .text(text, isInteger: false)
    default: self = .notNumber
    }
  }

  private init(_ value: Double) {
    guard value.isFinite else {
      self = .notFinite
      return
    }
    if let small = Int64(exactly: value), small.magnitude < 1 << 53 {
      self = .decimal(isNegative: small < 0, digits: small.magnitude, exponent: 0)
      return
    }
    var (digits, exponent, isFraction): (UInt64, Int, Bool) = (0, 0, false)
    var text = value.magnitude.description[...].utf8
    while let byte = text.popFirst() {
      switch byte {
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"):
        exponent += Int(Substring(text)) ?? 0
        text = Substring().utf8
      default:
        digits = digits * 10 + UInt64(byte - UInt8(ascii: "0"))
        if isFraction { exponent -= 1 }
      }
    }
    self = .decimal(isNegative: value < 0, digits: digits, exponent: exponent)
  }

  /// Whether a string is a decimal as documents hold it: with digits that no double keeps. Other strings of digits, such as
  /// names, are no numbers.
  private static func isDecimal(_ text: String) -> Bool {
    let digits = text.utf8.filter { (0x30...0x39).contains($0) }
    guard digits.count > 15, digits.count <= 40, text.utf8.count <= 200,
      text.wholeMatch(of: /-?[0-9]+\.[0-9]+/) != nil, let double = Double(text)
    else { return false }
    return double.description != text
  }
}
