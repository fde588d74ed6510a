// A decoder that draws what a type asks for.

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What all decoders of one value share: where they draw from.
final class DrawingState {
  private var choices: Choices?
  private let overrides: [ObjectIdentifier: @Sendable (inout Choices) throws(Rejection) -> any Sendable]
  private static let depthMax = 16

  init(
    choices: consuming Choices,
    overrides: [ObjectIdentifier: @Sendable (inout Choices) throws(Rejection) -> any Sendable]
  ) {
    self.choices = consume choices
    self.overrides = overrides
  }

  func giveBack() -> Choices { choices.take()! }

  /// Draws with a generator, or throws its rejection.
  func draw<Value>(_ generator: Gen<Value>) throws -> Value { try choices!.draw(generator) }

  func index(weights: [Int]) throws -> Int { try choices!.index(weights: weights) }

  func list(ifRandom wanted: Bool) throws -> Bool { try choices!.flag(forced: nil, ifRandom: wanted) }

  /// How many elements a list should have at a depth of nesting.
  func hint(depth: Int) -> Int {
    choices!.hint(through: depth > 4 ? 0 : min(choices!.size, 8) / (depth + 1) + 1)
  }

  func openElement() -> Int { choices!.openElement() }
  func close(_ index: Int) { choices!.close(index) }
  func drop(_ index: Int) { choices!.drop(index) }

  func draw<Value: Decodable>(_ type: Value.Type, depth: Int) throws -> Value {
    guard depth <= Self.depthMax else { throw Rejection.unsuitable }
    if let override = overrides[ObjectIdentifier(type)], let value = try override(&choices!) as? Value {
      return value
    }
    switch type {
    case is Date.Type: return try cast(draw(Gen<Date>.date))
    case is Decimal.Type: return try cast(draw(Gen<Decimal>.decimal))
    case is UUID.Type: return try cast(draw(Gen<UUID>.uuid))
    case is Data.Type: return try cast(draw(Gen<Data>.data()))
    case is URL.Type:
      let path = try draw(Gen<String>.string(of: "abcdefghij", count: 0...8))
      return try cast(URL(string: "https://example.org/\(path)"))
    default: break
    }
    if let cases = EnumCases.all(of: type) {
      return cases[try choices!.index(below: cases.count)]
    }
    return try span { try Value(from: DrawingDecoder(state: self, depth: depth + 1)) }
  }

  /// Draws the keys of a dictionary, without any twice.
  func dictionaryKeys(depth: Int) -> [String] {
    let most = depth > 4 ? 1 : 4
    let keys = (try? draw(Gen<String>.string(of: "abcdefghij", count: 1...3).array(count: 0...most))) ?? []
    return Array(Set(keys)).sorted()
  }

  /// What `init(from:)` draws belongs together.
  private func span<Value>(_ body: () throws -> Value) throws -> Value {
    let index = choices!.open(Value.self)
    let value = try body()
    close(index)
    return value
  }

  /// Draws a value of a type that is known without asking it.
  func primitive<Value: Decodable>(_ type: Value.Type) throws -> Value {
    if let override = overrides[ObjectIdentifier(type)], let value = try override(&choices!) as? Value {
      return value
    }
    switch type {
    case is Bool.Type: return try cast(draw(Gen<Bool>.bool))
    case is String.Type: return try cast(draw(Gen<String>.string(count: 0...12)))
    case is Double.Type: return try cast(draw(Gen<Double>.double.filter(tries: 100) { $0.isFinite }))
    case is Float.Type: return try cast(Float(draw(Gen<Double>.double(in: -1e30...1e30))))
    case let type as any FixedWidthInteger.Type: return try cast(integer(type))
    default: throw Rejection.unsuitable
    }
  }

  private func cast<Value>(_ value: Any?) throws -> Value {
    guard let value = value as? Value else { throw Rejection.unsuitable }
    return value
  }

  private func integer<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    if Number.bitWidth <= 64 { return try choices!.integer(in: Number.min...Number.max) }
    return Number(truncatingIfNeeded: try choices!.integer(in: Int64.min...Int64.max))
  }
}

/// A decoder of a value that does not exist yet.
struct DrawingDecoder: Decoder {
  let state: DrawingState
  let depth: Int
  var codingPath: [any CodingKey] = []
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(state: DrawingState, depth: Int, codingPath: [any CodingKey] = []) {
    (self.state, self.depth, self.codingPath) = (state, depth, codingPath)
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(DrawingFields<Key>(decoder: self))
  }
  func unkeyedContainer() throws -> any UnkeyedDecodingContainer { DrawingElements(decoder: self) }
  func singleValueContainer() throws -> any SingleValueDecodingContainer { DrawingValue(decoder: self) }
}

/// The fields of a struct, the one case of an enum, or the keys of a dictionary.
private struct DrawingFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private final class Keys { var drawn: [Key]? }

  let decoder: DrawingDecoder
  private let keys = Keys()
  var codingPath: [any CodingKey] { decoder.codingPath }
  private var state: DrawingState { decoder.state }

  init(decoder: DrawingDecoder) { self.decoder = decoder }

  /// Only enums and dictionaries ask which keys there are. An enum's keys are its cases, of which a value has one.
  var allKeys: [Key] {
    if let drawn = keys.drawn { return drawn }
    // A rejection leaves no key, and the next draw throws it again.
    if let cases = EnumCases.all(of: Key.self), !cases.isEmpty {
      keys.drawn = (try? state.draw(.int(in: 0...cases.count - 1))).map { [cases[$0]] } ?? []
    } else {
      keys.drawn = state.dictionaryKeys(depth: decoder.depth).compactMap { Key(stringValue: $0) }
    }
    return keys.drawn ?? []
  }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) throws -> Bool { try state.index(weights: [1, 4]) == 0 }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try state.draw(type, depth: decoder.depth)
  }
  func nestedContainer<Other: CodingKey>(
    keyedBy type: Other.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Other> { try inner(key).container(keyedBy: type) }
  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try inner(key).unkeyedContainer()
  }
  func superDecoder() throws -> any Decoder { decoder }
  func superDecoder(forKey key: Key) throws -> any Decoder { inner(key) }
  private func inner(_ key: Key) -> DrawingDecoder {
    DrawingDecoder(state: state, depth: decoder.depth + 1, codingPath: codingPath + [key])
  }
}

/// The elements of a list.
private struct DrawingElements: UnkeyedDecodingContainer {
  let decoder: DrawingDecoder
  private(set) var currentIndex = 0
  private var wanted: Int
  private var element = -1
  private var isOver: Bool?
  var codingPath: [any CodingKey] { decoder.codingPath }
  var count: Int? { nil }
  private var state: DrawingState { decoder.state }

  init(decoder: DrawingDecoder) {
    self.decoder = decoder
    wanted = decoder.state.hint(depth: decoder.depth)
    begin()
  }

  var isAtEnd: Bool { isOver ?? true }

  /// Draws whether there is another element. A rejection ends the list, and the next draw throws it again.
  private mutating func begin() {
    let index = state.openElement()
    if (try? state.list(ifRandom: currentIndex < wanted)) == true {
      (element, isOver) = (index, false)
    } else {
      state.drop(index)
      isOver = true
    }
  }

  private mutating func next<Value>(_ draw: () throws -> Value) throws -> Value {
    guard !isAtEnd else { throw Rejection.unsuitable }
    let value = try draw()
    state.close(element)
    currentIndex += 1
    begin()
    return value
  }

  mutating func decodeNil() throws -> Bool {
    guard try state.index(weights: [1, 4]) == 0 else { return false }
    return try next { true }
  }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let (state, depth) = (state, decoder.depth)
    return try next { try state.draw(type, depth: depth) }
  }
  mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key>
  {
    let inner = inner
    return try next { try inner.container(keyedBy: type) }
  }
  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let inner = inner
    return try next { try inner.unkeyedContainer() }
  }
  mutating func superDecoder() throws -> any Decoder { decoder }
  private var inner: DrawingDecoder {
    DrawingDecoder(state: state, depth: decoder.depth + 1, codingPath: codingPath)
  }
}

/// One value.
private struct DrawingValue: SingleValueDecodingContainer {
  let decoder: DrawingDecoder
  var codingPath: [any CodingKey] { decoder.codingPath }

  func decodeNil() -> Bool { (try? decoder.state.index(weights: [1, 4]) == 0) ?? true }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    // The type itself asks for what it is: a number for a number.
    if isPrimitive(type) { return try decoder.state.primitive(type) }
    return try decoder.state.draw(type, depth: decoder.depth)
  }

  private func isPrimitive<Value>(_ type: Value.Type) -> Bool {
    type is Bool.Type || type is String.Type || type is Double.Type || type is Float.Type
      || type is any FixedWidthInteger.Type
  }
}
