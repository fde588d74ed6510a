// Codable through CBOR: the shapes that the standard library promises, and what each type looks like.

import Foundation
import StrataDocuments
import StrataEvents
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#endif

/// A value after encoding and decoding.
private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
  let bytes = try CBOREncoder().encode(value)
  #expect(CBORReader.isDeterministic(bytes))
  return try CBORDecoder().decode(Value.self, from: bytes)
}

/// What a value looks like in a document, as JSON.
private func json(_ value: some Encodable) throws -> String {
  try DocumentValue(encoding: value).json()
}

private struct Incident: Codable, Equatable {
  enum Impact: String, Codable { case high, low }
  struct Place: Codable, Equatable { var city: String, floor: Int? }
  var id: String
  var impact: Impact
  var hours: Double
  var isOpen: Bool
  var owner: String?
  var place: Place?
  var tags: [String]
  var counts: [String: [Int]]
  var byYear: [Int: UInt8]
  var history: [Place?]
}

private enum Command: Codable, Equatable {
  case close
  case assign(to: String, priority: Int)
  case note(String)
}

private class Layer: Codable {
  var depth = 0
  init(depth: Int) { self.depth = depth }
}

private final class Seam: Layer {
  var mineral = ""
  enum CodingKeys: CodingKey { case mineral }
  init(depth: Int, mineral: String) {
    self.mineral = mineral
    super.init(depth: depth)
  }
  required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    mineral = try container.decode(String.self, forKey: .mineral)
    try super.init(from: container.superDecoder())
  }
  override func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try super.encode(to: container.superEncoder())
    try container.encode(mineral, forKey: .mineral)
  }
}

/// Two layers whose classes are known only as values.
private struct Core: Decodable {
  var layers: [Layer]
  init(from decoder: any Decoder) throws {
    let kinds: [Layer.Type] = [Seam.self, Layer.self]
    var container = try decoder.unkeyedContainer()
    layers = try kinds.map { try container.decode($0) }
  }
}

/// A layer in the place of a value, whose class is known only as a value.
private struct Sample: Decodable {
  var layer: Layer
  init(from decoder: any Decoder) throws {
    let kind: Layer.Type = Seam.self
    layer = try decoder.singleValueContainer().decode(kind)
  }
}

/// Fills containers side by side and out of order, and looks at paths on the way.
private struct Interleaved: Codable, Equatable {
  enum Keys: CodingKey { case list, nested, last }
  var numbers = [1, 2]
  var paths: [String] = []

  init() {}

  func encode(to encoder: any Encoder) throws {
    var outer = encoder.container(keyedBy: Keys.self)
    var list = outer.nestedUnkeyedContainer(forKey: .list)
    var nested = outer.nestedContainer(keyedBy: Keys.self, forKey: .nested)
    try list.encode(numbers[0])
    try nested.encodeNil(forKey: .last)
    try outer.encode(true, forKey: .last)
    var deep = list.nestedContainer(keyedBy: Keys.self)
    try nested.encode("x", forKey: .list)
    try deep.encode(deep.codingPath.map(\.stringValue), forKey: .nested)
    try list.encode(numbers[1])
    #expect(list.count == 3)
  }

  init(from decoder: any Decoder) throws {
    let outer = try decoder.container(keyedBy: Keys.self)
    #expect(outer.allKeys.count == 3)
    var list = try outer.nestedUnkeyedContainer(forKey: .list)
    numbers[0] = try list.decode(Int.self)
    let deep = try list.nestedContainer(keyedBy: Keys.self)
    paths = try deep.decode([String].self, forKey: .nested)
    #expect(deep.codingPath.map(\.stringValue) == paths)
    #expect(try !list.decodeNil())
    numbers[1] = try list.decode(Int.self)
    #expect(list.isAtEnd && list.currentIndex == 3)
    #expect(throws: DecodingError.self) { try list.decode(Int.self) }
    let nested = try outer.nestedContainer(keyedBy: Keys.self, forKey: .nested)
    #expect(try nested.decodeNil(forKey: .last))
    #expect(try outer.decode(Bool.self, forKey: .last))
  }
}

private struct Wide: Codable, Equatable {
  var a = Int8.min, b = Int16.min, c = Int32.min, d = Int64.min, e = Int128.min
  var f = UInt8.max, g = UInt16.max, h = UInt32.max, i = UInt64.max, j = UInt128.max
  var k = Float(0.1), l = -0.0, m = UInt.max, n = Int.min
}

private final class Endless: Encodable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(self)
  }
}

private struct Nothing: Codable, Equatable { func encode(to encoder: any Encoder) {} }
private struct Inner: Codable { var count: Int }
private struct Outer: Codable { var rows: [[String: Inner]] }

/// Writes every key twice.
private struct Repeating: Encodable {
  var count: Int
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: DictionaryKey.self)
    for round in 1...2 {
      for index in 0..<count {
        try container.encode(index * round, forKey: DictionaryKey(stringValue: "k\(index)"))
      }
    }
  }
}

private struct DictionaryKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

@Suite("Codable")
struct CodableTests {
  @Test
  func `A value is what it was, and its document is what JSON would show`() throws {
    let incident = Incident(
      id: "1-364285768", impact: .high, hours: 2, isOpen: true, owner: nil,
      place: .init(city: "Köln", floor: 3),
      tags: ["a", ""], counts: ["x": [1, -1], "": []], byYear: [2026: 255, -1: 0],
      history: [nil, .init(city: "", floor: nil)])
    #expect(try roundTrip(incident) == incident)
    let text = """
      {"byYear":{"-1":0,"2026":255},"counts":{"":[],"x":[1,-1]},"history":[null,{"city":""}],"hours":2.0,\
      "id":"1-364285768","impact":"high","isOpen":true,"place":{"city":"Köln","floor":3},"tags":["a",""]}
      """
    #expect(try json(incident) == text)
    #expect(try DocumentValue(json: text).decode(Incident.self) == incident)
  }

  @Test
  func `Enums with values are objects under the name of their case`() throws {
    let commands: [Command] = [.close, .assign(to: "me", priority: 1), .note("x")]
    #expect(try roundTrip(commands) == commands)
    #expect(
      try json(commands)
        == #"[{"close":{}},{"assign":{"priority":1,"to":"me"}},{"note":{"_0":"x"}}]"#)
  }

  @Test
  func `A subclass keeps its superclass under super`() throws {
    let seam = try roundTrip(Seam(depth: 40, mineral: "gypsum"))
    #expect(seam.depth == 40 && seam.mineral == "gypsum")
    #expect(try json(seam) == #"{"mineral":"gypsum","super":{"depth":40}}"#)
  }

  @Test
  func `A subclass that is given as a value of its superclass's metatype is what is decoded`() throws {
    func isGypsum(_ layer: Layer?) -> Bool { layer?.depth == 40 && (layer as? Seam)?.mineral == "gypsum" }
    let seam = try DocumentValue(encoding: Seam(depth: 40, mineral: "gypsum"))
    let kind: Layer.Type = Seam.self
    #expect(isGypsum(try seam.decode(kind)))
    #expect(isGypsum(try seam.decode(Sample.self).layer))
    #expect(isGypsum(try DocumentValue.object(["a": seam]).decode([String: Sample].self)["a"]?.layer))
    let core = try DocumentValue.array([seam, ["depth": 7]]).decode(Core.self)
    #expect(isGypsum(core.layers[0]))
    #expect(core.layers[1].depth == 7 && !(core.layers[1] is Seam))
  }

  @Test
  func `Containers may be filled side by side and in any order`() throws {
    let value = try roundTrip(Interleaved())
    #expect(value.paths == ["list", "Index 1"])
    #expect(
      try json(value)
        == #"{"last":true,"list":[1,{"nested":["list","Index 1"]},2],"nested":{"last":null,"list":"x"}}"#)
  }

  @Test(arguments: [1, 3, 100])
  func `A key that is written twice holds what was written last`(count: Int) throws {
    let expected = DocumentObject(
      uniqueKeysWithValues: (0..<count).map { ("k\($0)", DocumentValue($0 * 2)) })
    let bytes = try CBOREncoder().encode(Repeating(count: count))
    #expect(try DocumentValue(cbor: bytes) == .object(expected))
    #expect(CBORReader.isDeterministic(bytes))
  }

  @Test
  func `Numbers of every width keep their values, also at the ends of their ranges`() throws {
    #expect(try roundTrip(Wide()) == Wide())
    #expect(try roundTrip([Int128.max, 0, -1]) == [Int128.max, 0, -1])
    #expect(try roundTrip([Double.nan])[0].isNaN)
  }

  @Test
  func `Scalars, arrays, dictionaries and optionals can be a whole document`() throws {
    #expect(try roundTrip(7) == 7)
    #expect(try roundTrip("x") == "x")
    #expect(try roundTrip([Int]()) == [])
    #expect(try roundTrip(Int?.none) == nil)
    #expect(try roundTrip([true: 1]) == [true: 1])
    #expect(try roundTrip(Date(timeIntervalSince1970: 0)) == Date(timeIntervalSince1970: 0))
    let large = Dictionary(uniqueKeysWithValues: (0..<3000).map { ("k\($0 * 7919 % 10_007)", $0) })
    #expect(try roundTrip(large) == large)
  }

  @Test
  func `A value that encodes nothing is an empty object inside another, and an error by itself`() throws {
    #expect(try json(["a": Nothing()]) == #"{"a":{}}"#)
    #expect(throws: EncodingError.self) { try CBOREncoder().encode(Nothing()) }
  }

  @Test
  func `Foundation's values are what a filter can compare`() throws {
    let id = try #require(UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"))
    #expect(try json([id]) == #"["E621E1F8-C36C-495A-93FC-0C247A3E6E5F"]"#)
    #expect(try roundTrip([id]) == [id])
    #expect(try json([Data([1, 2, 3])]) == #"[{"b64":"AQID"}]"#)
    #expect(try roundTrip([Data([1, 2, 3])]) == [Data([1, 2, 3])])
    let url = try #require(URL(string: "https://strata.example/a?b=c"))
    #expect(try json([url]) == #"["https://strata.example/a?b=c"]"#)
    #expect(try roundTrip([url]) == [url])
    let decimals = [
      "12", "-0.1", "1234567890.12", "123456789012345678901234567890", "1.23456789012345678901",
    ]
    .compactMap { Decimal(string: $0) }
    #expect(
      try json(decimals)
        == #"[12,-0.1,1234567890.12,123456789012345678901234567890,"1.23456789012345678901"]"#)
    #expect(try roundTrip(decimals) == decimals)
    let document: DocumentValue = ["a": [1, .bytes([2])]]
    #expect(try DocumentValue(encoding: ["x": document]) == ["x": document])
    #expect(
      try DocumentValue(encoding: ["x": document]).decode([String: DocumentValue].self) == ["x": document])
  }

  @Test
  func `A document inside a value passes through other coders as far as they can tell`() throws {
    let document: DocumentValue = [
      "a": [1, 1.5, "x", true, .null, .uint(.max), .bytes([1]), .tagged(9, "y")]
    ]
    let json = try JSONEncoder().encode(["x": document])
    let read = try JSONDecoder().decode([String: DocumentValue].self, from: json)
    #expect(
      read["x"]?.json()
        == #"{"a":[1,1.5,"x",true,null,18446744073709551615,{"b64":"AQ=="},{"tag":9,"value":"y"}]}"#)
  }

  @Test(
    arguments: [
      (0, "2001-01-01T00:00:00.000000000Z"), (-978_307_200, "1970-01-01T00:00:00.000000000Z"),
      (-978_307_200.25, "1969-12-31T23:59:59.750000000Z"), (0.5, "2001-01-01T00:00:00.500000000Z"),
      (817_345_678.5, "2026-11-26T00:27:58.500000000Z"), (-1e-20, "2001-01-01T00:00:00.000000000Z"),
      (0.1, "2001-01-01T00:00:00.100000000Z"), (1.0 / 3.0, "2001-01-01T00:00:00.333333333333333315Z"),
      (-63_113_904_000, "0001-01-01T00:00:00.000000000Z"),
      (252_423_993_599, "9999-12-31T23:59:59.000000000Z"),
    ] as [(Double, String)])
  func `A date is its instant in UTC with nine digits`(seconds: Double, text: String) throws {
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    #expect(try DocumentValue(encoding: date) == .string(text))
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `Every date comes back exactly`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<500 {
      let scale = Double.random(in: -2...10.8, using: &random)
      let seconds = Double.random(in: -1...1, using: &random) * pow(10, scale)
      guard abs(seconds) > 0.008, abs(seconds) < 6.3e10 else { continue }
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      #expect(try roundTrip(date) == date)
    }
  }

  @Test(
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("1970-01-01t01:00:00.5+01:00", 0.5), ("1969-12-31 18:30:00-05:30", 0),
      ("2000-02-29T12:00:00Z", 951_825_600), ("2016-12-31T23:59:60Z", 1_483_228_800),
      ("1970-01-01T00:00:00.1234567891234567899999Z", 0.123456789123456789),
    ] as [(String, Double)])
  func `Dates are read in every form of RFC 3339`(text: String, seconds: Double) throws {
    #expect(try DocumentValue.string(text).decode(Date.self) == Date(timeIntervalSince1970: seconds))
    #expect(
      try DocumentValue.tagged(0, .string(text)).decode(Date.self) == Date(timeIntervalSince1970: seconds))
    #expect(
      try DocumentValue.tagged(1, .double(seconds)).decode(Date.self) == Date(timeIntervalSince1970: seconds))
  }

  @Test(arguments: [
    "", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00.Z", "1970-13-01T00:00:00Z",
    "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "1970-01-01T24:00:00Z", "1970-01-01T00:60:00Z",
    "1970-01-01T00:00:61Z", "1970-01-01T00:00:60Z", "1970-01-01T23:59:60+01:00", "1970-01-01T00:00:00+1:00",
    "1970-01-01T00:00:00+01:00Z",
    "1970-01-01T00:00:00ZZ",
    "1970-01-01x00:00:00Z", "+970-01-01T00:00:00Z", "1970-01-01T00:00:00+24:00",
  ])
  func `What is no date is refused`(text: String) {
    #expect(throws: DecodingError.self) { try DocumentValue.string(text).decode(Date.self) }
  }

  @Test
  func `What has no document is an encoding error`() {
    #expect(throws: EncodingError.self) { try CBOREncoder().encode([Date(timeIntervalSince1970: 1e12)]) }
    #expect(throws: EncodingError.self) { try CBOREncoder().encode([Date(timeIntervalSince1970: .nan)]) }
    #expect(throws: EncodingError.self) { try CBOREncoder().encode([Decimal.nan]) }
    #expect(throws: EncodingError.self) { try CBOREncoder().encode(Endless()) }
    var deep: DocumentValue = []
    for _ in 1..<CodecLimits.depthMax { deep = [deep] }
    #expect(throws: Never.self) { try CBOREncoder().encode(deep) }
    #expect(throws: EncodingError.self) { try CBOREncoder().encode([deep]) }
  }

  @Test
  func `An error has the path to its place`() throws {
    func path(_ text: String) throws -> String? {
      do {
        _ = try DocumentValue(json: text).decode(Outer.self)
        return nil
      } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
        DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context)
      {
        return context.codingPath.map(\.stringValue).joined(separator: ".")
      }
    }
    #expect(try path(#"{"rows":[{"a":{"count":1}}]}"#) == nil)
    #expect(try path(#"{"rows":[{"a":{"count":1.0}}]}"#) == nil)
    #expect(try path(#"{"rows":[{},{"a":{"count":1},"bb":{"count":"x"}}]}"#) == "rows.Index 1.bb.count")
    #expect(try path(#"{"rows":[{},{"a":{"count":null}}]}"#) == "rows.Index 1.a.count")
    #expect(try path(#"{"rows":[{},{"a":{"count":1.5}}]}"#) == "rows.Index 1.a.count")
    #expect(try path(#"{"rows":[{},{"a":{"count":18446744073709551616}}]}"#) == "rows.Index 1.a.count")
    #expect(try path(#"{"rows":[{},{"a":{}}]}"#) == "rows.Index 1.a")
    #expect(try path(#"{"rows":[{},[]]}"#) == "rows.Index 1")
    #expect(try path(#"{"rows":{}}"#) == "rows")
    #expect(try path("[]") == "")
  }

  @Test
  func `Encodings that are not deterministic are read too`() throws {
    // {_ (_ "ro", "ws"): [_ {_ "zz": 9([…tagged map…]), "a": {"count": 1.0}}]}, keys unsorted and in chunks.
    let bytes = hex(
      "bf 7f62726f627773ff 9f bf 627a7a c9 a1 65636f756e74 d9ffff 02 7f6161ff a1 65636f756e74 f93c00 ff ff ff"
    )
    let value = try CBORDecoder().decode(Outer.self, from: bytes)
    #expect(value.rows[0]["zz"]?.count == 2)
    #expect(value.rows[0]["a"]?.count == 1)
  }

  @Test
  func `Tags without a meaning for a type are ignored, also around tags that have one`() throws {
    func expect<Value: Decodable & Equatable>(_ document: DocumentValue, as value: Value) throws {
      let tagged = DocumentValue.tagged(55799, document)
      #expect(try document.decode(Value.self) == value)
      #expect(try tagged.decode(Value.self) == value, "\(tagged) as \(Value.self)")
      #expect(try DocumentValue.array([.tagged(9, tagged)]).decode([Value].self) == [value])
    }
    let big = DocumentValue.bigInt(DocumentInteger(UInt128(1) << 64))
    let low = DocumentValue.bigInt(DocumentInteger(-1 - Int128(1) << 70))
    try expect(.int(-5), as: Decimal(-5))
    try expect(.uint(.max), as: Decimal(UInt64.max))
    try expect(.double(1.5), as: Decimal(1.5))
    try expect("1.5", as: Decimal(1.5))
    try expect(big, as: Decimal(UInt64.max) + 1)
    try expect(big, as: UInt128(1) << 64)
    try expect(low, as: -1 - Int128(1) << 70)
    try expect(big, as: 0x1p64)
    try expect(big, as: Float(0x1p64))
    let date = Date(timeIntervalSince1970: 0.5)
    try expect(.tagged(1, .double(0.5)), as: date)
    try expect(.tagged(1, .tagged(9, .double(0.5))), as: date)
    try expect(.tagged(1, big), as: Date(timeIntervalSince1970: 0x1p64))
    try expect(.tagged(0, "1970-01-01T00:00:00.5Z"), as: date)
    try expect("1970-01-01T00:00:00.5Z", as: date)
    let id = try #require(UUID(uuidString: "e621e1f8-c36c-495a-93fc-0c247a3e6e5f"))
    try expect(.string(id.uuidString), as: id)
    try expect(.tagged(37, .bytes(withUnsafeBytes(of: id.uuid) { Array($0) })), as: id)
    try expect(.bytes([1, 2]), as: Data([1, 2]))
    let kept = DocumentValue.tagged(55799, .tagged(1, big))
    #expect(try kept.decode(DocumentValue.self) == kept)
  }

  @Test
  func `Tags that have a meaning keep it, however they are encoded`() throws {
    let decoder = CBORDecoder()
    // 1 and 2 in heads of two bytes, by themselves and inside of 55799; 1(2(h'05')).
    for digits in ["d80105", "d9d9f7d80105", "c1c24105"] {
      #expect(try decoder.decode(Date.self, from: hex(digits)) == Date(timeIntervalSince1970: 5))
    }
    for digits in ["d8024105", "d9d9f7d8024105"] {
      #expect(try decoder.decode(Int.self, from: hex(digits)) == 5)
      #expect(try decoder.decode(Decimal.self, from: hex(digits)) == 5)
    }
    // A big integer is neither a date nor anything but bytes.
    #expect(throws: DecodingError.self) { try decoder.decode(Date.self, from: hex("d9d9f7c2c105")) }
    #expect(throws: DecodingError.self) { try decoder.decode(Date.self, from: hex("d9d9f7c24105")) }
    #expect(throws: DecodingError.self) { try decoder.decode(Decimal.self, from: hex("d9d9f7c26135")) }
  }

  @Test(arguments: ["", "a1", "a0a0", "a2616101616102", "a10102", "a1616162ff", "a1 64726f7773 81a1616201ff"])
  func `Bytes that are damaged, doubled or followed by others are refused`(digits: String) {
    #expect(throws: DecodingError.self) { try CBORDecoder().decode([String: Int].self, from: hex(digits)) }
  }

  @Test(arguments: 0..<10 as Range<UInt64>)
  func `Random and damaged bytes never trap a decoder`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let incident = Incident(
      id: "1", impact: .low, hours: 0.1, isOpen: false, owner: "x", place: .init(city: "y", floor: nil),
      tags: ["z"], counts: ["x": [1]], byYear: [1: 1], history: [nil])
    let good = try CBOREncoder().encode(incident)
    for _ in 0..<1_000 {
      var bytes = good
      for _ in 0...Int.random(in: 0...2, using: &random) {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if let value = try? CBORDecoder().decode(Incident.self, from: bytes) {
        #expect(try roundTrip(value) == value)
      }
    }
  }

  @Test
  func `A decoder that outlives its call finds nothing, and does not read freed memory`() throws {
    struct Keeper: Decodable {
      var container: KeyedDecodingContainer<DictionaryKey>
      init(from decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: DictionaryKey.self)
      }
    }
    let keeper = try CBORDecoder().decode(Keeper.self, from: CBOREncoder().encode(["a": 1]))
    let key = DictionaryKey(stringValue: "a")
    #expect(!keeper.container.contains(key))
    #expect(throws: DecodingError.self) { try keeper.container.decode(Int.self, forKey: key) }
    #expect(keeper.container.allKeys.isEmpty)
  }

  @Test
  func `What encodes into a writer is appended; user info reaches the type`() throws {
    struct Curious: Codable, Equatable {
      static let question = CodingUserInfoKey(rawValue: "question")!
      var answer: Int
      init(answer: Int) { self.answer = answer }
      func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(encoder.userInfo[Self.question] as? Int ?? answer)
      }
      init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        answer = try container.decode(Int.self) + (decoder.userInfo[Self.question] as? Int ?? 0)
      }
    }
    var encoder = CBOREncoder()
    encoder.userInfo[Curious.question] = 42
    var decoder = CBORDecoder()
    decoder.userInfo[Curious.question] = 1
    var writer = CBORWriter()
    writer.writeInteger(7)
    try encoder.encode(Curious(answer: 0), to: &writer)
    #expect(throws: EncodingError.self) { try encoder.encode([Decimal.nan], to: &writer) }
    #expect(hexDigits(writer.bytes) == "07182a")
    #expect(try decoder.decode(Curious.self, from: hex("182a")).answer == 43)
  }
}
