// Values of short payloads that are decoded once.

internal import StrataDocuments
internal import StrataSimulation
internal import Synchronization
internal import Testing

private enum Light: Codable, Equatable, Sendable { case set(to: Int), named(to: String), off }

/// The same cases with other values.
private enum Lamp: Codable, Equatable, Sendable { case set(to: Double), named(to: [UInt8]), off }

/// Counts how often it is decoded.
private enum Counted: Decodable {
  case seen

  static let count = Atomic<Int>(0)
  private enum Keys: CodingKey { case seen }

  init(from decoder: any Decoder) throws {
    _ = try decoder.container(keyedBy: Keys.self).nestedContainer(keyedBy: Keys.self, forKey: .seen)
    Self.count.add(1, ordering: .relaxed)
    self = .seen
  }
}

private class Bird: Decodable, @unchecked Sendable { var song: [String: Int] = [:] }
private final class Owl: Bird, @unchecked Sendable {}

@Suite struct KeptValueTests {
  private func decode<Value: Decodable>(_ type: Value.Type, _ name: String, _ payload: [UInt8]) throws
    -> Value
  {
    try CBORDecoder.decode(type, ofCase: name, from: payload)
  }

  private func payload(_ document: DocumentValue) -> [UInt8] { document.cbor() }

  @Test
  func `Random payloads that come again decode as what they say, each time`() throws {
    var random = SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    for _ in 0..<20_000 {
      // Few enough to come again, and more than are kept.
      let number = Int.random(in: 0..<Int.random(in: 1...1_000, using: &random), using: &random)
      #expect(try decode(Light.self, "set", payload(["to": .int(Int64(number))])) == .set(to: number))
      #expect(
        try decode(Lamp.self, "set", payload(["to": .int(Int64(number))])) == .set(to: Double(number)))
      let text = String(repeating: "x", count: number % 60)
      #expect(try decode(Light.self, "named", payload(["to": .string(text)])) == .named(to: text))
    }
  }

  @Test
  func `A short payload that comes again and again is decoded a few times`() throws {
    for _ in 0..<1_000 { _ = try decode(Counted.self, "seen", [0xA0]) }
    // Other threads may have what this one kept.
    #expect((2..<500).contains(Counted.count.load(ordering: .relaxed)))
  }

  @Test
  func `A type never gets a value that another type decoded from the same bytes`() throws {
    for _ in 0..<3 {
      #expect(try decode(Light.self, "off", [0xA0]) == .off)
      #expect(try decode(Lamp.self, "off", [0xA0]) == .off)
      #expect(try decode(Light.self, "set", payload(["to": 1])) == .set(to: 1))
      #expect(try decode(Lamp.self, "set", payload(["to": 1])) == .set(to: 1))
      #expect(throws: DecodingError.self) { try decode(Lamp.self, "named", payload(["to": "a"])) }
      #expect(try decode(Light.self, "named", payload(["to": "a"])) == .named(to: "a"))
    }
  }

  @Test
  func `A class never gets a value that its subclass decoded, nor the subclass one of the class`() throws {
    let owl: Bird.Type = Owl.self
    for _ in 0..<4 {
      #expect(try decode(owl, "song", payload(["length": 1])) is Owl)
      #expect(try !(decode(Bird.self, "song", payload(["length": 1])) is Owl))
    }
  }

  @Test
  func `Bytes after a payload are refused, zeros too, and so is another name of a case`() throws {
    for _ in 0..<3 { #expect(try decode(Light.self, "off", [0xA0]) == .off) }
    #expect(throws: DecodingError.self) { try decode(Light.self, "off", [0xA0, 0x00]) }
    #expect(throws: DecodingError.self) { try decode(Light.self, "off\0", [0xA0]) }
    #expect(throws: DecodingError.self) { try decode(Light.self, "set", [0xA0]) }
  }
}
