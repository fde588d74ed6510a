// Steps on disk and on a wire: their form, and what is not one.

internal import Foundation
internal import StrataDocuments
internal import StrataLists
internal import StrataTesting
internal import StrataViews
internal import Testing

@Suite struct ListStepCodingTests {
  private typealias Step = ListStep<Int, String?>

  private static func decode<Value: Decodable>(
    _ text: String, _ type: Value.Type = Value.self
  ) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }

  @Test func `steps have the form that their page says`() throws {
    let steps: [(Step, String)] = [
      (
        .removeItem(7, at: ListIndex(section: 1, item: 2)),
        #"{"at":{"item":2,"section":1},"item":7,"step":"removeItem"}"#
      ),
      (.removeSection("a", at: 1), #"{"at":1,"section":"a","step":"removeSection"}"#),
      (.insertSection(nil, at: 0), #"{"at":0,"section":null,"step":"insertSection"}"#),
      (
        .insertItem(7, at: ListIndex(section: 0, item: 0)),
        #"{"at":{"item":0,"section":0},"item":7,"step":"insertItem"}"#
      ),
      (.moveSection("a", from: 3, to: 1), #"{"from":3,"section":"a","step":"moveSection","to":1}"#),
      (
        .moveItem(
          7, from: ListIndex(section: 0, item: 1), to: ListIndex(section: 2, item: 3), isChanged: true),
        #"{"from":{"item":1,"section":0},"isChanged":true,"item":7,"step":"moveItem","#
          + #""to":{"item":3,"section":2}}"#
      ),
      (
        .updateItem(7, at: ListIndex(section: 1, item: 2)),
        #"{"at":{"item":2,"section":1},"item":7,"step":"updateItem"}"#
      ),
      (.updateSection("a", at: 1), #"{"at":1,"section":"a","step":"updateSection"}"#),
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    for (step, text) in steps {
      #expect(String(decoding: try encoder.encode(step), as: UTF8.self) == text)
      #expect(try Self.decode(text, Step.self) == step)
    }
  }

  @Test func `the steps of random changes are the same when they are decoded`() throws {
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    func number() -> Int { Int.random(in: 0..<5, using: &random) }
    func index() -> ListIndex { ListIndex(section: number(), item: number()) }
    func section() -> String? { number() == 0 ? nil : "s\(number())" }
    for _ in 0..<500 {
      let steps: [Step] = (0..<number()).map { _ in
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .removeItem(number(), at: index())
        case 1: .removeSection(section(), at: number())
        case 2: .insertSection(section(), at: number())
        case 3: .insertItem(number(), at: index())
        case 4: .moveSection(section(), from: number(), to: number())
        case 5: .moveItem(number(), from: index(), to: index(), isChanged: Bool.random(using: &random))
        case 6: .updateItem(number(), at: index())
        default: .updateSection(section(), at: number())
        }
      }
      try #require(JSONDecoder().decode([Step].self, from: JSONEncoder().encode(steps)) == steps)
      try #require(CBORDecoder().decode([Step].self, from: CBOREncoder().encode(steps)) == steps)
    }
  }

  @Test func `steps with keys of sections are kept too`() throws {
    let steps: [ListStep<StringKey, SectionKey<String?>>] = [
      .insertSection(SectionKey(nil), at: 0), .insertSection(SectionKey("a"), at: 1),
      .insertItem("1", at: ListIndex(section: 0, item: 0)),
    ]
    #expect(
      try JSONDecoder().decode(
        [ListStep<StringKey, SectionKey<String?>>].self, from: JSONEncoder().encode(steps)) == steps)
  }

  @Test func `steps with sections by a field are kept as steps with their keys`() throws {
    for value: DocumentValue in [.null, .bytes([1]), .double(.nan), DocumentValue(UInt128.max), "a", 1.5] {
      let at = ListIndex(section: 0, item: 1)
      let steps: [ListStep<Int, DocumentValue>] = [
        .removeItem(7, at: at), .removeSection(value, at: 1), .insertSection(value, at: 2),
        .insertItem(7, at: at), .moveSection(value, from: 3, to: 1),
        .moveItem(7, from: at, to: at, isChanged: true), .updateItem(7, at: at), .updateSection(value, at: 1),
      ]
      let keyed = try steps.map { try $0.mapSection { (section) throws in try SectionKey(section) } }
      let read = try JSONDecoder().decode(
        [ListStep<Int, SectionKey<DocumentValue>>].self, from: JSONEncoder().encode(keyed))
      #expect(read == keyed && read.map { $0.mapSection(\.value) } == steps)
    }
  }

  @Test(arguments: [
    "7", "[]", "{}", "null", "", #"{"step":"other","item":7,"at":{"section":0,"item":0}}"#,
    #"{"step":7,"item":7,"at":{"section":0,"item":0}}"#, #"{"item":7,"at":{"section":0,"item":0}}"#,
    #"{"step":"removeItem","item":7}"#, #"{"step":"removeItem","at":{"section":0,"item":0}}"#,
    #"{"step":"removeItem","item":"7","at":{"section":0,"item":0}}"#,
    #"{"step":"removeItem","item":7,"at":0}"#,
    #"{"step":"removeItem","item":7,"at":{"section":-1,"item":0}}"#,
    #"{"step":"updateItem","item":7,"at":{"section":0,"item":-1}}"#,
    #"{"step":"insertItem","item":7,"at":{"section":0}}"#,
    #"{"step":"removeSection","section":"a","at":-1}"#, #"{"step":"insertSection","section":"a","at":1.5}"#,
    #"{"step":"updateSection","at":1}"#, #"{"step":"updateSection","section":{},"at":1}"#,
    #"{"step":"moveSection","section":"a","from":0}"#,
    #"{"step":"moveSection","section":"a","from":-1,"to":0}"#,
    #"{"step":"moveSection","section":"a","from":0,"to":-9223372036854775808}"#,
    #"{"step":"moveItem","item":7,"from":{"section":0,"item":0},"to":{"section":0,"item":1}}"#,
    #"{"step":"moveItem","item":7,"from":{"section":0,"item":0},"to":{"section":0,"item":-1},"isChanged":true}"#,
    #"{"step":"moveItem","item":7,"from":{"section":0,"item":0},"to":{"section":0,"item":1},"isChanged":1}"#,
  ])
  func `what is no step does not decode`(_ text: String) {
    #expect(throws: DecodingError.self) { try Self.decode(text, Step.self) }
  }
}
