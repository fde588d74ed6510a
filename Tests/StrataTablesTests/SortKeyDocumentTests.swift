// Sort keys of document values, compared with a naive order that uses exact integers.

internal import StrataDocuments
internal import StrataEvents
internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct SortKeyDocumentTests {
  @Test func `values of every class are in one exact order`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<8_000 {
      let a = random.scalar()
      let b = random.chance(40) ? random.neighbour(of: a) : random.scalar()
      let expected = DocumentOrder.compare(a, b)
      let (keyA, keyB) = (try key(document: a), try key(document: b))
      try #require(order(keyA, keyB) == expected, "\(a) \(b)")
      try #require(!isProperPrefix(keyA, keyB) && !isProperPrefix(keyB, keyA), "\(a) \(b)")
      let (downA, downB) = (try key(document: a, .descending), try key(document: b, .descending))
      let down = a.isNull || b.isNull ? expected : -expected
      try #require(order(downA, downB) == down, "\(a) \(b)")
      let last: SortKeyOptions = [.descending, .nilsLast]
      try #require(
        order(try key(document: a, last), try key(document: b, last)) == -expected, "\(a) \(b)")
    }
  }

  @Test func `decoding gives the value back, integral numbers as integers`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<5_000 {
      let value = random.scalar()
      for options: SortKeyOptions in [[], .descending, .nilsLast] {
        let bytes = try key(document: value, options)
        let back = try decodedDocument(bytes, options)
        try #require(DocumentOrder.compare(back, value) == 0, "\(value) \(back)")
        try #require(try key(document: back, options) == bytes)
        switch value {
        case .double(let double) where double == double.rounded() && double.magnitude < 0x1p64:
          try #require(DocumentValue(Int128(double)) == back)
        case .double(let double): try #require(back == .double(double))
        case .bigInt(let big):
          if case .double(let double) = back {
            try #require(double.magnitude >= 0x1p64)
          } else {
            try #require(back == .bigInt(big))
          }
        default: try #require(back == value)
        }
      }
    }
  }

  @Test func `numbers that are equal are one key, and neighbours above 2^53 are not`() throws {
    #expect(try key(document: 1) == key(document: .double(1)))
    #expect(try key(document: 1) == key(1))
    #expect(try key(document: .double(-0.0)) == key(document: 0))
    let middle = Int64(1) << 53
    #expect(try key(document: .int(middle)) == key(document: .double(0x1p53)))
    #expect(try order(key(document: .int(middle + 1)), key(document: .double(0x1p53))) == 1)
    #expect(try order(key(document: .int(middle + 1)), key(document: .double(0x1p53 + 2))) == -1)
    #expect(try order(key(document: .int(-middle - 1)), key(document: .double(-0x1p53))) == -1)
    let power = DocumentInteger(isNegative: false, magnitude: [1] + [UInt8](repeating: 0, count: 8))
    #expect(try key(document: .bigInt(power)) == key(document: .double(0x1p64)))
    #expect(try decodedDocument(key(document: .bigInt(power))) == .double(0x1p64))
    #expect(try order(key(document: .uint(.max)), key(document: .double(0x1p64))) == -1)
    let huge = DocumentInteger(isNegative: true, magnitude: [UInt8](repeating: 0xFF, count: 4096))
    #expect(try order(key(document: .bigInt(huge)), key(document: .double(-.infinity))) == 1)
    #expect(try decodedDocument(key(document: .bigInt(huge))) == .bigInt(huge))
  }

  @Test func `a missing field, null and undefined are one key`() throws {
    #expect(try key(document: nil) == key(document: .null))
    #expect(try key(cbor: [0xF7]) == key(document: .null))
    #expect(try key(document: nil, .nilsLast) == key(Int?.none, .nilsLast))
  }

  @Test func `what is no key says what it is, and leaves the writer as it was`() throws {
    let refused: [(DocumentValue, SortKeyError)] = [
      (["a"], .notAKey("an array")), (["a": 1], .notAKey("a map")),
      (.tagged(37, .bytes([])), .notAKey("tag 37")),
    ]
    for (value, error) in refused {
      #expect(throws: error) { try key(document: value) }
      #expect(error.description.contains("cannot be a sort or section key"))
    }
    var writer = SortKeyWriter()
    writer.append("before")
    #expect(throws: SortKeyError.notAKey("an array")) {
      try [0x80 as UInt8].withUnsafeBytes { try writer.append(documentValue: $0, .descending) }
    }
    writer.append("after")
    #expect(writer.bytes == key("before") + key("after"))
    #expect(throws: SortKeyError.notAKey("simple value 5")) { try key(cbor: [0xE5]) }
    #expect(throws: SortKeyError.damagedValue) { try key(cbor: [0x62, 0x61]) }
    #expect(throws: SortKeyError.damagedValue) { try key(cbor: [0x61, 0xFF]) }
    #expect(throws: SortKeyError.damagedValue) { try key(cbor: []) }
    #expect(throws: SortKeyError.integerTooLong) {
      try key(cbor: [0xC2, 0x59, 0x10, 0x01] + [UInt8](repeating: 1, count: 4097))
    }
  }

  @Test func `encodings that are not deterministic give the same keys`() throws {
    #expect(try key(cbor: [0x7F, 0x61, 0x61, 0x61, 0x62, 0xFF]) == key("ab"))
    #expect(try key(cbor: [0x5F, 0x41, 0x00, 0xFF]) == key([0 as UInt8]))
    #expect(try key(cbor: [0xC2, 0x5F, 0x41, 0x07, 0xFF]) == key(7))
    #expect(try key(cbor: [0xC3, 0x41, 0x07]) == key(-8))
    #expect(try key(cbor: [0x1B, 0, 0, 0, 0, 0, 0, 0, 1]) == key(1))
    #expect(try key(cbor: [0xF9, 0x3C, 0x00]) == key(1))
    #expect(try key(cbor: [0xFA, 0x3F, 0x80, 0, 0]) == key(1))
    #expect(try key(cbor: [0x3B] + [UInt8](repeating: 0xFF, count: 8)) == key(-Int128(UInt64.max) - 1))
  }

  @Test func `damaged items are errors or keys`() {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<10_000 {
      var bytes = random.scalar().cbor()
      bytes[Int.random(in: bytes.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
      if random.chance(50) { bytes.removeLast(Int.random(in: 0...min(3, bytes.count), using: &random)) }
      guard let key = try? key(cbor: bytes, .time) else { continue }
      #expect(throws: Never.self) { try decodedDocument(key, .time) }
    }
  }

  @Test func `times compare as instants, between numbers and other strings`() throws {
    func text(_ value: String) throws -> [UInt8] { try key(document: .string(value), .time) }
    #expect(try text("2026-11-20T18:00:00+01:00") == text("2026-11-20T17:00:00Z"))
    #expect(try text("2026-11-20T18:00+01:00") == text("2026-11-20T17:00:00Z"))
    let ascending = [
      "0000-01-01T00:00:00Z", "1969-12-31T23:59:59.999999999999999999Z", "1970-01-01T00:00:00Z",
      "2026-11-20T18:00:00+01:00", "2026-11-20T17:00:00.000000000000000001Z",
      "2026-11-20T17:00:00.000000001Z",
      "2026-11-20T17:00:00.1Z", "2026-11-20T12:30:00-05:00", "9999-12-31T23:59:59Z", "", "2026-11-20",
      "later",
    ]
    let keys = try ascending.map(text)
    for (a, b) in zip(keys, keys.dropFirst()) { #expect(a.lexicographicallyPrecedes(b)) }
    for (a, b) in zip(keys, keys.dropFirst()) { #expect(!isProperPrefix(a, b) && !isProperPrefix(b, a)) }
    #expect(try key(document: .double(.nan), .time).lexicographicallyPrecedes(keys[0]))
    #expect(keys[keys.count - 1].lexicographicallyPrecedes(try key(document: .bytes([]), .time)))
    let read = try decodedDocument(text("2026-11-20T18:00:00.5+01:00"), .time)
    #expect(read == "2026-11-20T17:00:00.500000000Z")
    #expect(try decodedDocument(keys[4], .time) == "2026-11-20T17:00:00.000000000000000001Z")
    #expect(try decodedDocument(text("later"), .time) == "later")
  }

  @Test func `a leap second is between two seconds, and only where a day ends in UTC`()
    throws
  {
    func text(_ value: String) throws -> [UInt8] { try key(document: .string(value), .time) }
    let ascending = [
      "2016-12-31T23:59:59Z", "2016-12-31T23:59:59.999999999999999999Z", "2016-12-31T23:59:60Z",
      "2017-01-01T01:59:60.000000000000000001+02:00", "2016-12-31T23:59:60.5Z",
      "2016-12-31T18:29:60.999999999999999999-05:30", "2017-01-01T00:00:00Z",
    ]
    let keys = try ascending.map(text)
    for (a, b) in zip(keys, keys.dropFirst()) { #expect(a.lexicographicallyPrecedes(b)) }
    for (a, b) in zip(keys, keys.dropFirst()) { #expect(!isProperPrefix(a, b) && !isProperPrefix(b, a)) }
    #expect(try decodedDocument(keys[2], .time) == "2016-12-31T23:59:60.000000000Z")
    #expect(try decodedDocument(keys[3], .time) == "2016-12-31T23:59:60.000000000000000001Z")
    for other in [
      "2016-12-31T23:58:60Z", "2016-12-31T22:59:60Z", "2016-12-31T23:59:60+01:00", "2016-12-31T23:59:61Z",
    ] {
      #expect(try text(other) == key(document: .string(other)), "\(other) is no time")
    }
    // A second that no clock counts is none in a key either, at another time of day.
    var forged = keys[4]
    forged[5] ^= 1
    #expect(throws: SortKeyError.malformed) { try decodedDocument(forged, .time) }
  }

  @Test func `numeric strings compare runs of digits by value, however long`() throws {
    let long = String(repeating: "9", count: 600)
    let ascending = [
      "", "a", "a/", "a0", "a1", "a2", "a9b", "a10", "a10b2", "a10b10", "a011", "a249", "a" + long,
      "a1" + long,
      "a:", "b1",
    ]
    let keys = ascending.map { key($0, .numeric) }
    for (a, b) in zip(keys, keys.dropFirst()) { #expect(a.lexicographicallyPrecedes(b)) }
    for (a, b) in zip(keys, keys.dropFirst()) { #expect(!isProperPrefix(a, b)) }
    #expect(key("a007", .numeric) == key("a7", .numeric))
    #expect(key("000", .numeric) == key("0", .numeric))
    #expect(key("x\u{0}1", .numeric) != key("x1", .numeric))
    #expect(throws: SortKeyError.notReversible) { try decoded(key("a7", .numeric), as: String.self) }
    #expect(try key(document: "a7", .numeric) == key("a7", .numeric))
  }

  @Test func `strings that differ in case alone are one key where case is ignored`() throws {
    let options: SortKeyOptions = .caseInsensitive
    #expect(key("Straße Ä", options) == key("sTRAßE ä", options))
    #expect(key("\u{212A}elvin", options) == key("KELVIN", options))
    #expect(key("a", options).lexicographicallyPrecedes(key("B", options)))
    #expect(key("A10", [.caseInsensitive, .numeric]) == key("a010", [.caseInsensitive, .numeric]))
    #expect(
      key("a9", [.caseInsensitive, .numeric]).lexicographicallyPrecedes(
        key("A10", [.caseInsensitive, .numeric])))
    #expect(key("AB", [.caseInsensitive, .descending]) == key("ab", [.caseInsensitive, .descending]))
  }
}
