// Decoding an enum from the payload of one case is decoding it from a map of that one case.

internal import StrataDocuments
internal import StrataEvents
internal import StrataSimulation
internal import Testing

private struct Detail: Codable, Equatable, Sendable {
  var name: String
  var numbers: [Int] = []
}

private enum Happening: Codable, Equatable, Sendable {
  case opened(title: String, detail: Detail?)
  case numbered(Int, Double)
  case closed
}

/// Decodes itself in ways that synthesized code does not.
private struct Odd: Codable, Equatable, Sendable {
  var values: [String: DocumentValue]
  init(from decoder: any Decoder) throws {
    let text = decoder.codingPath.map(\.stringValue).joined(separator: "/")
    guard text.isEmpty else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: text))
    }
    if (try? decoder.unkeyedContainer()) != nil { throw CancellationError() }
    values = try decoder.singleValueContainer().decode([String: DocumentValue].self)
  }
  func encode(to encoder: any Encoder) throws { try values.encode(to: encoder) }
}

/// Keeps what it was decoded from, and decodes another case meanwhile.
private struct Keeper: Decodable {
  enum Keys: CodingKey { case kept }

  let container: KeyedDecodingContainer<Keys>
  let single: any SingleValueDecodingContainer
  let other: Happening
  let number: Int?

  init(from decoder: any Decoder) throws {
    container = try decoder.container(keyedBy: Keys.self)
    single = try decoder.singleValueContainer()
    other = try CBORDecoder.decode(ofCase: "closed", from: [0xA0])
    number = try container.decode([String: Int].self, forKey: .kept)["n"]
  }
}

@Suite struct CaseDecodingTests {
  /// The whole map, as the payload was decoded before there was a shorter way.
  private func whole<Value: Decodable>(_ type: Value.Type, _ name: String, _ payload: [UInt8]) throws -> Value
  {
    var writer = CBORWriter()
    writer.writeMapHead(count: 1)
    writer.writeText(name)
    payload.withUnsafeBytes { writer.writeEncoded($0) }
    return try CBORDecoder().decode(type, from: writer.bytes)
  }

  private func part<Value: Decodable>(_ type: Value.Type, _ name: String, _ payload: [UInt8]) throws -> Value
  {
    try CBORDecoder.decode(type, ofCase: name, from: payload)
  }

  private func path(_ error: any Error) -> [String]? {
    switch error {
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.keyNotFound(_, let context):
      return context.codingPath.map(\.stringValue)
    default: return nil
    }
  }

  private func expectAlike<Value: Codable>(
    _ type: Value.Type, _ name: String, _ payload: [UInt8]
  ) -> Bool {
    let expected: Value
    do { expected = try whole(type, name, payload) } catch let expected {
      do {
        _ = try part(type, name, payload)
        Issue.record("\(name) \(payload) decoded, in place of \(expected)")
      } catch {
        // Where the bytes are well-formed, the error is at the same place.
        if let path = path(expected), (try? DocumentValue(cbor: payload)) != nil {
          #expect(self.path(error) == path, "\(name) \(payload)")
        }
      }
      return false
    }
    do {
      // Not compared with `==`, since a number may have become NaN.
      let value = try part(type, name, payload)
      #expect(try CBOREncoder().encode(value) == CBOREncoder().encode(expected), "\(name) \(payload)")
    } catch {
      Issue.record("\(name) \(payload) did not decode: \(error)")
    }
    return true
  }

  @Test
  func `A case decodes from its payload as from a map of one case, whatever the bytes`() throws {
    var random = SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    let events: [Happening] = [
      .opened(title: "é", detail: nil), .opened(title: "long enough for a head of two bytes", detail: nil),
      .opened(title: "x", detail: Detail(name: "n", numbers: [1, -2, 300])), .numbered(7, 0.5), .closed,
    ]
    var decodedCount = 0
    for _ in 0..<20_000 {
      let bytes = try CBOREncoder().encode(events.randomElement(using: &random)!)
      let (name, payload) = try bytes.withUnsafeBytes { buffer -> (String, [UInt8]) in
        var reader = CBORReader(buffer)
        _ = try reader.readMapHead()
        let name = try reader.readText()
        return (name, Array(buffer[reader.offset...]))
      }
      var changed = payload
      for _ in 0..<Int.random(in: 0...2, using: &random) where !changed.isEmpty {
        let place = Int.random(in: changed.indices, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: changed[place] = UInt8.random(in: .min ... .max, using: &random)
        case 1: changed.remove(at: place)
        case 2: changed.removeSubrange(place...)
        default: changed.insert(changed[place], at: place)
        }
      }
      let named =
        Int.random(in: 0..<8, using: &random) > 0
        ? name : ["closed", "unknown", ""].randomElement(using: &random)!
      // The name of no case is an answer, and the bytes are then not looked at.
      let isKnown = ["opened", "numbered", "closed"].contains(named)
      if isKnown, expectAlike(Happening.self, named, changed) { decodedCount += 1 }
      if expectAlike(Odd.self, named, changed) { decodedCount += 1 }
    }
    #expect(decodedCount > 10_000)
  }

  @Test
  func `A payload nested as deep as the limit is refused as in the whole map`() throws {
    for depth in (CodecLimits.depthMax - 3)...(CodecLimits.depthMax + 1) {
      var payload = [UInt8](repeating: 0x81, count: depth - 1) + [0x00]
      payload = [0xA1, 0x61, 0x78] + payload
      _ = expectAlike(Odd.self, "a", payload)
      _ = expectAlike(Happening.self, "closed", payload)
    }
  }

  @Test
  func `The name of no case is a mismatch of the type, without a path`() {
    #expect { try part(Happening.self, "unknown", [0xA0]) } throws: { error in
      guard case DecodingError.typeMismatch(let type, let context) = error else { return false }
      return type == Happening.self && context.codingPath.isEmpty
    }
  }

  @Test
  func `What outlives the call of a case finds nothing, and other calls go on`() throws {
    var kept: [Keeper] = []
    for number in 0..<100 {
      let payload = DocumentValue.object(["n": .int(Int64(number))]).cbor()
      kept.append(try part(Keeper.self, "kept", payload))
      #expect(
        try part(Happening.self, "numbered", DocumentValue.object(["_0": 1, "_1": 2]).cbor())
          == .numbered(1, 2))
    }
    for (number, keeper) in kept.enumerated() {
      #expect(keeper.number == number && keeper.other == .closed && !keeper.container.contains(.kept))
      #expect(throws: DecodingError.self) { try keeper.single.decode([String: DocumentValue].self) }
    }
  }

  @Test
  func `A long payload leaves nothing to the next one`() throws {
    for length in [100_000, 3, 70_000, 0, 65_000] {
      let title = String(repeating: "x", count: length)
      let payload = DocumentValue.object(["title": .string(title)]).cbor()
      #expect(try part(Happening.self, "opened", payload) == .opened(title: title, detail: nil))
    }
  }
}
