// CBOR to Codable values: the public face.

/// Decodes any `Decodable` from CBOR, without a detour through `DocumentValue`.
///
/// It reads what `CBOREncoder` writes, and what documents from elsewhere may hold for the same type:
///
/// | Swift | document |
/// |---|---|
/// | integers | an integer, or a double that is one, within the type's range |
/// | `Double`, `Float` | a double or an integer, rounded to the nearest |
/// | `Date` | a string as in RFC 3339; seconds since 1970 with CBOR's tag 1 |
/// | `UUID` | a string; sixteen bytes |
/// | `Data` | bytes |
/// | `URL` | a string |
/// | `Decimal` | a number (a double stands for its shortest text), a string of digits |
/// | `DocumentValue` | anything that a document can hold |
/// | optional properties | absent, null or undefined for nil |
///
/// Tags are otherwise ignored. Encodings that are not deterministic are read too. Keys are compared by UTF-8,
/// and an object with a key twice is refused.
///
/// Errors are `DecodingError`s with the path to the place; damaged bytes are `.dataCorrupted` with the
/// `CodecError` underneath. Decoding costs O(bytes) per level of nesting; finding a key O(log k).
public struct CBORDecoder: Sendable {
  /// What types can ask for while they are decoded.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  public init() {}

  /// The value of the one item that takes up all the bytes. The bytes are not kept.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self,
    from bytes: UnsafeRawBufferPointer
  ) throws -> Value {
    let state = DecodingState(bytes, userInfo: userInfo)
    defer { state.close() }
    // An object checks everything inside it when its keys are found; once is enough.
    if !state.beginsWithMap { try state.checkIsOneItem() }
    let value = try state.decode(type, at: 0)
    if !state.isChecked { try state.checkIsOneItem() }
    return value
  }

  /// The value of the one item that takes up all the bytes.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from bytes: [UInt8]) throws -> Value {
    try bytes.withUnsafeBytes { try decode(type, from: $0) }
  }
}
