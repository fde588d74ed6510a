// The encoder and the containers that Codable requires, each of them a slot of the encoding state.

/// The encoder of a value into a slot. It has two words, so that an existential holds it without an allocation.
struct SlotEncoder: Encoder {
  let state: EncodingState
  let slot: Int

  var codingPath: [any CodingKey] { state.path(to: slot) }
  var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    state.begin(.map, in: slot)
    return state.container(keyedBy: type, in: slot)
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    state.begin(.array, in: slot)
    return SlotUnkeyedContainer(state: state, slot: slot)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    SlotSingleContainer(state: state, slot: slot)
  }
}

/// The container of an object that is being encoded.
struct SlotKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let unretained: Unmanaged<EncodingState>
  let slot: Int
  /// Keeps the state as long as it is needed: the state itself, or what the state keeps the container with.
  private let owner: AnyObject

  init(state: EncodingState, slot: Int, owner: AnyObject) {
    unretained = .passUnretained(state)
    self.slot = slot
    self.owner = owner
  }

  /// The state, which the owner keeps.
  @inline(__always)
  private func with<Result>(_ body: (EncodingState) throws -> Result) rethrows -> Result {
    try unretained._withUnsafeGuaranteedRef { try body($0) }
  }

  /// Calls the body with a new slot for the value of a key.
  @inline(__always)
  private func withChild<Result>(_ key: Key, _ body: (EncodingState, Int) -> Result) -> Result {
    with { state in body(state, state.appendChild(of: slot, key: key.stringValue)) }
  }

  var codingPath: [any CodingKey] { with { $0.path(to: slot) } }

  func encodeNil(forKey key: Key) { withChild(key) { $0.encodeNil(in: $1) } }
  func encode(_ value: Bool, forKey key: Key) { withChild(key) { $0.encode(value, in: $1) } }
  func encode(_ value: String, forKey key: Key) { withChild(key) { $0.encode(value, in: $1) } }
  func encode(_ value: Double, forKey key: Key) { withChild(key) { $0.encode(value, in: $1) } }
  func encode(_ value: Float, forKey key: Key) { withChild(key) { $0.encode(Double(value), in: $1) } }
  func encode(_ value: Int, forKey key: Key) { withChild(key) { $0.encode(Int64(value), in: $1) } }
  func encode(_ value: Int8, forKey key: Key) { withChild(key) { $0.encode(Int64(value), in: $1) } }
  func encode(_ value: Int16, forKey key: Key) { withChild(key) { $0.encode(Int64(value), in: $1) } }
  func encode(_ value: Int32, forKey key: Key) { withChild(key) { $0.encode(Int64(value), in: $1) } }
  func encode(_ value: Int64, forKey key: Key) { withChild(key) { $0.encode(value, in: $1) } }
  func encode(_ value: Int128, forKey key: Key) { withChild(key) { $0.encode(DocumentValue(value), in: $1) } }
  func encode(_ value: UInt, forKey key: Key) { withChild(key) { $0.encode(UInt64(value), in: $1) } }
  func encode(_ value: UInt8, forKey key: Key) { withChild(key) { $0.encode(UInt64(value), in: $1) } }
  func encode(_ value: UInt16, forKey key: Key) { withChild(key) { $0.encode(UInt64(value), in: $1) } }
  func encode(_ value: UInt32, forKey key: Key) { withChild(key) { $0.encode(UInt64(value), in: $1) } }
  func encode(_ value: UInt64, forKey key: Key) { withChild(key) { $0.encode(value, in: $1) } }
  func encode(_ value: UInt128, forKey key: Key) {
    withChild(key) { $0.encode(DocumentValue(value), in: $1) }
  }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try with { state in
      let last = state.lastChild(of: slot)
      let child = state.appendChild(of: slot, key: key.stringValue)
      do { try state.encode(value, in: child) } catch {
        state.remove(child, after: last)
        throw error
      }
    }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    withChild(key) { SlotEncoder(state: $0, slot: $1).container(keyedBy: type) }
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    withChild(key) { SlotEncoder(state: $0, slot: $1).unkeyedContainer() }
  }

  func superEncoder() -> any Encoder {
    with { state in
      SlotEncoder(state: state, slot: state.appendChild(of: slot, key: DocumentKey.superclass.stringValue))
    }
  }

  func superEncoder(forKey key: Key) -> any Encoder { withChild(key) { SlotEncoder(state: $0, slot: $1) } }
}

/// The container of an array that is being encoded.
struct SlotUnkeyedContainer: UnkeyedEncodingContainer {
  let state: EncodingState
  let slot: Int

  var codingPath: [any CodingKey] { state.path(to: slot) }
  var count: Int { state.count(of: slot) }

  @inline(__always)
  private func child() -> Int { state.appendChild(of: slot) }

  func encodeNil() { state.encodeNil(in: child()) }
  func encode(_ value: Bool) { state.encode(value, in: child()) }
  func encode(_ value: String) { state.encode(value, in: child()) }
  func encode(_ value: Double) { state.encode(value, in: child()) }
  func encode(_ value: Float) { state.encode(Double(value), in: child()) }
  func encode(_ value: Int) { state.encode(Int64(value), in: child()) }
  func encode(_ value: Int8) { state.encode(Int64(value), in: child()) }
  func encode(_ value: Int16) { state.encode(Int64(value), in: child()) }
  func encode(_ value: Int32) { state.encode(Int64(value), in: child()) }
  func encode(_ value: Int64) { state.encode(value, in: child()) }
  func encode(_ value: Int128) { state.encode(DocumentValue(value), in: child()) }
  func encode(_ value: UInt) { state.encode(UInt64(value), in: child()) }
  func encode(_ value: UInt8) { state.encode(UInt64(value), in: child()) }
  func encode(_ value: UInt16) { state.encode(UInt64(value), in: child()) }
  func encode(_ value: UInt32) { state.encode(UInt64(value), in: child()) }
  func encode(_ value: UInt64) { state.encode(value, in: child()) }
  func encode(_ value: UInt128) { state.encode(DocumentValue(value), in: child()) }
  func encode<Value: Encodable>(_ value: Value) throws {
    let last = state.lastChild(of: slot)
    let child = child()
    do { try state.encode(value, in: child) } catch {
      state.remove(child, after: last)
      throw error
    }
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type
  ) -> KeyedEncodingContainer<NestedKey> {
    SlotEncoder(state: state, slot: child()).container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    SlotEncoder(state: state, slot: child()).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { SlotEncoder(state: state, slot: child()) }
}

/// The container of a single scalar or other value.
struct SlotSingleContainer: SingleValueEncodingContainer {
  let state: EncodingState
  let slot: Int

  var codingPath: [any CodingKey] { state.path(to: slot) }

  func encodeNil() { state.encodeNil(in: slot) }
  func encode(_ value: Bool) { state.encode(value, in: slot) }
  func encode(_ value: String) { state.encode(value, in: slot) }
  func encode(_ value: Double) { state.encode(value, in: slot) }
  func encode(_ value: Float) { state.encode(Double(value), in: slot) }
  func encode(_ value: Int) { state.encode(Int64(value), in: slot) }
  func encode(_ value: Int8) { state.encode(Int64(value), in: slot) }
  func encode(_ value: Int16) { state.encode(Int64(value), in: slot) }
  func encode(_ value: Int32) { state.encode(Int64(value), in: slot) }
  func encode(_ value: Int64) { state.encode(value, in: slot) }
  func encode(_ value: Int128) { state.encode(DocumentValue(value), in: slot) }
  func encode(_ value: UInt) { state.encode(UInt64(value), in: slot) }
  func encode(_ value: UInt8) { state.encode(UInt64(value), in: slot) }
  func encode(_ value: UInt16) { state.encode(UInt64(value), in: slot) }
  func encode(_ value: UInt32) { state.encode(UInt64(value), in: slot) }
  func encode(_ value: UInt64) { state.encode(value, in: slot) }
  func encode(_ value: UInt128) { state.encode(DocumentValue(value), in: slot) }
  func encode<Value: Encodable>(_ value: Value) throws {
    let wasEmpty = !state.isFilled(slot)
    do { try state.encode(value, in: slot) } catch {
      if wasEmpty { state.clear(slot) }
      throw error
    }
  }
}
