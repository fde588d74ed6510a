// Reading numbers from keys.

internal import StrataDocuments

extension SortKeyReader {
  /// Reads a number. An integral number with a magnitude below 2⁶⁴ is returned as an integer, whatever it was written
  /// as; any other number as a double if one holds it exactly, otherwise as a big integer.
  mutating func readNumber() throws(SortKeyError) -> DocumentValue {
    let tag = try readByte()
    switch tag {
    case SortKeyTag.nan: return .double(.nan)
    case SortKeyTag.positive, SortKeyTag.negative: break
    default: throw .malformed
    }
    let isNegative = tag == SortKeyTag.negative
    let complement: UInt8 = isNegative ? 0xFF : 0
    let magnitude = Double(bitPattern: try readBigEndian(UInt64.self, complement: complement))
    let rest = try readBytes(count: try readLength(complement: complement), complement: complement)
    guard !magnitude.isNaN, magnitude.sign == .plus, rest.isEmpty || (magnitude >= 0x1p53 && rest[0] != 0),
      rest.isEmpty || magnitude.isFinite
    else { throw .malformed }
    if rest.isEmpty {
      guard let integer = UInt64(exactly: magnitude) else {
        return .double(isNegative ? -magnitude : magnitude)
      }
      return Self.integer(magnitude: integer, isNegative: isNegative)
    }
    return DocumentValue(DocumentInteger(isNegative: isNegative, magnitude: Self.sum(magnitude, rest)))
  }

  private static func integer(magnitude: UInt64, isNegative: Bool) -> DocumentValue {
    isNegative ? DocumentValue(-Int128(magnitude)) : DocumentValue(magnitude)
  }

  /// The bytes of the sum of an integral double of at least 2⁵³ and an integer.
  private static func sum(_ magnitude: Double, _ rest: [UInt8]) -> [UInt8] {
    let shift = Int(magnitude.exponent) - 52
    let mantissa = (magnitude.significandBitPattern | 1 << 52) << UInt64(shift % 8)
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: mantissa >> UInt64(56 - 8 * $0)) }
    bytes += [UInt8](repeating: 0, count: shift / 8)
    let missing = max(0, rest.count - bytes.count) + 1
    bytes.insert(contentsOf: repeatElement(0, count: missing), at: 0)
    var carry = 0
    for distance in 1...bytes.count {
      let addend = distance <= rest.count ? Int(rest[rest.count - distance]) : 0
      let sum = Int(bytes[bytes.count - distance]) + addend + carry
      bytes[bytes.count - distance] = UInt8(truncatingIfNeeded: sum)
      carry = sum >> 8
    }
    return bytes
  }

  /// Reads a number into an integer type. Throws `outOfRange` if the type cannot hold it.
  mutating func readInteger<Integer: FixedWidthInteger>(
    _ type: Integer.Type = Integer.self
  ) throws(SortKeyError) -> Integer {
    let value: Integer?
    switch try readNumber() {
    case .int(let small): value = Integer(exactly: small)
    case .uint(let large): value = Integer(exactly: large)
    case .double(let double): value = Integer(exactly: double)
    case .bigInt(let big) where big.magnitude.count <= 16:
      let magnitude = big.magnitude.reduce(0 as UInt128) { $0 << 8 | UInt128($1) }
      value =
        if !big.isNegative {
          Integer(exactly: magnitude)
        } else if magnitude <= Int128.min.magnitude {
          Integer(exactly: Int128(truncatingIfNeeded: 0 &- magnitude))
        } else {
          nil
        }
    default: value = nil
    }
    guard let value else { throw .outOfRange }
    return value
  }

  /// Reads a number that a double holds exactly. Throws `outOfRange` for any other number.
  mutating func readDouble() throws(SortKeyError) -> Double {
    let value: Double?
    switch try readNumber() {
    case .int(let small): value = Double(exactly: small)
    case .uint(let large): value = Double(exactly: large)
    case .double(let double): value = double
    case .bigInt(let big) where big.magnitude.count <= 8:
      let magnitude = big.magnitude.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      value = Double(exactly: magnitude).map { big.isNegative ? -$0 : $0 }
    default: value = nil
    }
    guard let value else { throw .outOfRange }
    return value
  }
}
