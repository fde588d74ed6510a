// Documents that no decoder reads back: they are refused where they would be logged.

import StrataDocuments
import StrataLog
import StrataSimulation
import Testing

@testable import StrataEvents

@Suite struct RefusedDocumentTests {
  private static let byteCountMax = CodecLimits.integerByteCountMax

  /// An integer of a number of equal bytes, or of a power of 256 with one byte more than that number.
  private static func integer(_ count: Int, byte: UInt8 = 0xFF, isNegative: Bool = false) -> DocumentValue {
    .bigInt(DocumentInteger(isNegative: isNegative, magnitude: [UInt8](repeating: byte, count: count)))
  }

  private static func power(_ count: Int, isNegative: Bool) -> DocumentValue {
    .bigInt(
      DocumentInteger(isNegative: isNegative, magnitude: [1] + [UInt8](repeating: 0, count: count)))
  }

  private static func invalid(_ what: String, _ problem: String) -> StoreError {
    .invalid(
      what: "the \(what) of a/1 holds \(problem), and could not be read back",
      next: "store it as bytes or as text")
  }

  private static let longInteger = "an integer of more than \(byteCountMax) bytes"

  private static func wrongTag(_ tag: Int) -> String {
    "tag \(tag), which is that of a big integer, on something other than bytes"
  }

  @Test func `integers and tags that no decoder reads are refused in payloads and in metadata`() async throws
  {
    let store = EventStore.inMemory(clock: .fixed)
    let refused: [(DocumentValue, String)] = [
      (Self.integer(Self.byteCountMax + 1), Self.longInteger),
      (Self.integer(Self.byteCountMax + 1, isNegative: true), Self.longInteger),
      (Self.power(Self.byteCountMax, isNegative: false), Self.longInteger),
      (.tagged(2, .bytes([UInt8](repeating: 0, count: Self.byteCountMax + 1))), Self.longInteger),
      (.tagged(2, .string("5")), Self.wrongTag(2)), (.tagged(3, .null), Self.wrongTag(3)),
      (.tagged(2, .tagged(4, .bytes([1]))), Self.wrongTag(2)), (.tagged(3, [1]), Self.wrongTag(3)),
    ]
    for (value, problem) in refused {
      for document in [value, ["x": [1, value, 2]], .tagged(7, .object(["y": value]))] {
        await #expect(throws: Self.invalid("payload", problem)) {
          try await store.append([NewEvent("t", in: "a/1", document)])
        }
        await #expect(throws: Self.invalid("metadata", problem)) {
          try await store.append([NewEvent("t", in: "a/1", .null, metadata: ["m": document])])
        }
        #expect(throws: CodecError.self) { try DocumentValue(cbor: document.cbor()) }
      }
    }
    #expect(store.head.sequence == 0)
    try await store.close()
  }

  @Test func `the longest integers are logged and read back`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let longest = [
      Self.integer(Self.byteCountMax), Self.integer(Self.byteCountMax, isNegative: true),
      Self.integer(Self.byteCountMax, byte: 1), Self.power(Self.byteCountMax - 1, isNegative: false),
      // One less than the negative of the longest magnitude: the encoding holds that magnitude.
      Self.power(Self.byteCountMax, isNegative: true),
    ]
    for integer in longest { try await store.append([NewEvent("t", in: "a/1", ["x": [integer]])]) }
    #expect(
      try await store.events(in: "a/1").map { try $0.payload.document() } == longest.map { ["x": [$0]] })
    // The bytes of an integer under its own tag are that integer.
    try await store.append([NewEvent("t", in: "a/2", .tagged(3, .bytes([4])))])
    #expect(try await store.events(in: "a/2").map { try $0.payload.document() } == [-5])
    try await store.close()
  }

  private struct Holder: Codable, Identifiable, Sendable {
    var id: Int
    var bodies: [String: [DocumentValue]]
  }

  @Test func `a property that no decoder reads is refused where its type is encoded`() async throws {
    let store = EventStore.inMemory(clock: .fixed)
    let holders = store.collection("holder", of: Holder.self)
    for value in [Self.integer(Self.byteCountMax + 1), ["z": .tagged(2, .string("x"))]] {
      await #expect {
        try await holders.put(Holder(id: 1, bodies: ["a": [1, value]]))
      } throws: { error in
        guard case .invalid(let what, _)? = error as? StoreError else { return false }
        return what.contains("which could not be read back") && what.utf8.count < 1_000
      }
      #expect(throws: EncodingError.self) { try DocumentValue(encoding: [value]) }
    }
    #expect(store.head.sequence == 0)
    try await store.close()
  }

  // MARK: At random

  /// A document with values at and beyond the ends of what there is.
  private static func document(_ depth: Int, _ random: inout SeededGenerator) -> DocumentValue {
    switch Int.random(in: 0..<(depth > 0 ? 11 : 7), using: &random) {
    case 0: return [.null, .bool(true), .int(.min), .int(.max), .int(-1)].randomElement(using: &random)!
    case 1: return [.uint(.max), .uint(0), .uint(1 << 63)].randomElement(using: &random)!
    case 2:
      let count = [0, 1, 8, 9, byteCountMax - 1, byteCountMax, byteCountMax + 1].randomElement(
        using: &random)!
      let isNegative = Bool.random(using: &random)
      return Bool.random(using: &random)
        ? power(count, isNegative: isNegative) : integer(count, isNegative: isNegative)
    case 3: return .double(Double(bitPattern: random.next()))
    case 4:
      // Quiet and signalling, with every payload.
      return .double(Double(bitPattern: 0x7FF0_0000_0000_0001 | random.next()))
    case 5:
      return .string(["", "\0", "é", "e\u{301}", "\u{FFFF}\u{10FFFF}", "🪨"].randomElement(using: &random)!)
    case 6:
      let count = [0, 1, 9, byteCountMax, byteCountMax + 1].randomElement(using: &random)!
      return .bytes([UInt8](repeating: 0, count: count))
    case 7:
      return .array((0..<Int.random(in: 0...3, using: &random)).map { _ in document(depth - 1, &random) })
    case 8:
      let tag = [0, 1, 2, 3, 4, 37, 55_799, UInt64.max].randomElement(using: &random)!
      return .tagged(tag, document(depth - 1, &random))
    case 9:
      var nested = document(0, &random)
      let count = [1, 125, 126, 127, 128, 129, 200].randomElement(using: &random)!
      for level in 0..<count { nested = level % 2 == 0 ? .array([nested]) : .object(["n": nested]) }
      return nested
    default:
      var object: DocumentObject = [:]
      for key in ["", "\0", "é", "e\u{301}", "aa", "b"] where Bool.random(using: &random) {
        object[key] = document(depth - 1, &random)
      }
      return .object(object)
    }
  }

  /// Whether it has bytes under the tag of an integer, which are read as that integer.
  private static func hasTaggedInteger(_ value: DocumentValue) -> Bool {
    switch value {
    case .tagged(let tag, let value): tag == 2 || tag == 3 || hasTaggedInteger(value.value)
    case .array(let values): values.contains(where: hasTaggedInteger)
    case .object(let object): object.contains { hasTaggedInteger($0.value) }
    default: false
    }
  }

  @Test func `whatever an append accepts is read back, and whatever it refuses is not read`() async throws {
    var random = SeededGenerator(seed: StrataSimulation.SeededGenerator.testSeed())
    let store = EventStore.inMemory(clock: .fixed)
    var accepted: [DocumentValue] = []
    var (tooDeep, refused) = (0, 0)
    for number in 0..<2_000 {
      let document = Self.document(3, &random)
      do {
        try await store.append([NewEvent("t", in: "a/1", document)])
        accepted.append(document)
      } catch {
        guard document.depth <= CodecLimits.depthMax else {
          tooDeep += 1
          continue
        }
        refused += 1
        #expect(throws: CodecError.self, "document \(number)") { try DocumentValue(cbor: document.cbor()) }
      }
    }
    let events = try await store.events(in: "a/1", limit: accepted.count)
    try #require(events.count == accepted.count)
    for (event, document) in zip(events, accepted) {
      let read = try event.payload.document()
      #expect(Self.hasTaggedInteger(document) || read == document, "event \(event.sequence)")
    }
    #expect(accepted.count > 500 && tooDeep > 20 && refused > 40, "\(accepted.count), \(tooDeep), \(refused)")
    try await store.close()
  }
}
