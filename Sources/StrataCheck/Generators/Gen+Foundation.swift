// Dates, decimals, bytes and identifiers.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension Gen where Value == Date {
  /// Dates, to the microsecond, and those where calendars and formats go wrong: before 1970, at the ends of years and
  /// days, beside changes of clocks, at the end of 32 bits, and in the year 9999.
  ///
  /// They shrink to 1970, and to whole seconds.
  public static var date: Gen {
    let breaking = Gen<Int>.element(of: [
      -1, 951_782_400, 1_709_164_800, 1_735_689_599, 1_711_846_800, 1_729_990_800, 2_147_483_647,
      2_147_483_648,
      -2_208_988_800, -62_135_596_800, 253_402_300_799,
    ])
    return Gen { (choices) throws(Rejection) in
      let seconds =
        try choices.index(weights: [4, 1]) == 0
        ? try choices.integer(in: -4_000_000_000...4_102_444_800) : try choices.draw(breaking)
      let micros = try choices.index(weights: [1, 1]) == 0 ? 0 : try choices.integer(in: 0...999_999)
      return Date(timeIntervalSince1970: Double(seconds) + Double(micros) / 1_000_000)
    }
  }
}

extension Gen where Value == Decimal {
  /// Decimal numbers of up to 18 digits, with up to 12 of them after the point. They shrink to integers.
  public static var decimal: Gen {
    Gen { (choices) throws(Rejection) in
      let digits = try choices.integer(
        in: -999_999_999_999_999_999...999_999_999_999_999_999 as ClosedRange<Int64>)
      let places = try choices.integer(in: 0...12)
      return Decimal(
        sign: digits < 0 ? .minus : .plus, exponent: -places, significand: Decimal(digits.magnitude))
    }
  }
}

extension Gen where Value == UUID {
  /// Identifiers; the simplest has zeros only.
  public static var uuid: Gen {
    Gen { (choices) throws(Rejection) in
      let high = try choices.integer(in: 0...UInt64.max)
      let low = try choices.integer(in: 0...UInt64.max)
      func byte(_ word: UInt64, _ place: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: word >> (8 * (7 - place)))
      }
      return UUID(
        uuid: (
          byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
          byte(high, 6),
          byte(high, 7), byte(low, 0), byte(low, 1), byte(low, 2), byte(low, 3), byte(low, 4), byte(low, 5),
          byte(low, 6), byte(low, 7)
        ))
    }
  }
}

extension Gen where Value == Data {
  /// Bytes.
  public static func data(count: ClosedRange<Int>? = nil) -> Gen {
    Gen<UInt8>.integer().array(count: count).map { Data($0) }
  }
}

extension Date: SwiftSourceConvertible {
  public var swiftSource: String { "Date(timeIntervalSince1970: \(timeIntervalSince1970))" }
}

extension Decimal: SwiftSourceConvertible {
  public var swiftSource: String { "Decimal(string: \"\(self)\")!" }
}

extension UUID: SwiftSourceConvertible {
  public var swiftSource: String { "UUID(uuidString: \"\(uuidString)\")!" }
}

extension Data: SwiftSourceConvertible {
  public var swiftSource: String { "Data(\(Array(self)))" }
}
