// Field paths as text, and compared with a lookup in the decoded document.

internal import StrataDocuments
internal import StrataEvents
internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct FieldPathTests {
  private func find(_ path: String, in document: [UInt8]) throws -> [UInt8]? {
    let path = try FieldPath(path)
    return document.withUnsafeBytes { path.find(in: $0).map { Array($0) } }
  }

  private func find(_ path: String, in document: DocumentValue) throws -> DocumentValue? {
    try find(path, in: document.cbor()).map { try DocumentValue(cbor: $0) }
  }

  @Test func `a path leads through objects, and nowhere else`() throws {
    let document: DocumentValue = [
      "impact": ["level": 3, "": 1, "a.b": 4], "open": true, "tags": ["x"], "`": 5, "né": .null,
    ]
    #expect(try find("impact.level", in: document) == 3)
    #expect(try find("impact.`a.b`", in: document) == 4)
    #expect(try find("````", in: document) == 5)
    #expect(try find("open", in: document) == true)
    #expect(try find("né", in: document) == .null)
    #expect(try find("ne\u{301}", in: document) == nil)
    #expect(try find("open.level", in: document) == nil)
    #expect(try find("tags.x", in: document) == nil)
    #expect(try find("impact.leve", in: document) == nil)
    #expect(try find("`$id`", in: document) == nil)
    #expect(try find("$id", in: document) == nil)
  }

  @Test func `every field of random documents is found, and no other`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<1_000 {
      let document = object(3, &random)
      let cbor = DocumentValue.object(document).cbor()
      for (name, value) in document where !name.isEmpty {
        let path = FieldPath(names: [name])
        try #require(cbor.withUnsafeBytes { path.find(in: $0).map { Array($0) } } == value.cbor())
        guard case .object(let inner) = value else { continue }
        for (second, value) in inner where !second.isEmpty {
          let path = FieldPath(names: [name, second])
          try #require(cbor.withUnsafeBytes { path.find(in: $0).map { Array($0) } } == value.cbor())
        }
      }
      let other = random.text() + "?"
      let path = FieldPath(names: [other])
      try #require(cbor.withUnsafeBytes { path.find(in: $0).map { Array($0) } } == document[other]?.cbor())
    }
  }

  private func object(_ depth: Int, _ random: inout SeededGenerator) -> DocumentObject {
    var object: DocumentObject = [:]
    for _ in 0..<Int.random(in: 0...(random.chance(10) ? 40 : 6), using: &random) {
      let name = random.chance(50) ? ["a", "b", "aa"].randomElement(using: &random) ?? "a" : random.text()
      switch Int.random(in: 0..<(depth > 0 ? 4 : 2), using: &random) {
      case 0, 1: object[name] = random.scalar()
      case 2: object[name] = .array([random.scalar(), .object(self.object(depth - 1, &random))])
      default: object[name] = .object(self.object(depth - 1, &random))
      }
    }
    return object
  }

  @Test func `keys out of order, long heads and chunks are found too`() throws {
    // {"b": 1, "a": 2}
    #expect(try find("a", in: [0xA2, 0x61, 0x62, 0x01, 0x61, 0x61, 0x02]) == [0x02])
    // {_ 7: 1, "a" with a long head: [_ 1]}
    #expect(
      try find("a", in: [0xBF, 0x07, 0x01, 0x79, 0x00, 0x01, 0x61, 0x9F, 0x01, 0xFF, 0xFF])
        == [0x9F, 0x01, 0xFF])
    // {(_ "a", "b"): 3}
    #expect(try find("ab", in: [0xA1, 0x7F, 0x61, 0x61, 0x61, 0x62, 0xFF, 0x03]) == [0x03])
    #expect(try find("a", in: [0xBF, 0xFF]) == nil)
  }

  @Test func `damaged documents have no such field, and nothing traps`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    let path = try FieldPath("a.b")
    for _ in 0..<10_000 {
      let document: DocumentValue = [
        "a": ["b": random.scalar(), "c": [random.scalar()]], random.text() + "x": random.scalar(),
      ]
      var bytes = document.cbor()
      for _ in 0..<2 {
        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8(truncatingIfNeeded: random.next())
      }
      bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
      let found = bytes.withUnsafeBytes { path.find(in: $0)?.count }
      #expect((found ?? 0) <= bytes.count)
    }
    let deep = [UInt8](repeating: 0x81, count: 200_000) + [0x01]
    #expect(try find("b", in: [0xA2, 0x61, 0x61] + deep + [0x61, 0x62, 0x05]) == [0x05])
    #expect(try find("b", in: [0xA2, 0x61, 0x61] + deep) == nil)
    #expect(try find("a", in: [0xBB] + [UInt8](repeating: 0xFF, count: 8) + [0x61, 0x61, 0x01]) == [0x01])
    #expect(try find("a", in: []) == nil)
  }

  @Test func `a path's text reads back as the same path`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    for _ in 0..<2_000 {
      let names = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        random.text() + (["", "`", "`.", "$id", "x"].randomElement(using: &random) ?? "")
      }.map { $0.isEmpty ? "é" : $0 }
      let path = FieldPath(names: names)
      try #require(try FieldPath(path.description) == path)
      try #require(
        try FieldPath(path.description).names.map { Array($0.utf8) } == names.map { Array($0.utf8) })
    }
    #expect(try FieldPath("`a`.b").description == "a.b")
    #expect(try FieldPath("$revision").description == "$revision")
    #expect(FieldPath(names: ["a", "b"]) != FieldPath(names: ["ab"]))
    #expect(FieldPath(names: ["é"]) != FieldPath(names: ["e\u{301}"]))
  }

  @Test(arguments: [
    ("", 0, "a name is missing"), ("a.", 2, "a name is missing"), ("a..b", 2, "must be in backquotes"),
    ("a b", 1, "must be in backquotes"), ("1a", 0, "must be in backquotes"), ("`a", 0, "closing backquote"),
    ("a.``", 2, "cannot be empty"), ("$ids", 0, "$id, $revision, $time, $section"),
    ("$id.x", 3, "must be in backquotes"), ("é.-", 3, "must be in backquotes"),
  ])
  func `text that is no path is an error at its place`(_ text: String, _ place: Int, _ message: String) {
    let error = #expect(throws: FieldPathError.self) { try FieldPath(text) }
    #expect(error?.byteRange.lowerBound == place)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func `a path has a greatest length`() {
    #expect(throws: FieldPathError.self) { try FieldPath(String(repeating: "a", count: 5_000)) }
  }
}
