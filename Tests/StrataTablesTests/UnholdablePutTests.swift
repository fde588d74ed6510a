// Puts of values that no document can hold: rejected in every encoding, and never merged into.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLog
@testable internal import StrataPast
@testable internal import StrataTables
internal import StrataSimulation
internal import Testing

@Suite struct UnholdablePutTests {
  /// {"a": a value that no document can hold}, in the deterministic encoding and in others.
  private struct Spellings: CustomTestStringConvertible {
    var testDescription: String
    var deterministic: [UInt8]
    var others: [[UInt8]]

    static let all = [
      Spellings(
        testDescription: "undefined", deterministic: [0xA1, 0x61, 0x61, 0xF7],
        others: [[0xB8, 0x01, 0x61, 0x61, 0xF7], [0xBF, 0x61, 0x61, 0xF7, 0xFF]]),
      Spellings(
        testDescription: "a simple value", deterministic: [0xA1, 0x61, 0x61, 0xF8, 0x63],
        others: [[0xA1, 0x78, 0x01, 0x61, 0xF8, 0x63], [0xBF, 0x61, 0x61, 0xF8, 0x63, 0xFF]]),
      Spellings(
        testDescription: "a key that is an integer", deterministic: [0xA1, 0x01, 0x02],
        others: [[0xA1, 0x18, 0x01, 0x02], [0xBF, 0x01, 0x02, 0xFF]]),
      Spellings(
        testDescription: "a key that is a list, further in",
        deterministic: [0xA1, 0x61, 0x61, 0x81, 0xA1, 0x80, 0x02],
        others: [[0xA1, 0x61, 0x61, 0x81, 0xA1, 0x80, 0x18, 0x02]]),
      Spellings(
        testDescription: "an integer's tag on a text", deterministic: [0xA1, 0x61, 0x61, 0xC2, 0x61, 0x62],
        others: [[0xA1, 0x61, 0x61, 0xD8, 0x02, 0x61, 0x62], [0xBF, 0x61, 0x61, 0xC3, 0x61, 0x62, 0xFF]]),
      Spellings(
        testDescription: "an integer that is too long",
        deterministic: [0xA1, 0x61, 0x61, 0xC2, 0x59, 0x10, 0x01] + [UInt8](repeating: 1, count: 4_097),
        others: [
          [0xA1, 0x61, 0x61, 0xC2, 0x5A, 0, 0, 0x10, 0x01] + [UInt8](repeating: 1, count: 4_097)
        ]),
    ]
  }

  /// The content of a table after such a put over a valid row, and after a merge that follows it.
  private struct Outcome: Equatable {
    var countAfterPut: Int
    var problemCountAfterPut: Int
    var merged: [DocumentValue] = []
    var problemCountAfterMerge: Int
  }

  private func outcome(_ bytes: [UInt8]) async throws -> Outcome {
    let store = EventStore.inMemory()
    let put = EventPayload(codec: .cbor, bytes: bytes)
    try await store.append([
      NewEvent(DocumentEvent.put, in: "t/1", payload: EventPayload(["kept": 1])),
      NewEvent(DocumentEvent.put, in: "t/1", payload: put),
    ])
    let fold = Fold(store.log, .documents(only: nil))
    try fold.run(through: .max)
    let (count, problemCount) = (fold.state["t"].count, fold.state["t"].problems.count)
    try await store.append([NewEvent(DocumentEvent.merge, in: "t/1", payload: EventPayload(["b": 2]))])
    try fold.run(through: .max)
    var merged: [DocumentValue] = []
    try fold.state["t"].forEachRow { merged.append(try DocumentValue(cbor: $0.document)) }
    return Outcome(
      countAfterPut: count, problemCountAfterPut: problemCount, merged: merged,
      problemCountAfterMerge: fold.state["t"].problems.count)
  }

  @Test(arguments: Spellings.all)
  private func `what no document can hold takes the row out and says why, whatever its spelling`(
    _ spellings: Spellings
  ) async throws {
    #expect(CBORReader.isDeterministic(spellings.deterministic))
    let refused = Outcome(
      countAfterPut: 0, problemCountAfterPut: 1, merged: [["b": 2]], problemCountAfterMerge: 0)
    #expect(try await outcome(spellings.deterministic) == refused)
    for bytes in spellings.others {
      #expect(!CBORReader.isDeterministic(bytes))
      #expect(try await outcome(bytes) == refused)
    }
  }

  @Test func `a merge into a row that cannot be read refuses the row, and makes no document of its own`()
    async throws
  {
    let store = EventStore.inMemory()
    try await store.append([
      NewEvent(DocumentEvent.merge, in: "t/1", payload: EventPayload(["b": 2])),
      NewEvent(DocumentEvent.put, in: "t/1", payload: EventPayload(["c": 3])),
    ])
    for bytes: [UInt8] in [[0xA1, 0x61, 0x61, 0xF7], [0xA1, 0x61], []] {
      var set = TableSet()
      let scratch = FoldScratch()
      Array("1".utf8).withUnsafeBytes { id in
        bytes.withUnsafeBytes { document in
          set.withTable("t") {
            $0.put(id: id, document: document, at: Stamp(sequence: 0, time: 0), scratch)
          }
        }
      }
      #expect(set["t"].count == 1)
      var counts: [[Int]] = []
      var cursor = store.log.cursor(after: 0)
      let folding = Folding.documents(only: nil)
      while let block = try cursor.next() {
        try block.forEachEvent { event, _, sequence throws(ContentProblem) in
          folding.apply(event, at: Stamp(sequence: sequence, time: 0), to: &set, scratch, KeptRows())
          counts.append([set["t"].count, set["t"].problems.count])
        }
      }
      #expect(counts == [[0, 1], [1, 0]], "the row must be rejected, and repaired by the next put")
    }
  }

  @Test func `bytes that are kept as they came are those that the document of them is written as`() {
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    var (kept, refused) = (0, 0)
    for _ in 0..<20_000 {
      var bytes = RandomCBOR.item(depth: 3, &random)
      if Int.random(in: 0..<3, using: &random) == 0 {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] = UInt8.random(in: 0...255, using: &random)
      }
      let isKept = bytes.withUnsafeBytes { CBORReader.isDeterministicDocument($0) }
      let written = (try? DocumentValue(cbor: bytes)).map { $0.cbor() }
      #expect(isKept == (written == bytes), "\(bytes.map { String($0, radix: 16) }), SEED=\(seed)")
      let isDeterministic = CBORReader.isDeterministic(bytes)
      #expect(!isKept || isDeterministic)
      if isKept { kept += 1 } else if isDeterministic { refused += 1 }
    }
    #expect(kept > 1_000 && refused > 1_000)
  }
}

/// Random items in the deterministic encoding, which may or may not be documents.
private enum RandomCBOR {
  static func item(depth: Int, _ random: inout SeededGenerator) -> [UInt8] {
    let count = Int.random(in: 0...4, using: &random)
    switch Int.random(in: 0..<(depth > 0 ? 14 : 9), using: &random) {
    case 0: return DocumentValue(Int64(truncatingIfNeeded: random.next()) >> Int64(count * 15)).cbor()
    case 1: return DocumentValue(random.next() >> UInt64(count * 15)).cbor()
    case 2: return DocumentValue.double(Double(bitPattern: random.next())).cbor()
    case 3:
      let value = [0, -0.0, 1.5, .nan, .infinity].randomElement(using: &random)!
      return DocumentValue.double(value).cbor()
    case 4: return [[0xF4], [0xF5], [0xF6]].randomElement(using: &random)!
    case 5:
      let bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      return DocumentValue.bytes(bytes).cbor()
    case 6: return text(&random)
    case 7:
      let magnitude = (0..<count * 5).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      return DocumentValue(DocumentInteger(isNegative: count % 2 == 0, magnitude: magnitude)).cbor()
    case 8:
      guard Int.random(in: 0..<3, using: &random) == 0 else { return text(&random) }
      return [[0xF7], [0xE5], [0xF8, 0x63]].randomElement(using: &random)!
    case 9:
      return [[0xC2], [0xC3], [0xC9], [0xD8, 0x25]].randomElement(using: &random)!
        + item(depth: depth - 1, &random)
    case 10, 11:
      var bytes = [0x80 | UInt8(count)]
      for _ in 0..<count { bytes += item(depth: depth - 1, &random) }
      return bytes
    default:
      var keys: Set<[UInt8]> = []
      for _ in 0..<count {
        let isText = Int.random(in: 0..<12, using: &random) > 0
        keys.insert(isText ? text(&random) : item(depth: depth - 1, &random))
      }
      var bytes = [0xA0 | UInt8(keys.count)]
      for key in keys.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
        bytes += key + item(depth: depth - 1, &random)
      }
      return bytes
    }
  }

  private static func text(_ random: inout SeededGenerator) -> [UInt8] {
    let alphabet = ["a", "b", "é", "e\u{301}", "漢", "\u{0}", "a longer text than twenty-four bytes"]
    let count = Int.random(in: 0...3, using: &random)
    let parts = (0..<count).map { _ in alphabet.randomElement(using: &random)! }
    return DocumentValue.string(parts.joined()).cbor()
  }
}
