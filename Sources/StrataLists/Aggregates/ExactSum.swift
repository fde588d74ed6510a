// A sum that is exact whatever is added and taken away again, and is rounded once, when it is read.

package import StrataDocuments

/// The exact sum of numbers. Integers of 64 bits are added in one register, all else in a decimal number that has every
/// digit of every double and grows for larger integers. What is taken away must have been added.
///
/// The limbs are what Kulisch calls a long accumulator (Kulisch and Miranker, "The arithmetic of the digital computer: a new
/// approach", 1986), in which carries wait as in Neal's small superaccumulator ("Fast exact summation using small and large
/// superaccumulators", 2015); to base 10⁹, since a double is the number that its shortest text says.
package struct ExactSum: Sendable {
  /// The numbers that are integers of 64 bits.
  var integers: Int128 = 0
  /// Each is worth 10⁹ of the one before it; the first is worth 10 to the power of −`fraction`. Not carried, so each may be
  /// larger than that, and negative.
  var limbs: [Int64] = []
  /// How many numbers were added to the limbs since they were carried.
  private var pending = 0
  /// How many of the numbers are no integers: doubles and decimals.
  var fractionCount = 0
  /// NaNs and infinities, of which a sum says nothing.
  package internal(set) var notFiniteCount = 0
  package internal(set) var notNumberCount = 0

  /// The digits after the point: more than those of the least double, 5e-324.
  static let fraction = 342
  static let limb: Int64 = 1_000_000_000
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
  mutating func carry() {
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
    let text = digits.text
    if fractionCount == 0 { return DocumentInteger(text).map { DocumentValue($0) } }
    guard let double = Double(text), double.isFinite else { return nil }
    return .double(double)
  }

  /// The sum divided by a number of values, rounded once; nil if it is too large for a double.
  ///
  /// - Parameter count: at least 1.
  package func average(of count: Int) -> Double? {
    let digits = digits
    if let double = digits.quotient(by: count) { return double }
    guard let double = Double(digits.divided(by: Int64(count)).text), double.isFinite else { return nil }
    return double
  }

  /// All digits of the sum.
  private var digits: DecimalDigits {
    var sum = self
    sum.changeSlowly(.text("\(integers)", isInteger: true), by: 1)
    sum.carry()
    let isNegative = (sum.limbs.last ?? 0) < 0
    if isNegative {
      for index in sum.limbs.indices { sum.limbs[index].negate() }
      sum.carry()
    }
    return DecimalDigits(isNegative: isNegative, limbs: sum.limbs, point: Self.fraction / 9)
  }
}

/// A decimal number in pieces of nine digits, the least first.
private struct DecimalDigits {
  var isNegative: Bool
  /// Each at least 0, and less than 10⁹.
  var limbs: [Int64]
  /// How many of the limbs are after the point.
  var point: Int

  /// How many limbs a quotient gets in addition: with a last one that says whether anything is left, it is on the same
  /// side of the middle between two doubles, which has at most 768 digits, as the whole quotient.
  private static let quotientLimbCount = 90

  /// The quotient, if the number and the divisor times some power of ten are whole numbers that doubles hold: the
  /// quotient of these is rounded once.
  func quotient(by divisor: Int) -> Double? {
    let (first, end) = (point - 1, point + 2)
    guard limbs.prefix(first).allSatisfy({ $0 == 0 }), limbs.dropFirst(end).allSatisfy({ $0 == 0 }) else {
      return nil
    }
    var (number, scale): (Int128, Int128) = (0, Int128(ExactSum.limb))
    for index in (first..<end).reversed() {
      number = number * Int128(ExactSum.limb) + Int128(index < limbs.count ? limbs[index] : 0)
    }
    while scale > 1, number % 10 == 0 { (number, scale) = (number / 10, scale / 10) }
    let largest: Int128 = 1 << 53
    guard number <= largest, Int128(divisor) * scale <= largest else { return nil }
    let quotient = Double(number) / Double(Int128(divisor) * scale)
    return isNegative ? -quotient : quotient
  }

  func divided(by divisor: Int64) -> DecimalDigits {
    var quotient = Array(repeating: Int64(0), count: Self.quotientLimbCount) + limbs
    var rest: Int128 = 0
    for index in quotient.indices.reversed() {
      let (digits, left) = (rest * Int128(ExactSum.limb) + Int128(quotient[index]))
        .quotientAndRemainder(dividingBy: Int128(divisor))
      (quotient[index], rest) = (Int64(digits), left)
    }
    return DecimalDigits(
      isNegative: isNegative, limbs: [rest == 0 ? 0 : 1] + quotient, point: point + Self.quotientLimbCount + 1
    )
  }

  var text: String {
    var limbs = limbs
    while limbs.last == 0 { limbs.removeLast() }
    var text = isNegative ? "-0" : "0"
    for index in stride(from: max(limbs.count, point) - 1, through: point, by: -1) {
      text += Self.padded(limbs[index])
    }
    guard let least = limbs.firstIndex(where: { $0 != 0 }), least < point else { return text }
    text += "."
    for index in stride(from: point - 1, through: least, by: -1) {
      text += Self.padded(index < limbs.count ? limbs[index] : 0)
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
