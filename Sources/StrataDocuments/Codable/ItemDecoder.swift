// The decoder and the containers that Codable requires, each of them an offset into the input.

/// The decoder of the item at an offset. It has two words, so that an existential holds it without an allocation.
struct ItemDecoder: Decoder {
  /// The offset of an enum of which the input holds only the associated values, without the map of one key that names
  /// the case.
  static let ofCase = -1

  let state: DecodingState
  let offset: Int

  var codingPath: [any CodingKey] { state.path(to: offset) }
  var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    try state.container(keyedBy: type, at: offset)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let item = readable
    return try ItemUnkeyedContainer(state: item.state, offset: item.offset)
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    let item = readable
    return ItemSingleContainer(state: item.state, offset: item.offset)
  }

  /// The same item where there are bytes for it.
  private var readable: ItemDecoder {
    offset == Self.ofCase ? ItemDecoder(state: state.wholeMap(), offset: 0) : self
  }
}

/// The container of an object. It is one reference, since the standard library copies a container at every call.
struct ItemKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let index: MapIndex

  var codingPath: [any CodingKey] { state.path(to: index.offset) }

  var allKeys: [Key] {
    // The key of an enum is asked for again at every value.
    if let caseName = index.caseName { return index.keys(ofCase: caseName) }
    return index.keys.compactMap { Key(stringValue: $0) }
  }

  func contains(_ key: Key) -> Bool { index.value(of: key.stringValue) != nil }

  @inline(__always)
  private var state: DecodingState { index.state }

  @inline(__always)
  private func item(_ key: some CodingKey) throws -> Int {
    guard let item = index.value(of: key.stringValue) else { throw missing(key) }
    return item
  }

  /// Reads the value of a key.
  @inline(__always)
  private func read<Value>(_ key: Key, _ body: (DecodingState, Int) throws -> Value) throws -> Value {
    let item = try item(key)
    return try index.withState { try body($0, item) }
  }

  private func missing(_ key: some CodingKey) -> DecodingError {
    .keyNotFound(key, .init(codingPath: codingPath, debugDescription: "no key \"\(key.stringValue)\""))
  }

  func decodeNil(forKey key: Key) throws -> Bool { try read(key) { $0.isNull(at: $1) } }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try read(key) { try $0.decodeBool(at: $1) }
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try read(key) { try $0.decodeString(at: $1) }
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try read(key) { try $0.decodeDouble(at: $1) }
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try read(key) { try $0.decodeFloat(at: $1) }
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try read(key) { try $0.decodeInteger(type, at: $1) }
  }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try read(key) { try $0.decode(type, at: $1) }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try ItemDecoder(state: state, offset: item(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try ItemUnkeyedContainer(state: state, offset: item(key))
  }

  func superDecoder() throws -> any Decoder {
    state.unknownKeys?.open(index) { $0 == DocumentKey.superclass.stringValue }
    return ItemDecoder(state: state, offset: try item(DocumentKey.superclass))
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    ItemDecoder(state: state, offset: try item(key))
  }
}

/// The container of an array, and the position up to which it has been decoded.
struct ItemUnkeyedContainer: UnkeyedDecodingContainer {
  let state: DecodingState
  let offset: Int
  let count: Int?
  private(set) var currentIndex = 0
  private var next: Int

  init(state: DecodingState, offset: Int) throws {
    self.state = state
    self.offset = offset
    var reader = state.reader(at: offset)
    do {
      var head = try reader.readHead()
      while case .tag = head { head = try reader.readHead() }
      guard case .array(let announced) = head else { throw state.mismatch(head, [Any].self, at: offset) }
      next = reader.offset
      count = try announced ?? Self.countItems(reader)
    } catch let error as CodecError {
      throw state.corrupted(error, path: state.path(to: offset))
    }
  }

  private static func countItems(_ reader: CBORReader) throws(CodecError) -> Int {
    var reader = reader
    var count = 0
    while !(try reader.readBreak()) {
      try reader.skip()
      count += 1
    }
    return count
  }

  var codingPath: [any CodingKey] { state.path(to: offset) }
  var isAtEnd: Bool { currentIndex >= count ?? 0 }

  /// Decodes the next item, and moves past it only if decoding succeeds.
  @inline(__always)
  private mutating func advance<Value>(_ type: Any.Type, _ body: (DecodingState, Int) throws -> Value) throws
    -> Value
  {
    guard !isAtEnd else {
      let path = codingPath + [DocumentKey(intValue: currentIndex)]
      throw DecodingError.valueNotFound(type, .init(codingPath: path, debugDescription: "the array ends"))
    }
    let value = try body(state, next)
    next = try state.end(ofItemAt: next)
    currentIndex += 1
    return value
  }

  mutating func decodeNil() throws -> Bool {
    guard !isAtEnd, state.isNull(at: next) else {
      return isAtEnd ? try advance(Never.self) { _, _ in false } : false
    }
    return try advance(Never.self) { _, _ in true }
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool { try advance(type) { try $0.decodeBool(at: $1) } }
  mutating func decode(_ type: String.Type) throws -> String {
    try advance(type) { try $0.decodeString(at: $1) }
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try advance(type) { try $0.decodeDouble(at: $1) }
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try advance(type) { try $0.decodeFloat(at: $1) }
  }
  mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try advance(type) { try $0.decode(type, at: $1) }
  }

  private mutating func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value {
    try advance(type) { try $0.decodeInteger(type, at: $1) }
  }

  mutating func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) throws -> KeyedDecodingContainer<NestedKey> {
    try advance([String: Any].self) {
      try ItemDecoder(state: $0, offset: $1).container(keyedBy: type)
    }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try advance([Any].self) { try ItemUnkeyedContainer(state: $0, offset: $1) }
  }

  mutating func superDecoder() throws -> any Decoder {
    try advance((any Decoder).self) { ItemDecoder(state: $0, offset: $1) }
  }
}

/// The container of a single item of any kind.
struct ItemSingleContainer: SingleValueDecodingContainer {
  let state: DecodingState
  let offset: Int

  var codingPath: [any CodingKey] { state.path(to: offset) }

  func decodeNil() -> Bool { state.isNull(at: offset) }
  func decode(_ type: Bool.Type) throws -> Bool { try state.decodeBool(at: offset) }
  func decode(_ type: String.Type) throws -> String { try state.decodeString(at: offset) }
  func decode(_ type: Double.Type) throws -> Double { try state.decodeDouble(at: offset) }
  func decode(_ type: Float.Type) throws -> Float { try state.decodeFloat(at: offset) }
  func decode(_ type: Int.Type) throws -> Int { try state.decodeInteger(type, at: offset) }
  func decode(_ type: Int8.Type) throws -> Int8 { try state.decodeInteger(type, at: offset) }
  func decode(_ type: Int16.Type) throws -> Int16 { try state.decodeInteger(type, at: offset) }
  func decode(_ type: Int32.Type) throws -> Int32 { try state.decodeInteger(type, at: offset) }
  func decode(_ type: Int64.Type) throws -> Int64 { try state.decodeInteger(type, at: offset) }
  func decode(_ type: Int128.Type) throws -> Int128 { try state.decodeInteger(type, at: offset) }
  func decode(_ type: UInt.Type) throws -> UInt { try state.decodeInteger(type, at: offset) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try state.decodeInteger(type, at: offset) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try state.decodeInteger(type, at: offset) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try state.decodeInteger(type, at: offset) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try state.decodeInteger(type, at: offset) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try state.decodeInteger(type, at: offset) }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try state.decode(type, at: offset) }
}
