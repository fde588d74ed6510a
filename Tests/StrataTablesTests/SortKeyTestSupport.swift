// Keys as arrays, random values, and a naive implementation of the order that keys must have.

internal import StrataDocuments
internal import StrataEvents
internal import StrataTables
internal import StrataSimulation

/// The bytes of one value's key.
func key<Value: SortKey>(_ value: Value, _ options: SortKeyOptions = []) -> [UInt8] {
  var writer = SortKeyWriter()
  writer.append(value, options)
  return writer.bytes
}

/// The bytes of one document value's key; nil for a missing field.
func key(document value: DocumentValue?, _ options: SortKeyOptions = []) throws(SortKeyError) -> [UInt8] {
  try key(cbor: value?.cbor(), options)
}

/// The bytes of the key of one CBOR item.
func key(cbor: [UInt8]?, _ options: SortKeyOptions = []) throws(SortKeyError) -> [UInt8] {
  var writer = SortKeyWriter()
  guard let cbor else {
    try writer.append(documentValue: nil, options)
    return writer.bytes
  }
  let result = cbor.withUnsafeBytes { bytes -> SortKeyError? in
    do throws(SortKeyError) {
      try writer.append(documentValue: bytes, options)
      return nil
    } catch { return error }
  }
  if let result { throw result }
  return writer.bytes
}

/// Reads one value, and checks that no bytes are left.
func decoded<Value: SortKey>(
  _ bytes: [UInt8], as type: Value.Type = Value.self, _ options: SortKeyOptions = []
) throws -> Value {
  try bytes.withUnsafeBytes { bytes in
    var reader = SortKeyReader(bytes)
    let value = try reader.read(Value.self, options)
    guard reader.isAtEnd else { throw SortKeyError.malformed }
    return value
  }
}

func decodedDocument(_ bytes: [UInt8], _ options: SortKeyOptions = []) throws -> DocumentValue {
  try bytes.withUnsafeBytes { bytes in
    var reader = SortKeyReader(bytes)
    let value = try reader.readDocumentValue(options)
    guard reader.isAtEnd else { throw SortKeyError.malformed }
    return value
  }
}

/// −1, 0 or 1 if the first comes before, equals, or comes after the second.
func order(_ a: [UInt8], _ b: [UInt8]) -> Int {
  a == b ? 0 : a.lexicographicallyPrecedes(b) ? -1 : 1
}

func order<Value: Comparable>(_ a: Value, _ b: Value) -> Int { a < b ? -1 : b < a ? 1 : 0 }

/// Whether the first is a proper prefix of the second.
func isProperPrefix(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.count < b.count && b.starts(with: a) }

/// A naive implementation of the order of document values.
enum DocumentOrder {
  static func compare(_ a: DocumentValue, _ b: DocumentValue) -> Int {
    let (rankA, rankB) = (rank(a), rank(b))
    if rankA != rankB { return order(rankA, rankB) }
    switch (a, b) {
    case (.string(let a), .string(let b)): return order(Array(a.utf8), Array(b.utf8))
    case (.bytes(let a), .bytes(let b)): return order(a, b)
    default:
      guard rankA == 3 else { return 0 }
      return order(scaled(a), scaled(b))
    }
  }

  static func rank(_ value: DocumentValue) -> Int {
    switch value {
    case .null: 0
    case .bool(false): 1
    case .bool(true): 2
    case .double(let double) where double.isNaN: 5
    case .double(.infinity): 4
    case .int, .uint, .bigInt, .double: 3
    case .string: 6
    case .bytes: 7
    default: 8
    }
  }

  /// A finite number times 2¹⁰⁷⁴, which is an integer; for −infinity, an integer below all of these.
  private static func scaled(_ value: DocumentValue) -> DocumentInteger {
    switch value {
    case .int(let value): return shifted(DocumentInteger(value), by: 1074)
    case .uint(let value): return shifted(DocumentInteger(value), by: 1074)
    case .bigInt(let value): return shifted(value, by: 1074)
    case .double(let value):
      if value == 0 { return DocumentInteger(0) }
      if value == -.infinity {
        return DocumentInteger(isNegative: true, magnitude: [1] + [UInt8](repeating: 0, count: 9000))
      }
      // The last bit of a double is worth 2 to the power of its ulp's exponent, which is −1074 or more.
      let unit = value.ulp
      let count = DocumentInteger(Int64(value.magnitude / unit))
      let magnitude = shifted(count, by: Int(unit.exponent) + 1074).magnitude
      return DocumentInteger(isNegative: value < 0, magnitude: magnitude)
    default: return DocumentInteger(0)
    }
  }

  private static func shifted(_ value: DocumentInteger, by bitCount: Int) -> DocumentInteger {
    var bytes = [0] + value.magnitude
    for _ in 0..<bitCount % 8 {
      for index in bytes.indices {
        bytes[index] = bytes[index] << 1 | (index + 1 < bytes.count ? bytes[index + 1] >> 7 : 0)
      }
    }
    return DocumentInteger(
      isNegative: value.isNegative, magnitude: bytes + [UInt8](repeating: 0, count: bitCount / 8))
  }
}

extension SeededGenerator {
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  mutating func bytes() -> [UInt8] {
    let alphabet: [UInt8] = [0, 0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, 0xFF]
    return (0..<Int.random(in: 0...(chance(10) ? 40 : 5), using: &self)).map { _ in
      alphabet.randomElement(using: &self) ?? 0
    }
  }

  mutating func text() -> String {
    let alphabet: [Unicode.Scalar] = [
      "a", "b", "A", "\u{0}", "\u{0}", "\u{1}", "é", "e", "\u{301}", "漢", "🪨", "\u{7F}", "\u{FFFF}", "0", "9",
    ]
    var text = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...(chance(10) ? 40 : 5), using: &self) {
      text.append(alphabet.randomElement(using: &self) ?? "a")
    }
    return String(text)
  }

  mutating func double() -> Double {
    let special: [Double] = [
      0, -0.0, .nan, -.nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0x1p53,
      0x1p53 + 2, 0x1p63, 0x1p64, -0x1p63, -0x1p64, 1.5, 0.1, 1e22, 0x1p1023,
    ]
    switch Int.random(in: 0..<4, using: &self) {
    case 0: return special.randomElement(using: &self) ?? 0
    case 1: return Double(Int.random(in: -4...4, using: &self)) / 2
    case 2: return Double(Int64(truncatingIfNeeded: next()))
    default: return Double(bitPattern: next())
    }
  }

  /// An integer of any length up to 64 bits, often next to a power of two.
  mutating func integer() -> Int64 {
    let value = Int64(truncatingIfNeeded: next()) >> Int64.random(in: 0..<64, using: &self)
    guard chance(40) else { return value }
    let power = Int64(1) << Int64.random(in: 0..<63, using: &self)
    return (chance(50) ? power : -power) &+ Int64.random(in: -2...2, using: &self)
  }

  mutating func bigInteger() -> DocumentInteger {
    let sizes = [8, 8, 9, 9, 16, 127, 128, 128, 129, 300]
    let count = sizes.randomElement(using: &self) ?? 9
    var magnitude = [UInt8](repeating: chance(50) ? 0xFF : 0, count: count)
    magnitude[0] = [1, 0x20, 0x80, 0xFF].randomElement(using: &self) ?? 1
    for _ in 0..<Int.random(in: 0...3, using: &self) {
      magnitude[Int.random(in: 0..<count, using: &self)] = UInt8.random(in: 0...255, using: &self)
    }
    return DocumentInteger(isNegative: chance(50), magnitude: magnitude)
  }

  /// A value that can be a key.
  mutating func scalar() -> DocumentValue {
    switch Int.random(in: 0..<9, using: &self) {
    case 0: .null
    case 1: .bool(chance(50))
    case 2, 3: DocumentValue(integer())
    case 4: DocumentValue(bigInteger())
    case 5, 6: .double(double())
    case 7: .string(text())
    default: .bytes(bytes())
    }
  }

  /// The same number or an adjacent one, of another type.
  mutating func neighbour(of value: DocumentValue) -> DocumentValue {
    switch value {
    case .int(let integer): chance(50) ? .double(Double(integer)) : DocumentValue(integer &+ 1)
    case .bigInt(let big):
      if big.magnitude.count <= 128 {
        .double(big.magnitude.reduce(0.0) { $0 * 256 + Double($1) } * (big.isNegative ? -1 : 1))
      } else {
        .double(big.isNegative ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude)
      }
    case .double(let double):
      if let exact = Int64(exactly: double) { DocumentValue(exact) } else { .double(double.nextUp) }
    default: scalar()
    }
  }
}
