// Decimals that are read from texts.

import Foundation
import StrataDocuments
import Testing

@Suite struct DecimalTextTests {
  private static func decoded(_ text: String) throws -> Decimal {
    try CBORDecoder().decode([Decimal].self, from: DocumentValue.array([.string(text)]).cbor())[0]
  }

  @Test func `a text that is a decimal number as a whole decodes as that number`() throws {
    let values: [(String, Decimal)] = [
      ("1e5", 100_000), ("1E+5", 100_000), ("25e-1", Decimal(25) / 10), ("-0", 0), ("-0.0", 0), ("0", 0),
      ("+5", 5), ("00012", 12), ("1.", 1), (".5", Decimal(5) / 10), ("-.5", Decimal(-5) / 10),
    ]
    for (text, value) in values { #expect(try Self.decoded(text) == value, "\(text)") }
    let digits = "12345678901234567890123456789.123456789"
    #expect(try "\(Self.decoded(digits))" == digits)
  }

  @Test func `a text of which only a part is a number, or none, does not decode`() {
    let texts = [
      "", " ", " 1", "1 ", "1\n", "1\0", "1_000", "1,5", "0x10", "0X10", "-0x1", "0x1p4", "0x", "1e", "e5",
      "1e+",
      "1e5.5", "--1", "+", "-", ".", "1.2.3", "nan", "NaN", "inf", "-Infinity", "١", "5 apples", "1e400",
      "1e-400",
    ]
    for text in texts {
      #expect(throws: DecodingError.self, "\(text.debugDescription)") { try Self.decoded(text) }
    }
  }
}
