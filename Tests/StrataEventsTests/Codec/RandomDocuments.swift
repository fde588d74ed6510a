// Documents drawn at random, reproducible from a seed that failing tests print.

import StrataDocuments
import StrataEvents

/// The SplitMix64 generator: small, fast, the same everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }

  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  mutating func bytes(count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }
}

/// What a random document may contain.
struct DocumentRecipe {
  var depth = 4
  /// Only what JSON text can say: no bytes, tags, NaN, infinities.
  var isJSON = false
  var hasNulls = true

  func document(using random: inout SeededGenerator) -> DocumentValue {
    value(depth: depth, using: &random)
  }

  func object(using random: inout SeededGenerator) -> DocumentValue {
    .object(members(depth: depth, using: &random))
  }

  private func value(depth: Int, using random: inout SeededGenerator) -> DocumentValue {
    switch Int.random(in: 0..<(depth > 0 ? 14 : 10), using: &random) {
    case 0: return hasNulls ? .null : .bool(true)
    case 1: return .bool(Bool.random(using: &random))
    case 2, 3:
      return DocumentValue(
        Int64(truncatingIfNeeded: random.next()) >> Int64.random(in: 0..<64, using: &random))
    case 4: return DocumentValue(UInt64.max - UInt64.random(in: 0...9, using: &random))
    case 5:
      let bytes = random.bytes(count: Int.random(in: 0...20, using: &random))
      return DocumentValue(DocumentInteger(isNegative: Bool.random(using: &random), magnitude: bytes))
    case 6: return .double(double(using: &random))
    case 7, 8: return .string(string(using: &random))
    case 9:
      if isJSON { return .string(string(using: &random)) }
      if depth > 0, random.chance(30) {
        return .tagged(UInt64.random(in: 4...70_000, using: &random), value(depth: depth - 1, using: &random))
      }
      return .bytes(random.bytes(count: Int.random(in: 0...40, using: &random)))
    case 10, 11:
      return .array(
        (0..<Int.random(in: 0...6, using: &random)).map { _ in value(depth: depth - 1, using: &random) })
    default: return .object(members(depth: depth - 1, using: &random))
    }
  }

  private func members(depth: Int, using random: inout SeededGenerator) -> DocumentObject {
    var object: DocumentObject = [:]
    let countMax = random.chance(5) ? 60 : 7
    for _ in 0..<Int.random(in: 0...countMax, using: &random) {
      object[string(using: &random)] = value(depth: max(depth, 0), using: &random)
    }
    return object
  }

  private func double(using random: inout SeededGenerator) -> Double {
    switch Int.random(in: 0..<7, using: &random) {
    case 0: return Double(Int.random(in: -1000...1000, using: &random)) / 8
    case 1: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: random.next() >> 34)))
    case 2: return Double.random(in: -1e6...1e6, using: &random)
    case 3:
      let special: [Double] = [
        0, -0.0, .leastNonzeroMagnitude, 65504, 65536, 0x1p-24, 0x1p-25, 1e22, 1e23, .greatestFiniteMagnitude,
      ]
      return special[Int.random(in: 0..<special.count, using: &random)]
    case 4 where !isJSON: return [.nan, .infinity, -.infinity][Int.random(in: 0..<3, using: &random)]
    default:
      let any = Double(bitPattern: random.next())
      return isJSON && !any.isFinite ? 0.1 : any
    }
  }

  private func string(using random: inout SeededGenerator) -> String {
    let alphabet: [Unicode.Scalar] = [
      "a", "b", "k", "é", "e", "\u{301}", "\u{0}", "\n", "\"", "\\", "/", "漢", "🪨", "\u{7f}", "\u{ffff}",
      "\u{1f}",
    ]
    var text = ""
    let countMax = random.chance(10) ? 80 : 6
    for _ in 0..<Int.random(in: 0...countMax, using: &random) {
      text.unicodeScalars.append(alphabet[Int.random(in: 0..<alphabet.count, using: &random)])
    }
    return text
  }
}

/// The bytes of hexadecimal digits; spaces are ignored.
func hex(_ digits: String) -> [UInt8] {
  let nibbles = digits.compactMap(\.hexDigitValue)
  return stride(from: 0, to: nibbles.count, by: 2).map { UInt8(nibbles[$0] << 4 | nibbles[$0 + 1]) }
}

/// The hexadecimal digits of bytes.
func hexDigits(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
