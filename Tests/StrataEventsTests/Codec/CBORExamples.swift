// Every example of RFC 8949, appendix A: the encoded bytes and their diagnostic notation.

import Testing

/// One row of the table.
struct CBORExample: Sendable, CustomTestStringConvertible {
  var notation: String
  var bytes: String
  /// Whether the bytes are the core deterministic encoding.
  var isDeterministic: Bool
  /// Whether a document can hold it.
  var isDocument: Bool

  var testDescription: String { "\(bytes) → \(notation)" }

  private init(_ notation: String, _ bytes: String, deterministic: Bool = true, document: Bool = true) {
    self.notation = notation
    self.bytes = bytes
    isDeterministic = deterministic
    isDocument = document
  }

  static let all: [CBORExample] = [
    .init("0", "00"), .init("1", "01"), .init("10", "0a"), .init("23", "17"), .init("24", "1818"),
    .init("25", "1819"), .init("100", "1864"), .init("1000", "1903e8"), .init("1000000", "1a000f4240"),
    .init("1000000000000", "1b000000e8d4a51000"),
    .init("18446744073709551615", "1bffffffffffffffff"),
    .init("2(h'010000000000000000')", "c249010000000000000000"),
    .init("-18446744073709551616", "3bffffffffffffffff"),
    .init("3(h'010000000000000000')", "c349010000000000000000"),
    .init("-1", "20"), .init("-10", "29"), .init("-100", "3863"), .init("-1000", "3903e7"),
    .init("0.0", "f90000"), .init("-0.0", "f98000"), .init("1.0", "f93c00"),
    .init("1.1", "fb3ff199999999999a"), .init("1.5", "f93e00"), .init("65504.0", "f97bff"),
    .init("100000.0", "fa47c35000"), .init("3.4028234663852886e+38", "fa7f7fffff"),
    .init("1e+300", "fb7e37e43c8800759c"), .init("5.960464477539063e-08", "f90001"),
    .init("6.103515625e-05", "f90400"), .init("-4.0", "f9c400"), .init("-4.1", "fbc010666666666666"),
    .init("Infinity", "f97c00"), .init("NaN", "f97e00"), .init("-Infinity", "f9fc00"),
    .init("Infinity", "fa7f800000", deterministic: false),
    .init("NaN", "fa7fc00000", deterministic: false),
    .init("-Infinity", "faff800000", deterministic: false),
    .init("Infinity", "fb7ff0000000000000", deterministic: false),
    .init("NaN", "fb7ff8000000000000", deterministic: false),
    .init("-Infinity", "fbfff0000000000000", deterministic: false),
    .init("false", "f4"), .init("true", "f5"), .init("null", "f6"),
    .init("undefined", "f7", document: false),
    .init("simple(16)", "f0", document: false),
    .init("simple(255)", "f8ff", document: false),
    .init(
      "0(\"2013-03-21T20:04:00Z\")", "c074323031332d30332d32315432303a30343a30305a"),
    .init("1(1363896240)", "c11a514b67b0"), .init("1(1363896240.5)", "c1fb41d452d9ec200000"),
    .init("23(h'01020304')", "d74401020304"), .init("24(h'6449455446')", "d818456449455446"),
    .init(
      "32(\"http://www.example.com\")", "d82076687474703a2f2f7777772e6578616d706c652e636f6d"),
    .init("h''", "40"), .init("h'01020304'", "4401020304"), .init("\"\"", "60"), .init("\"a\"", "6161"),
    .init("\"IETF\"", "6449455446"), .init("\"\\\"\\\\\"", "62225c"), .init("\"\u{fc}\"", "62c3bc"),
    .init("\"\u{6c34}\"", "63e6b0b4"), .init("\"\u{10151}\"", "64f0908591"),
    .init("[]", "80"), .init("[1, 2, 3]", "83010203"), .init("[1, [2, 3], [4, 5]]", "8301820203820405"),
    .init(
      "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]",
      "98190102030405060708090a0b0c0d0e0f101112131415161718181819"),
    .init("{}", "a0"), .init("{1: 2, 3: 4}", "a201020304", document: false),
    .init("{\"a\": 1, \"b\": [2, 3]}", "a26161016162820203"),
    .init("[\"a\", {\"b\": \"c\"}]", "826161a161626163"),
    .init(
      "{\"a\": \"A\", \"b\": \"B\", \"c\": \"C\", \"d\": \"D\", \"e\": \"E\"}",
      "a56161614161626142616361436164614461656145"),
    .init("(_ h'0102', h'030405')", "5f42010243030405ff", deterministic: false),
    .init("(_ \"strea\", \"ming\")", "7f657374726561646d696e67ff", deterministic: false),
    .init("[_ ]", "9fff", deterministic: false),
    .init("[_ 1, [2, 3], [_ 4, 5]]", "9f018202039f0405ffff", deterministic: false),
    .init("[_ 1, [2, 3], [4, 5]]", "9f01820203820405ff", deterministic: false),
    .init("[1, [2, 3], [_ 4, 5]]", "83018202039f0405ff", deterministic: false),
    .init("[1, [_ 2, 3], [4, 5]]", "83019f0203ff820405", deterministic: false),
    .init(
      "[_ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25]",
      "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff", deterministic: false),
    .init("{_ \"a\": 1, \"b\": [_ 2, 3]}", "bf61610161629f0203ffff", deterministic: false),
    .init("[\"a\", {_ \"b\": \"c\"}]", "826161bf61626163ff", deterministic: false),
    .init("{_ \"Fun\": true, \"Amt\": -2}", "bf6346756ef563416d7421ff", deterministic: false),
  ]
}
