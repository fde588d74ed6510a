// The path to an item, found from where the last one was, against the walk from the first byte.

@testable import StrataDocuments
import Testing

@Suite("Coding paths")
struct CodingPathTests {
  /// The keys and indices that lead to an offset: from the first byte, past everything in between.
  private func walk(_ bytes: UnsafeRawBufferPointer, to target: Int) -> [String] {
    var path: [String] = []
    var reader = CBORReader(bytes)
    while reader.offset < target, let step = try? step(&reader, towards: target) {
      if let key = step { path.append(key) }
    }
    return path
  }

  /// Moves from a container to the member that holds the target, from a tag to what it tags.
  private func step(_ reader: inout CBORReader, towards target: Int) throws(CodecError) -> String?? {
    let head = try reader.readHead()
    if case .tag = head { return .some(nil) }
    guard head.kind == .array || head.kind == .map else { return nil }
    var index = 0
    while true {
      let key = head.kind == .map ? "\"" + (try reader.readText()) : "\(index)"
      var member = reader
      try member.skip()
      if member.offset > target { return key }
      reader = member
      index += 1
    }
  }

  private func text(_ path: [any CodingKey]) -> [String] {
    path.map { key in key.intValue.map { "\($0)" } ?? "\"" + key.stringValue }
  }

  private func expectAgreement(_ bytes: [UInt8], _ targets: [Int]) {
    bytes.withUnsafeBytes { bytes in
      let state = DecodingState(bytes, userInfo: [:])
      for (place, target) in targets.enumerated() {
        let found = text(state.path(to: target))
        let expected = walk(bytes, to: target)
        #expect(found == expected, "to \(target) in \(hexDigits(Array(bytes))), behind \(targets[..<place])")
        if found != expected { return }
      }
      state.close()
      #expect(state.path(to: bytes.count).isEmpty, "none is read from memory that is gone")
    }
  }

  /// Every offset forwards and backwards, and some of them to and fro.
  private func orders(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [[Int]] {
    let all = Array(0...bytes.count + 2)
    let near = all.flatMap { [$0, max(0, $0 - 1), $0] }
    let any = (0..<60).map { _ in all[Int.random(in: 0..<all.count, using: &random)] }
    return [all, all.reversed(), near, any, all.shuffled(using: &random)]
  }

  @Test
  func `Offsets asked in any order have the paths of the walk from the first byte`() {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    print("SEED=\(seed)")
    var random = SeededGenerator(seed: seed)
    for _ in 0..<150 {
      var bytes = Array(DocumentRecipe().document(using: &random).cbor().prefix(400))
      for order in orders(bytes, &random) { expectAgreement(bytes, order) }
      bytes = RandomItem.bytes(using: &random)
      for order in orders(bytes, &random) { expectAgreement(bytes, order) }
    }
  }

  @Test
  func `Damaged bytes have the paths of the walk from the first byte, as far as it comes`() {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    print("SEED=\(seed)")
    var random = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      var bytes = RandomItem.bytes(using: &random)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      if random.chance(30) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
      for order in orders(bytes, &random) { expectAgreement(bytes, order) }
    }
  }

  /// The paths of attempts that failed, and of the decoders that made them. For one thread.
  private final class Attempts: @unchecked Sendable {
    var paths: [(found: [String], expected: [String])] = []
  }

  private static let attempts = CodingUserInfoKey(rawValue: "attempts")!

  /// A value that tries one kind after another, as types for any JSON do.
  private struct Anything: Decodable {
    init(from decoder: any Decoder) throws {
      let attempts = decoder.userInfo[CodingPathTests.attempts] as! Attempts
      let own = decoder.codingPath.map(\.stringValue)
      func fails<Value>(_ body: () throws -> Value) -> Bool {
        do { _ = try body() } catch let error as DecodingError {
          switch error {
          case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            attempts.paths.append((context.codingPath.map(\.stringValue), own))
          default: break
          }
          return true
        } catch {}
        return false
      }
      let single = try decoder.singleValueContainer()
      guard fails({ try single.decode(Bool.self) }), fails({ try single.decode(Double.self) }) else { return }
      if !fails({ try decoder.unkeyedContainer() }) {
        var items = try decoder.unkeyedContainer()
        while !items.isAtEnd { _ = try items.decode(Anything.self) }
      } else if !fails({ try decoder.container(keyedBy: DocumentKey.self) }) {
        let members = try decoder.container(keyedBy: DocumentKey.self)
        for key in members.allKeys.reversed() { _ = try members.decode(Anything.self, forKey: key) }
      } else {
        #expect(!fails { try single.decode(String.self) })
      }
    }
  }

  @Test
  func `A type that tries one kind after another gets the path of each failure`() throws {
    let members: DocumentValue = ["b": "x", "a": ["y", ["z": "w"]], "a longer key": .tagged(9, ["v"])]
    var items = (0..<200).map { $0 % 3 == 0 ? members : "s" }
    items.append(["t": [members]])
    let attempts = Attempts()
    var decoder = CBORDecoder()
    decoder.userInfo[Self.attempts] = attempts
    _ = try decoder.decode(Anything.self, from: DocumentValue.array(items).cbor())
    #expect(attempts.paths.allSatisfy { $0.found == $0.expected })
    let strings = attempts.paths.count { $0.found == ["Index 7"] }
    #expect(strings == 4, "Bool, Double, array and object")
    let deepest = ["Index 200", "t", "Index 0", "a longer key", "Index 0"]
    #expect(attempts.paths.contains { $0.found == deepest })
  }
}

/// Well-formed items as nobody writes them: long heads, indefinite lengths, chunks, tags, keys twice.
private enum RandomItem {
  static func bytes(using random: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    add(to: &bytes, depth: 4, &random)
    return bytes
  }

  private static func head(_ major: UInt8, _ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
    if count < 24, random.chance(70) { return [major | UInt8(count)] }
    if random.chance(50) { return [major | 24, UInt8(count)] }
    return [major | 25, 0, UInt8(count)]
  }

  private static func addText(to bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let text = Array(["", "a", "é", "key", "漢字"][Int.random(in: 0..<5, using: &random)].utf8)
    if random.chance(15) {
      bytes += [0x7F] + head(0x60, text.count, &random) + text + [0x60, 0xFF]
    } else {
      bytes += head(0x60, text.count, &random) + text
    }
  }

  private static func add(to bytes: inout [UInt8], depth: Int, _ random: inout SeededGenerator) {
    let count = Int.random(in: 0...5, using: &random)
    let isIndefinite = random.chance(30)
    switch Int.random(in: depth == 4 ? 4..<7 : 0..<(depth > 0 ? 7 : 4), using: &random) {
    case 0: bytes += head(0x00, Int.random(in: 0...255, using: &random), &random)
    case 1:
      bytes += [[0xF4], [0xF6], [0xF7], [0xF8, 0x63], [0xF9, 0x3C, 0]].randomElement(using: &random)!
    case 2: addText(to: &bytes, &random)
    case 3: bytes += head(0x40, count, &random) + random.bytes(count: count)
    case 4:
      bytes += head(0xC0, [0, 2, 9, 200].randomElement(using: &random)!, &random)
      add(to: &bytes, depth: max(0, depth - 1), &random)
    case 5:
      bytes += isIndefinite ? [0x9F] : head(0x80, count, &random)
      for _ in 0..<count { add(to: &bytes, depth: depth - 1, &random) }
      if isIndefinite { bytes.append(0xFF) }
    default:
      bytes += isIndefinite ? [0xBF] : head(0xA0, count, &random)
      for _ in 0..<count {
        addText(to: &bytes, &random)
        add(to: &bytes, depth: depth - 1, &random)
      }
      if isIndefinite { bytes.append(0xFF) }
    }
  }
}
