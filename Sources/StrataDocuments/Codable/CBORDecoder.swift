// The decoder from CBOR to Codable values.

/// A decoder of any `Decodable` type from CBOR, without a `DocumentValue` in between.
///
/// It reads what `CBOREncoder` writes, and other forms in which documents may hold a value of the same type:
///
/// | Swift | document |
/// |---|---|
/// | integers | an integer, or a double with an integral value, within the type's range |
/// | `Double`, `Float` | a double or an integer, rounded to the nearest |
/// | `Date` | a string as in RFC 3339; seconds since 1970 with CBOR's tag 1 |
/// | `UUID` | a string; sixteen bytes |
/// | `Data` | bytes |
/// | `URL` | a string |
/// | `Decimal` | a number (a double is read as its shortest text), a string that is a decimal number, and nothing else |
/// | `DocumentValue` | anything that a document can hold |
/// | optional properties | absent, null or undefined for nil |
///
/// Other tags are ignored. Encodings that are not deterministic are accepted too. Keys are compared by their UTF-8
/// bytes, and an object that has a key twice is refused.
///
/// Errors are of type `DecodingError` and have the coding path of the item. Damaged bytes throw `.dataCorrupted` with
/// the `CodecError` as the underlying error. Decoding costs O(bytes) per level of nesting; finding a key costs O(log
/// k).
package struct CBORDecoder: Sendable {
  /// Values that types can read while they are decoded.
  package var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// Whether a key of an object is an error if the type that reads the object has no such key.
  package var refusesUnknownKeys = false

  package init() {}

  /// Decodes a value from bytes that are exactly one item. The bytes are not kept.
  package func decode<Value: Decodable>(
    _ type: Value.Type = Value.self,
    from bytes: UnsafeRawBufferPointer
  ) throws -> Value {
    var state = SpareDecodingState.take()
    state.begin(bytes, userInfo: userInfo)
    defer { SpareDecodingState.give(&state) }
    if refusesUnknownKeys { state.unknownKeys = UnknownKeys() }
    // Finding the keys of an object checks everything inside it, so another check is not needed.
    if !state.beginsWithMap { try state.checkIsOneItem() }
    let value = try state.decode(type, at: 0)
    if !state.isChecked { try state.checkIsOneItem() }
    if refusesUnknownKeys { try state.checkKeysAreKnown() }
    return value
  }

  /// Decodes an enum from the map of the associated values of one case, as if it were the value of a map with one key,
  /// the name of the case. The bytes are exactly one item.
  ///
  /// Equal short payloads may be decoded once, and give copies of one value: see `KeptValues`.
  package static func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, ofCase name: String, from payload: [UInt8]
  ) throws -> Value {
    // Nothing here runs inside of a closure: one that returns a value of any type takes longer than a short payload.
    var state = SpareDecodingState.take()
    defer { SpareDecodingState.give(&state) }
    state.begin(ofCase: name, payload)
    if let kept = state.keptValue(ObjectIdentifier(type)) {
      return kept.assumingMemoryBound(to: Value.self).pointee
    }
    try state.checkCase()
    let value = try type.init(from: ItemDecoder(state: state, offset: ItemDecoder.ofCase))
    if !state.isChecked { try state.checkIsOneItem() }
    if state.mayKeepValue { state.keep(value, ObjectIdentifier(type)) }
    return value
  }

  /// Decodes a value from bytes that are exactly one item.
  package func decode<Value: Decodable>(_ type: Value.Type = Value.self, from bytes: [UInt8]) throws -> Value
  {
    try bytes.withUnsafeBytes { try decode(type, from: $0) }
  }
}
