// A sum that is exact whatever is added and taken away again, and is rounded once, when it is read.

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

/// The exact sum of numbers. Integers of 64 bits are added in one register, all else in a decimal number that has every
/// digit of every double and grows for larger integers. What is taken away must have been added.
package struct ExactSum: Sendable {
  /// The numbers that are integers of 64 bits.
  private var integers: Int128 = 0
  /// Each is worth 10⁹ of the one before it; the first is worth 10 to the power of −`fraction`. Not carried, so each may be
  /// larger than that, and negative.
  private var limbs: [Int64] = []
  /// How many numbers were added to the limbs since they were carried.
  private var pending = 0
  /// How many of the numbers are no integers: doubles and decimals.
  private var fractionCount = 0
  /// NaNs and infinities, of which a sum says nothing.
  package private(set) var notFiniteCount = 0
  package private(set) var notNumberCount = 0

  /// The digits after the point: more than those of the least double, 5e-324.
  private static let fraction = 342
  private static let limb: Int64 = 1_000_000_000
  private static let pendingMax = 1 << 30

  package init() {}

  @inline(__always)
  package mutating func add(_ number: Summand) { change(number, by: 1) }

  @inline(__always)
  package mutating func remove(_ number: Summand) { change(number, by: -1) }

  @inline(__always)
  private mutating func change(_ number: Summand, by sign: Int64) {
    switch number {
    case .nothing: break
    case .integer(let value): integers += Int128(sign) * Int128(value)
    default: changeSlowly(number, by: sign)
    }
  }

  private mutating func changeSlowly(_ number: Summand, by sign: Int64) {
    switch number {
    case .nothing, .integer: break
    case .decimal(let isNegative, let digits, let exponent):
      fractionCount += Int(sign)
      change(digits, exponent, by: isNegative ? -sign : sign)
    case .text(let text, let isInteger):
      if !isInteger { fractionCount += Int(sign) }
      change(text, by: sign)
    case .notFinite: notFiniteCount += Int(sign)
    case .notNumber: notNumberCount += Int(sign)
    }
  }

  /// Adds digits · 10^exponent, times a sign.
  private mutating func change(_ digits: UInt64, _ exponent: Int, by sign: Int64) {
    let position = exponent + Self.fraction
    assert(position >= 0)
    var shift: UInt128 = 1
    for _ in 0..<position % 9 { shift *= 10 }
    var (rest, index) = (UInt128(digits) * shift, position / 9)
    while rest > 0 {
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: UInt128(Self.limb))
      while limbs.count <= index { limbs.append(0) }
      limbs[index] += sign * Int64(remainder)
      (rest, index) = (quotient, index + 1)
    }
    pending += 1
    if pending >= Self.pendingMax { carry() }
  }

  /// Adds a decimal number, in pieces of 18 digits from its end.
  private mutating func change(_ text: String, by sign: Int64) {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let parts = text.drop { $0 == "-" }.split(separator: ".")
    var digits = Array(parts.joined().utf8)
    var exponent = parts.count > 1 ? -parts[1].utf8.count : 0
    while !digits.isEmpty {
      let piece = digits.suffix(18).reduce(UInt64(0)) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
      change(piece, exponent, by: isNegative ? -sign : sign)
      digits.removeLast(min(18, digits.count))
      exponent += 18
    }
  }

  /// Makes every limb but the last one at least 0, and less than 10⁹.
  private mutating func carry() {
    pending = 0
    var index = 0
    while index < limbs.count {
      let carried = limbs[index].floorDivided(by: Self.limb)
      guard carried != 0, index + 1 < limbs.count || carried != -1 else {
        index += 1
        continue
      }
      limbs[index] -= carried * Self.limb
      if index + 1 == limbs.count { limbs.append(0) }
      limbs[index + 1] += carried
      index += 1
    }
  }

  /// The sum: an integer if all numbers are integers, otherwise the nearest double, or nil if it is too large for one.
  package var value: DocumentValue? {
    if limbs.isEmpty, fractionCount == 0 { return DocumentValue(integers) }
    var sum = self
    sum.changeSlowly(.text("\(integers)", isInteger: true), by: 1)
    let text = sum.text
    if fractionCount == 0 { return DocumentInteger(text).map { DocumentValue($0) } }
    guard let double = Double(text), double.isFinite else { return nil }
    return .double(double)
  }

  /// All digits of the limbs.
  private var text: String {
    var sum = self
    sum.carry()
    let isNegative = (sum.limbs.last ?? 0) < 0
    if isNegative {
      for index in sum.limbs.indices { sum.limbs[index].negate() }
      sum.carry()
    }
    while sum.limbs.last == 0 { sum.limbs.removeLast() }
    var text = isNegative ? "-0" : "0"
    // The last limb with digits before the point alone is that of 10 to the power of 0.
    let point = Self.fraction / 9
    for index in stride(from: max(sum.limbs.count, point) - 1, through: point, by: -1) {
      text += Self.padded(index < sum.limbs.count ? sum.limbs[index] : 0)
    }
    guard let least = sum.limbs.firstIndex(where: { $0 != 0 }), least < point else { return text }
    text += "."
    for index in stride(from: point - 1, through: least, by: -1) {
      text += Self.padded(index < sum.limbs.count ? sum.limbs[index] : 0)
    }
    return text
  }

  private static func padded(_ limb: Int64) -> String {
    let digits = String(limb)
    return String(repeating: "0", count: 9 - digits.count) + digits
  }
}

extension Int64 {
  fileprivate func floorDivided(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
