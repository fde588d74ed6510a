// The encoder and the containers that Codable requires, each of them a slot of the encoding state.

/// The encoder of a value into a slot. It has two words, so that an existential holds it without an allocation.
struct SlotEncoder: Encoder {
  let state: EncodingState
  let slot: Int

  var codingPath: [any CodingKey] { state.path(to: slot) }
  var userInfo: [CodingUserInfoKey: Any] { state.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    state.begin(.map, in: slot)
    return KeyedEncodingContainer(SlotKeyedContainer<Key>(state: state, slot: slot))
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
  let state: EncodingState
  let slot: Int

  var codingPath: [any CodingKey] { state.path(to: slot) }

  @inline(__always)
  private func child(_ key: Key) -> Int { state.appendChild(of: slot, key: key.stringValue) }

  func encodeNil(forKey key: Key) { state.encodeNil(in: child(key)) }
  func encode(_ value: Bool, forKey key: Key) { state.encode(value, in: child(key)) }
  func encode(_ value: String, forKey key: Key) { state.encode(value, in: child(key)) }
  func encode(_ value: Double, forKey key: Key) { state.encode(value, in: child(key)) }
  func encode(_ value: Float, forKey key: Key) { state.encode(Double(value), in: child(key)) }
  func encode(_ value: Int, forKey key: Key) { state.encode(Int64(value), in: child(key)) }
  func encode(_ value: Int8, forKey key: Key) { state.encode(Int64(value), in: child(key)) }
  func encode(_ value: Int16, forKey key: Key) { state.encode(Int64(value), in: child(key)) }
  func encode(_ value: Int32, forKey key: Key) { state.encode(Int64(value), in: child(key)) }
  func encode(_ value: Int64, forKey key: Key) { state.encode(value, in: child(key)) }
  func encode(_ value: Int128, forKey key: Key) { state.encode(DocumentValue(value), in: child(key)) }
  func encode(_ value: UInt, forKey key: Key) { state.encode(UInt64(value), in: child(key)) }
  func encode(_ value: UInt8, forKey key: Key) { state.encode(UInt64(value), in: child(key)) }
  func encode(_ value: UInt16, forKey key: Key) { state.encode(UInt64(value), in: child(key)) }
  func encode(_ value: UInt32, forKey key: Key) { state.encode(UInt64(value), in: child(key)) }
  func encode(_ value: UInt64, forKey key: Key) { state.encode(value, in: child(key)) }
  func encode(_ value: UInt128, forKey key: Key) { state.encode(DocumentValue(value), in: child(key)) }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try state.encode(value, in: child(key))
  }

  func nestedContainer<NestedKey: CodingKey>(
    keyedBy type: NestedKey.Type,
    forKey key: Key
  ) -> KeyedEncodingContainer<NestedKey> {
    SlotEncoder(state: state, slot: child(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    SlotEncoder(state: state, slot: child(key)).unkeyedContainer()
  }

  func superEncoder() -> any Encoder {
    SlotEncoder(state: state, slot: state.appendChild(of: slot, key: DocumentKey.superclass.stringValue))
  }

  func superEncoder(forKey key: Key) -> any Encoder { SlotEncoder(state: state, slot: child(key)) }
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
  func encode<Value: Encodable>(_ value: Value) throws { try state.encode(value, in: child()) }

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
  func encode<Value: Encodable>(_ value: Value) throws { try state.encode(value, in: slot) }
}
