// Random distances and numbers, with those that break things more often than chance would have them.

extension Choice {
  /// Returns a distance of this choice's range.
  ///
  /// Of eight, one is an end of the range or next to it, and one repeats a number of the same range that was drawn
  /// before, or is next to it. Of ranges up to 1,024 the others are uniform; in larger ones small numbers are more
  /// frequent, each number of bits as often as every other.
  func random(_ random: inout ChoiceRandom, after record: [Choice]) -> Choice {
    let dice = random.next()
    switch dice & 7 {
    case 0:
      let isNegative = down > 0 && (up == 0 || dice & 8 != 0)
      let limit = isNegative ? down : up
      let step = (dice >> 4) & 3
      return at(step < 3 ? limit - Swift.min(limit, step) : Swift.min(limit, 1), isNegative: isNegative)
        ?? self
    case 1 where !record.isEmpty:
      let earlier = record[Int(random.next(through: UInt64(record.count - 1)))]
      guard earlier.kind == .integer, earlier.up == up, earlier.down == down else { break }
      let near = (dice >> 4) & 3
      let magnitude =
        near == 0
        ? earlier.magnitude &+ 1
        : near == 1 ? earlier.magnitude - Swift.min(1, earlier.magnitude) : earlier.magnitude
      return at(magnitude, isNegative: earlier.isNegative) ?? earlier
    default: break
    }
    let (width, isOver) = up.addingReportingOverflow(down)
    if !isOver, width <= 1_024 || (width <= 1 << 16 && dice & 0x100 != 0) {
      let place = random.next(through: width)
      return place > up ? at(place - up, isNegative: true) ?? self : at(place, isNegative: false) ?? self
    }
    let isNegative = down > 0 && (up == 0 || dice & 8 != 0)
    let limit = isNegative ? down : up
    let bits = random.next(through: UInt64(UInt64.bitWidth - limit.leadingZeroBitCount))
    let mask: UInt64 = bits == 64 ? .max : 1 << bits - 1
    let magnitude = random.next() & mask
    return at(magnitude > limit ? magnitude % (limit &+ 1) : magnitude, isNegative: isNegative) ?? self
  }
}

extension Double {
  /// Numbers where arithmetic and comparison go wrong.
  static let breakingNumbers: [Double] = [
    0, 1, 0.5, 1.1, 1.5, 1 / 3, 10_000_000, 0x1p53, 0x1p53 + 2, 0x1p63, 1e-5, 0.1, .leastNonzeroMagnitude,
    .leastNormalMagnitude, .ulpOfOne, 1 + .ulpOfOne, .greatestFiniteMagnitude, .infinity, .nan,
  ]

  static func breaking(_ random: inout ChoiceRandom) -> Double {
    let dice = random.next()
    let sign: FloatingPointSign = dice & 1 == 0 ? .plus : .minus
    let magnitude: Double
    switch (dice >> 1) & 7 {
    case 0: magnitude = breakingNumbers[Int(random.next(through: UInt64(breakingNumbers.count - 1)))]
    case 1, 2: magnitude = Double(random.next(through: 1_000))
    case 3, 4: magnitude = Double(random.next(through: 1_000_000)) / 100
    default: magnitude = Double(bitPattern: random.next()).magnitude
    }
    return sign == .minus ? -magnitude : magnitude
  }
}
