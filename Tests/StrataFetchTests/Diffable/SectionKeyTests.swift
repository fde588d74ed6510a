// Keys of sections that an application makes, and keeps on disk.

internal import Foundation
internal import StrataDocuments
internal import StrataEvents
internal import StrataFetch
internal import StrataLists
internal import StrataTables
internal import StrataTesting
internal import StrataViews
internal import Testing

private enum Impact: Int, Codable, SortKey, CaseIterable {
  case low = 1
  case high = 3
}

/// A sort key that cannot be read back.
private struct Folded: Codable, Hashable, SortKey {
  var text: String

  init(_ text: String) { self.text = text }
  func encode(to writer: inout SortKeyWriter) { writer.append(text.lowercased()) }
  init(from reader: inout SortKeyReader) throws(SortKeyError) { throw .notReversible }
}

/// A value that is no sort key.
private struct Pair: Codable, Hashable, Sendable {
  var first = 1
}

private nonisolated struct Row: Codable, Identifiable, Sendable {
  var id: Int
  var name: String?
  var value: DocumentValue?
}

@Suite struct SectionKeyTests {
  private static func json(_ value: some Encodable) throws -> String {
    String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
  }

  private static func decode<Value: Decodable>(
    _ text: String, _ type: Value.Type = Value.self
  ) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }

  /// Values that are in one section each, among them some that Swift calls equal.
  private static let documents: [DocumentValue] = [
    .null, false, true, 0, 1, -1, 1.5, -1e300, .int(.min), .uint(.max), DocumentValue(UInt128.max),
    DocumentValue(Int128.min + 1), .double(.infinity), .double(-.infinity), .double(.nan), "", "a", "\u{E9}",
    "e\u{301}", "\u{0}", "null", .bytes([]), .bytes([0, 255]), .bytes(Array("a".utf8)),
  ]

  // MARK: Keys

  @Test func `a key that is made from a value is that of the list's section`() async throws {
    let rows = EventStore.inMemory().collection("row", of: Row.self)
    let names: [String?] = [nil, "", "\u{E9}", "e\u{301}", "b\u{0}"]
    for (id, name) in names.enumerated() { try await rows.put(Row(id: id, name: name)) }
    let list = FetchController(ListRequest(Row.self).sectioned(by: \.name), from: rows)
    let keys = DiffableSnapshot(byteWise: try await list.performFetch())
    #expect(keys.numberOfSections == names.count)
    for (id, name) in names.enumerated() {
      let key = SectionKey(name)
      #expect(keys.itemIdentifiers(inSection: key) == [StringKey("\(id)")])
      #expect(keys.indexOfSection(try Self.decode(Self.json([key]), [SectionKey<String?>].self)[0]) != nil)
    }
    #expect(keys.indexOfSection(SectionKey("c")) == nil)
  }

  @Test func `a key that is made from a document's value is that of the list's section`() async throws {
    let rows = EventStore.inMemory().collection("row", of: Row.self)
    for (id, value) in Self.documents.enumerated() { try await rows.put(Row(id: id, value: value)) }
    let request = ListRequest(Row.self).sectioned(byField: try FieldPath("value"))
    let keys = DiffableSnapshot(byteWise: try await FetchController(request, from: rows).performFetch())
    #expect(keys.numberOfSections == Self.documents.count)
    for (id, value) in Self.documents.enumerated() {
      let key = try SectionKey(value)
      #expect(key.value == value)
      #expect(keys.itemIdentifiers(inSection: key) == [StringKey("\(id)")])
      let kept: [SectionKey<DocumentValue>] = try Self.decode(Self.json([key]))
      #expect(kept == [key] && kept[0].value == value)
      #expect(keys.indexOfSection(kept[0]) != nil)
    }
    #expect(
      try Self.decode(Self.json(keys), DiffableSnapshot<StringKey, SectionKey<DocumentValue>>.self) == keys)
  }

  @Test func `values of documents that are one section have one key, and some have none`() throws {
    let one = try SectionKey(DocumentValue.int(1))
    #expect(try SectionKey(DocumentValue.double(1)) == one)
    #expect(try SectionKey(DocumentValue.double(1)).value == .int(1))
    #expect(try SectionKey(DocumentValue.double(-0.0)).value == .int(0))
    #expect(try SectionKey(DocumentValue.string("1")) != one)
    var deep = DocumentValue.null
    for _ in 0..<1_000 { deep = [deep] }
    for value: DocumentValue in [
      [], [1], [:], ["a": 1], deep, .tagged(1, 1), .tagged(55_799, "a"), .tagged(1, .bytes([1])),
      .tagged(2, "a"), .tagged(3, .null), .tagged(2, deep),
    ] {
      #expect(throws: SortKeyError.self, "\(value)") { try SectionKey(value) }
    }
  }

  // MARK: Coding

  @Test func `keys are encoded as their values`() throws {
    #expect(try Self.json([SectionKey("open"), SectionKey("")]) == #"["open",""]"#)
    #expect(
      try Self.json([SectionKey(String?.none), SectionKey(String?.some("a"))]) == #"[{"nil":true},"a"]"#)
    #expect(try Self.json([SectionKey(7), SectionKey(-1)]) == "[7,-1]")
    #expect(try Self.json([SectionKey(Impact.high)]) == "[3]")
    #expect(
      try Self.json([SectionKey<DocumentValue>("a"), SectionKey(true), SectionKey(.null), SectionKey(2.0)])
        == #"["a",true,{"nil":true},2]"#)
    #expect(
      try Self.json([SectionKey(.bytes([1, 2])), SectionKey(DocumentValue.double(.nan))])
        == #"[{"cbor":"QgEC"},{"cbor":"+X4A"}]"#)
    #expect(
      try Self.json([SectionKey(Double.infinity), SectionKey(1.5)]) == #"[{"cbor":"+XwA"},1.5]"#)
    let kept: [SectionKey<DocumentValue>] = try Self.decode(#"[{"cbor":"AQ=="}]"#)
    #expect(kept == [try SectionKey(1)])
  }

  private struct Screen: Codable, Equatable {
    var selected: SectionKey<String?>?
    var field: SectionKey<DocumentValue>?
  }

  @Test func `the key of nil is not the same as no key`() throws {
    for screen in [
      Screen(), Screen(selected: SectionKey(nil)), Screen(field: try SectionKey(.null)),
      Screen(selected: SectionKey("a"), field: try SectionKey("nil")),
    ] {
      #expect(try Self.decode(Self.json(screen), Screen.self) == screen)
      #expect(try CBORDecoder().decode(Screen.self, from: CBOREncoder().encode(screen)) == screen)
    }
    // Also from a program that wrote null.
    #expect(try Self.decode("[null]", [SectionKey<String?>].self) == [SectionKey(nil)])
    #expect(try Self.decode("[null]", [SectionKey<DocumentValue>].self) == [try SectionKey(.null)])
  }

  @Test func `keys of random values are the same when they are decoded`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    func check<Value: Codable & Hashable & SortKey>(_ value: Value) throws {
      let key = SectionKey(value)
      let read: [SectionKey<Value>] = try Self.decode(Self.json([key]))
      try #require(read == [key], "\(value)")
      let cbor = try CBORDecoder().decode([SectionKey<Value>].self, from: CBOREncoder().encode([key]))
      try #require(cbor == [key], "\(value)")
    }
    func check(document value: DocumentValue) throws {
      let key = try SectionKey(value)
      let read: [SectionKey<DocumentValue>] = try Self.decode(Self.json([key]))
      try #require(read == [key] && read[0].value == key.value, "\(value)")
      let cbor = try CBORDecoder().decode(
        [SectionKey<DocumentValue>].self, from: CBOREncoder().encode([key]))
      try #require(cbor == [key] && cbor[0].value == key.value, "\(value)")
    }
    for _ in 0..<2_000 {
      let text = Self.text(&random)
      try check(text)
      try check(Bool.random(using: &random) ? text : nil)
      try check(Int64.random(in: .min ... .max, using: &random))
      try check(UInt64.random(in: 0 ... .max, using: &random))
      let number = Self.number(&random)
      try check(number)
      for number in [number, .infinity, -.infinity, .nan] {
        try check(number as Double?)
        try check(Float(number))
        try check(document: .double(number))
      }
      try check(Impact.allCases.randomElement(using: &random))
      try check(Bool.random(using: &random))
      try check(document: .string(text))
      try check(document: .double(number))
      try check(document: .bytes(Array(text.utf8)))
      try check(document: DocumentValue(UInt64.random(in: 0 ... .max, using: &random)))
      try check(document: DocumentValue(Int128.random(in: .min ... .max, using: &random)))
    }
  }

  /// A short text of characters that are special somewhere.
  private static func text(_ random: inout SeededGenerator) -> String {
    let parts = [
      "a", "B", "\u{E9}", "e\u{301}", "\u{0}", "\"", "\\", "/", "\n", "\u{1F600}", "\u{FFFF}", "0", "",
    ]
    var text = ""
    for _ in 0..<Int.random(in: 0..<6, using: &random) {
      text += parts[Int.random(in: 0..<parts.count, using: &random)]
    }
    return text
  }

  /// A finite double of any size.
  private static func number(_ random: inout SeededGenerator) -> Double {
    let number = Double(bitPattern: UInt64.random(in: 0 ... .max, using: &random))
    return number.isFinite ? number : Double(Int.random(in: -9...9, using: &random))
  }

  // MARK: Bad input

  private func isRefused<Value: Decodable & Hashable & Sendable>(
    _ text: String, _ type: SectionKey<Value>.Type
  ) -> Bool {
    do {
      _ = try Self.decode("[\(text)]", [SectionKey<Value>].self)
      return false
    } catch {
      return error is DecodingError
    }
  }

  @Test(arguments: ["7", "{}", "[]", "true", "null", #"{"cbor":"AQ=="}"#, #"{"nil":true}"#, "nonsense"])
  func `what is no string is not the key of one`(_ text: String) {
    #expect(isRefused(text, SectionKey<String>.self))
  }

  @Test(arguments: ["1.5", #""1""#, "99999999999999999999", "null", "[1]", "{}"])
  func `what is no integer is not the key of one`(_ text: String) {
    #expect(isRefused(text, SectionKey<Int>.self))
  }

  @Test func `a value without a case, and one of a type that no list has sections by, do not decode`() {
    #expect(isRefused("2", SectionKey<Impact>.self))
    #expect(isRefused("[]", SectionKey<String?>.self))
    #expect(isRefused(#"{"first":1}"#, SectionKey<Pair>.self))
    #expect(isRefused(#"{"text":"a"}"#, SectionKey<Folded>.self))
    #expect(!isRefused("\"" + String(repeating: "a", count: 32_000) + "\"", SectionKey<String>.self))
    #expect(!isRefused("\"" + String(repeating: "a", count: 31_000) + "\"", SectionKey<String>.self))
  }

  @Test(arguments: [
    "[]", "[1]", "{}", #"{"a":1}"#, #"{"cbor":"!"}"#, #"{"cbor":""}"#, #"{"cbor":7}"#, #"{"cbor":null}"#,
    #"{"cbor":"AQ==","a":1}"#, #"{"nil":false}"#, #"{"nil":1}"#, #"{"nil":true,"a":1}"#,
    // An empty array, an empty object, two items, half an item, a tagged item.
    #"{"cbor":"gA=="}"#, #"{"cbor":"oA=="}"#, #"{"cbor":"AQE="}"#, #"{"cbor":"GQ=="}"#, #"{"cbor":"wQE="}"#,
  ])
  func `what is the section of no row is not the key of a document's value`(_ text: String) {
    #expect(isRefused(text, SectionKey<DocumentValue>.self))
  }

  @Test func `a document's value that is too long for a key decodes to the section that its rows are in`()
    throws
  {
    let text = String(repeating: "a", count: 32_000)
    let key = try Self.decode("\"\(text)\"", SectionKey<DocumentValue>.self)
    #expect(try key == SectionKey(.string(text)) && key != SectionKey(.string(text + "a")))
    #expect(try SectionKey(key.value) == key)
    let bytes = DocumentValue.bytes([UInt8](repeating: 1, count: 32_000))
    let item = Data(bytes.cbor()).base64EncodedString()
    #expect(try Self.decode(#"{"cbor":"\#(item)"}"#, SectionKey<DocumentValue>.self) == SectionKey(bytes))
  }

  @Test func `a kept snapshot with a section twice does not decode`() {
    typealias Kept = DiffableSnapshot<StringKey, SectionKey<String?>>
    let good = #"{"sections":[{"id":null,"items":["1"]},{"id":"a","items":["2"]}]}"#
    #expect(throws: Never.self) { try Self.decode(good, Kept.self) }
    let twice = #"{"sections":[{"id":null,"items":["1"]},{"id":null,"items":["2"]}]}"#
    #expect(throws: DecodingError.self) { try Self.decode(twice, Kept.self) }
  }
}
