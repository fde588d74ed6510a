// Equal sets and dictionaries give equal bytes, in whatever order their tables hold the elements.

import Foundation
import StrataDocuments
import StrataEvents
import StrataSimulation
import Testing

/// A key that no coding key can be made of.
struct UnorderedKey: Codable, Hashable, Sendable {
  var first: Int
  var second: String
}

/// A value with sets and dictionaries in every place of a value.
struct UnorderedPlaces: Codable, Hashable, Sendable {
  enum Choice: Codable, Hashable, Sendable {
    case nothing
    case names(Set<String>)
    case weights([UnorderedKey: Set<Int>], of: Set<UnorderedKey>?)
  }

  var names: Set<String> = []
  var numbers: Set<Double>?
  var keys: Set<UnorderedKey> = []
  var lists: [Set<UInt8>] = []
  var perhaps: [Set<String>?] = []
  var byName: [String: Set<String>] = [:]
  var byNumber: [Int: [UnorderedKey: Int?]] = [:]
  var byKey: [UnorderedKey: [UnorderedKey: Set<String>]] = [:]
  var choice = Choice.nothing
  var choices: Set<Choice> = []
  var ofSets: Set<Set<Int>> = []
  var bySet: [Set<String>: Set<Data>] = [:]
  var inner: [UnorderedPlaces] = []
}

@Suite struct UnorderedEncodingTests {
  // MARK: By example

  private static let words = (0..<12).map { "w\($0)" }

  /// The same elements, in two tables that hold them in different orders.
  private static func twoSets<Element: Hashable>(_ elements: [Element]) -> [Set<Element>] {
    let (small, large) = (Set(elements), Set(minimumCapacity: 5_000, elements.reversed()))
    precondition(small == large)
    return [small, large]
  }

  private static func twoDictionaries<Key: Hashable, Value>(_ pairs: [(Key, Value)]) -> [[Key: Value]] {
    var large = [Key: Value](minimumCapacity: 5_000)
    for (key, value) in pairs.reversed() { large[key] = value }
    return [Dictionary(uniqueKeysWithValues: pairs), large]
  }

  private func expectSame(_ values: [some Codable & Equatable], _ place: String) throws {
    let bytes = try values.map { try CBOREncoder().encode($0) }
    #expect(bytes[0] == bytes[1], "\(place)")
    let encoder = RepeatedCBOREncoder()
    for value in values {
      var writer = CBORWriter()
      try encoder.encode(value, to: &writer)
      #expect(writer.bytes == bytes[0], "\(place)")
      #expect(CBORReader.isDeterministic(writer.bytes))
    }
    #expect(try CBORDecoder().decode(type(of: values[0]), from: bytes[0]) == values[0], "\(place)")
  }

  @Test func `equal sets give equal bytes wherever a value is encoded`() throws {
    let sets = Self.twoSets(Self.words)
    #expect(Array(sets[0]) != Array(sets[1]), "the tables happen to have one order")
    try expectSame(sets, "alone")
    try expectSame(sets.map { Optional($0) }, "in an optional")
    try expectSame(sets.map { Optional(Optional($0)) }, "in an optional of an optional")
    try expectSame(sets.map { [$0, []] }, "in an array")
    try expectSame(sets.map { ["x": $0] }, "in a dictionary")
    try expectSame(sets.map { UnorderedPlaces(names: $0) }, "in a property")
    try expectSame(sets.map { UnorderedPlaces(choice: .names($0)) }, "in a case of an enum")
    try expectSame(sets.map { Set([$0, ["a"]]) }, "in a set")
    try expectSame(sets.map { Single(set: $0) }, "in a single value")
    try expectSame(sets.map { ByHand(set: $0) }, "in containers that a type fills itself")
    let keys = Self.twoSets((0..<12).map { UnorderedKey(first: $0, second: "k") })
    try expectSame(keys, "of structs")
    try expectSame(keys.map { UnorderedPlaces(choice: .weights([:], of: $0)) }, "in an optional of a case")
  }

  @Test func `equal dictionaries give equal bytes, whatever their keys`() throws {
    let pairs = (0..<12).map { (UnorderedKey(first: $0, second: "k"), Self.words[$0]) }
    let dictionaries = Self.twoDictionaries(pairs)
    try #require(Array(dictionaries[0].keys) != Array(dictionaries[1].keys))
    try expectSame(dictionaries, "alone")
    try expectSame(dictionaries.map { ["x": $0] }, "in a dictionary")
    try expectSame(dictionaries.map { [$0] }, "in an array")
    try expectSame(Self.twoDictionaries(Self.words.map { ($0, 1) }), "with strings")
    try expectSame(Self.twoDictionaries(Self.words.map { (Letter(rawValue: $0), 1) }), "with raw values")
    let sets = Self.twoSets(Self.words)
    try expectSame(sets.map { [$0: $0] }, "with sets")
  }

  @Test func `the order is that of the bytes, the same in every process`() throws {
    #expect(try CBOREncoder().encode(Set([300, -1, 3, 20, 100])) == hex("85 03 14 1864 19012c 20"))
    #expect(try DocumentValue(encoding: Set(["b", "aa", "c", ""])).json() == #"["","b","c","aa"]"#)
    let byKey = [UnorderedKey(first: 2, second: ""): [2, 1], UnorderedKey(first: 1, second: ""): [1, 2]]
    #expect(
      try DocumentValue(encoding: byKey).json()
        == #"[{"first":1,"second":""},[1,2],{"first":2,"second":""},[2,1]]"#)
    // An array keeps its order, and so does one beside a set of the same elements.
    #expect(try DocumentValue(encoding: ["b", "a"]).json() == #"["b","a"]"#)
    #expect(try DocumentValue(encoding: [["b", "a"], ["c"]]).json() == #"[["b","a"],["c"]]"#)
  }

  @Test func `members that a subclass adds to a set keep their order`() throws {
    let value = Extended()
    value.set = ["a"]
    value.added = ["z", "b", "y"]
    #expect(try DocumentValue(encoding: value).json() == #"["a","z","b","y"]"#)
  }

  @Test func `a set that a type writes element by element is an array like any other`() throws {
    #expect(try DocumentValue(encoding: Unseen(elements: ["c", "a", "b"])).json() == #"["c","a","b"]"#)
  }

  private struct Letter: RawRepresentable, Codable, Hashable { var rawValue: String }

  private struct Single: Codable, Equatable {
    var set: Set<String>
    init(set: Set<String>) { self.set = set }
    init(from decoder: any Decoder) throws {
      set = try decoder.singleValueContainer().decode(Set<String>.self)
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(set)
    }
  }

  /// Encodes its set in an array of an object, and for a superclass.
  private struct ByHand: Codable, Equatable {
    enum CodingKeys: CodingKey { case list, object }
    var set: Set<String>
    init(set: Set<String>) { self.set = set }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      set = try container.decode([Set<String>].self, forKey: .list)[0]
    }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      var list = container.nestedUnkeyedContainer(forKey: .list)
      try list.encode(set)
      var object = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .object)
      try object.encodeIfPresent(Optional(set), forKey: .list)
      var single = container.superEncoder().singleValueContainer()
      try single.encode(set)
    }
  }

  private class Base: Encodable {
    var set: Set<String> = []
    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(set)
    }
  }

  private final class Extended: Base {
    var added: [String] = []
    override func encode(to encoder: any Encoder) throws {
      try super.encode(to: encoder)
      var container = encoder.unkeyedContainer()
      for element in added { try container.encode(element) }
    }
  }

  private struct Unseen: Encodable {
    var elements: [String]
    func encode(to encoder: any Encoder) throws {
      var container = encoder.unkeyedContainer()
      for element in elements { try container.encode(element) }
    }
  }

  // MARK: At random

  static let caseCount = ProcessInfo.processInfo.environment["RUNS"].flatMap { Int($0) } ?? 500

  @Test func `equal random values give equal bytes and are read back, however their tables were filled`()
    throws
  {
    var random = SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    var reordered = 0
    for number in 0..<Self.caseCount {
      let value = UnorderedPlaces.random(depth: 2, &random)
      let other = value.rebuilt(&random)
      try #require(value == other)
      if Array(value.names) != Array(other.names) { reordered += 1 }
      let bytes = try CBOREncoder().encode(value)
      #expect(try CBOREncoder().encode(other) == bytes, "case \(number)")
      #expect(CBORReader.isDeterministic(bytes), "case \(number)")
      #expect(try CBORDecoder().decode(UnorderedPlaces.self, from: bytes) == value, "case \(number)")
    }
    #expect(
      reordered > Self.caseCount / 4, "only \(reordered) of \(Self.caseCount) values were in another order")
  }
}

extension Set {
  fileprivate init(minimumCapacity: Int, _ elements: some Sequence<Element>) {
    self.init(minimumCapacity: minimumCapacity)
    for element in elements { insert(element) }
  }

  /// An equal set in another table.
  fileprivate func rebuilt(_ random: inout SeededGenerator) -> Set {
    Set(minimumCapacity: Int.random(in: 0...300, using: &random), shuffled(using: &random))
  }
}

extension Dictionary {
  fileprivate func rebuilt(
    _ random: inout SeededGenerator, _ body: (Value, inout SeededGenerator) -> Value
  ) -> Dictionary {
    var other = Dictionary(minimumCapacity: Int.random(in: 0...300, using: &random))
    for (key, value) in shuffled(using: &random) { other[key] = body(value, &random) }
    return other
  }
}

extension UnorderedPlaces {
  private static func some<Element>(
    _ random: inout SeededGenerator, _ body: (inout SeededGenerator) -> Element
  )
    -> [Element]
  {
    (0..<Int.random(in: 0...9, using: &random)).map { _ in body(&random) }
  }

  private static func word(_ random: inout SeededGenerator) -> String {
    (0..<Int.random(in: 0...3, using: &random)).map { _ in "abé".randomElement(using: &random)! }.map {
      "\($0)"
    }
    .joined()
  }

  private static func words(_ random: inout SeededGenerator) -> Set<String> { Set(some(&random, word)) }

  private static func key(_ random: inout SeededGenerator) -> UnorderedKey {
    UnorderedKey(first: Int.random(in: -300...300, using: &random), second: word(&random))
  }

  private static func dictionary<Key: Hashable, Value>(
    _ random: inout SeededGenerator, _ key: (inout SeededGenerator) -> Key,
    _ value: (inout SeededGenerator) -> Value
  ) -> [Key: Value] {
    Dictionary(some(&random) { (key(&$0), value(&$0)) }, uniquingKeysWith: { first, _ in first })
  }

  private static func choice(_ random: inout SeededGenerator) -> Choice {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: .nothing
    case 1: .names(words(&random))
    default:
      .weights(
        dictionary(&random, key) { Set(some(&$0) { Int.random(in: -9...900, using: &$0) }) },
        of: Bool.random(using: &random) ? nil : Set(some(&random, key)))
    }
  }

  static func random(depth: Int, _ random: inout SeededGenerator) -> UnorderedPlaces {
    var value = UnorderedPlaces(names: words(&random), keys: Set(some(&random, key)))
    if Bool.random(using: &random) {
      value.numbers = Set(some(&random) { Double(Int.random(in: -9...9, using: &$0)) / 4 })
    }
    value.lists = some(&random) { Set(some(&$0) { UInt8.random(in: 0...255, using: &$0) }) }
    value.perhaps = some(&random) { Bool.random(using: &$0) ? nil : words(&$0) }
    value.byName = dictionary(&random, word, words)
    value.byNumber = dictionary(
      &random, { Int.random(in: -9...9, using: &$0) },
      { dictionary(&$0, key) { Bool.random(using: &$0) ? nil : Int.random(in: 0...9, using: &$0) } })
    value.byKey = dictionary(&random, key) { dictionary(&$0, key, words) }
    value.choice = choice(&random)
    value.choices = Set(some(&random, choice))
    value.ofSets = Set(some(&random) { Set(some(&$0) { Int.random(in: 0...9, using: &$0) }) })
    value.bySet = dictionary(&random, words) { Set(some(&$0) { Data($0.bytes(count: 2)) }) }
    if depth > 0, random.chance(30) {
      value.inner = (0..<2).map { _ in Self.random(depth: depth - 1, &random) }
    }
    return value
  }

  /// An equal value whose tables were filled in another order and have other sizes.
  func rebuilt(_ random: inout SeededGenerator) -> UnorderedPlaces {
    var other = self
    other.names = names.rebuilt(&random)
    other.numbers = numbers?.rebuilt(&random)
    other.keys = keys.rebuilt(&random)
    other.lists = lists.map { $0.rebuilt(&random) }
    other.perhaps = perhaps.map { $0?.rebuilt(&random) }
    other.byName = byName.rebuilt(&random) { $0.rebuilt(&$1) }
    other.byNumber = byNumber.rebuilt(&random) { value, random in value.rebuilt(&random) { value, _ in value }
    }
    other.byKey = byKey.rebuilt(&random) { value, random in value.rebuilt(&random) { $0.rebuilt(&$1) } }
    other.choice = choice.rebuilt(&random)
    other.choices = Set(minimumCapacity: 40, choices.shuffled(using: &random).map { $0.rebuilt(&random) })
    other.ofSets = Set(minimumCapacity: 40, ofSets.shuffled(using: &random).map { $0.rebuilt(&random) })
    other.bySet = bySet.rebuilt(&random) { $0.rebuilt(&$1) }
    other.inner = inner.map { $0.rebuilt(&random) }
    return other
  }
}

extension UnorderedPlaces.Choice {
  fileprivate func rebuilt(_ random: inout SeededGenerator) -> Self {
    switch self {
    case .nothing: .nothing
    case .names(let names): .names(names.rebuilt(&random))
    case .weights(let weights, let keys):
      .weights(weights.rebuilt(&random) { $0.rebuilt(&$1) }, of: keys?.rebuilt(&random))
    }
  }
}
