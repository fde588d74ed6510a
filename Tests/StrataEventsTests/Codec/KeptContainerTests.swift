// Containers that one call of the decoder or the encoder leaves to the next are never seen by two of them.

internal import StrataDocuments
internal import StrataSimulation
internal import Testing

/// An object with objects of its own type inside.
private struct Nest: Codable, Equatable, Sendable {
  var name: String
  var nests: [Nest] = []
  var only: [String: Nest] = [:]
}

private enum Shape: Codable, Equatable, Sendable {
  case circle(radius: Int, label: String?)
  indirect case pair(first: Shape, second: Shape)
  case none
}

/// Keeps the container that it was decoded from or encoded to.
private final class Keeper: Codable, @unchecked Sendable {
  enum Keys: String, CodingKey { case number, other }
  var number: Int
  var source: KeyedDecodingContainer<Keys>?
  nonisolated(unsafe) static var sink: KeyedEncodingContainer<Keys>?

  init(_ number: Int) { self.number = number }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    number = try container.decode(Int.self, forKey: .number)
    source = container
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(number, forKey: .number)
    if number % 3 == 0 { Self.sink = container }
  }
}

/// Decodes and encodes something else while it is decoded and encoded.
private struct Inner: Codable, Equatable, Sendable {
  enum Keys: String, CodingKey { case nest }
  var nest: Nest
  init(_ nest: Nest) { self.nest = nest }
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    nest = try CBORDecoder().decode(Nest.self, from: container.decode([UInt8].self, forKey: .nest))
    let again = try CBORDecoder().decode(Nest.self, from: container.decode([UInt8].self, forKey: .nest))
    guard again == nest else { throw CancellationError() }
  }
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(CBOREncoder().encode(nest), forKey: .nest)
  }
}

/// Has a type of coding keys for each type of tag.
private struct Tagged<Tag>: Codable {
  var number: Int
}

@Suite struct KeptContainerTests {
  private func nest(_ depth: Int, _ random: inout SeededGenerator) -> Nest {
    var nest = Nest(name: "\(Int.random(in: 0..<1_000, using: &random))")
    guard depth > 0 else { return nest }
    for _ in 0..<Int.random(in: 0...2, using: &random) { nest.nests.append(self.nest(depth - 1, &random)) }
    if Bool.random(using: &random) { nest.only["x"] = self.nest(depth - 1, &random) }
    return nest
  }

  private func shape(_ depth: Int, _ random: inout SeededGenerator) -> Shape {
    switch Int.random(in: 0..<(depth > 0 ? 4 : 2), using: &random) {
    case 0: .none
    case 1:
      .circle(radius: Int.random(in: 0..<9, using: &random), label: Bool.random(using: &random) ? "é" : nil)
    default: .pair(first: shape(depth - 1, &random), second: shape(depth - 1, &random))
    }
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func `Values of several types come back, one after the other and inside each other`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let encoder = RepeatedCBOREncoder()
    func encoded(_ value: some Encodable) throws -> [UInt8] {
      var writer = CBORWriter()
      try encoder.encode(value, to: &writer)
      #expect(writer.bytes == (try CBOREncoder().encode(value)))
      return writer.bytes
    }
    for _ in 0..<150 {
      let (nest, shape) = (nest(4, &random), shape(4, &random))
      #expect(try CBORDecoder().decode(Nest.self, from: encoded(nest)) == nest)
      #expect(try CBORDecoder().decode(Shape.self, from: encoded(shape)) == shape)
      #expect(try CBORDecoder().decode(Inner.self, from: encoded(Inner(nest))).nest == nest)
      // Damage, which ends a call wherever it is.
      var bytes = try encoded(nest)
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      _ = try? CBORDecoder().decode(Nest.self, from: bytes)
      _ = try? CBORDecoder().decode(Shape.self, from: bytes)
    }
  }

  @Test
  func `More types of keys than are kept take each other's places`() throws {
    let encoder = RepeatedCBOREncoder()
    func check<Tag>(_ tag: Tag.Type, depth: Int) throws {
      var writer = CBORWriter()
      try encoder.encode(Tagged<Tag>(number: depth), to: &writer)
      #expect(try DocumentValue(cbor: writer.bytes) == DocumentValue(encoding: ["number": depth]))
      #expect(try CBORDecoder().decode(Tagged<Tag>.self, from: writer.bytes).number == depth)
    }
    func checkAll<Tag>(_ tag: Tag.Type, depth: Int) throws {
      try check(tag, depth: depth)
      if depth < 100 { try checkAll([Tag].self, depth: depth + 1) }
      try check(tag, depth: depth)
    }
    try checkAll(Int.self, depth: 0)
  }

  @Test
  func `A container that outlives its call finds nothing, and no later call uses it`() throws {
    var kept: [Keeper] = []
    for number in 0..<20 {
      let bytes = try CBOREncoder().encode(["number": number, "other": 1])
      kept.append(try CBORDecoder().decode(Keeper.self, from: bytes))
      #expect(kept.map(\.number) == Array(0...number))
      for source in kept.compactMap(\.source) {
        #expect(source.allKeys.isEmpty && !source.contains(.number))
      }
      if number % 5 == 4 { kept[number].source = nil }
    }
  }

  @Test
  func `An encoding container that outlives its call writes nothing into a later value`() throws {
    let encoder = RepeatedCBOREncoder()
    for number in 0..<30 {
      var writer = CBORWriter()
      try encoder.encode(Keeper(number), to: &writer)
      #expect(try DocumentValue(cbor: writer.bytes) == DocumentValue(encoding: ["number": number]))
      try Keeper.sink?.encode(-number, forKey: .other)
      if number % 7 == 6 { Keeper.sink = nil }
    }
  }

  @Test
  func `Calls on several threads do not share containers`() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(task))
          for _ in 0..<300 {
            let (nest, shape) = (nest(3, &random), shape(3, &random))
            let (nestBytes, shapeBytes) = (try CBOREncoder().encode(nest), try CBOREncoder().encode(shape))
            #expect(try CBORDecoder().decode(Nest.self, from: nestBytes) == nest)
            #expect(try CBORDecoder().decode(Shape.self, from: shapeBytes) == shape)
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
