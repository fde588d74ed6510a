// Codable values to CBOR: the public face.

/// Encodes any `Encodable` as a document in deterministic CBOR, without a detour through `DocumentValue`.
///
/// The result is what `DocumentValue(cbor:)` reads and `logreplay` shows, so types are written in the way
/// that JSON and filters can use:
///
/// | Swift | document |
/// |---|---|
/// | integers of any width | integer |
/// | `Double`, `Float` | double, also where it is whole |
/// | `Date` | string, RFC 3339 in UTC with nine digits; eighteen where nine would not bring it back exactly |
/// | `UUID` | string of 36 characters, capitals |
/// | `Data` | bytes |
/// | `URL` | string, absolute |
/// | `Decimal` | integer; double where its shortest text is the decimal; else string |
/// | `DocumentValue` | itself |
/// | `[String: T]`, `[Int: T]` | object |
///
/// A nil property is left out by synthesized code; `encodeNil` writes null. A key that is written twice holds
/// what was written last. Equal keyed values give equal bytes whatever the order of encoding.
///
/// A value costs O(bytes written), and O(k log k) for an object of k keys; the encoder is a value, and safe on
/// any thread.
public struct CBOREncoder: Sendable {
  /// What types can ask for while they are encoded.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  public init() {}

  /// The value as CBOR.
  ///
  /// Throws `EncodingError.invalidValue` for a date outside the years 0000…9999, a decimal that is no number,
  /// nesting beyond `CodecLimits.depthMax`, and a value that encodes nothing; and what the value's own
  /// `encode(to:)` throws.
  public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    let state = try gather(value)
    return [UInt8](unsafeUninitializedCapacity: state.byteCountMax) { buffer, count in
      var writer = CBORWriter(into: UnsafeMutableRawBufferPointer(buffer))
      state.emit(to: &writer)
      count = writer.count
    }
  }

  /// Appends the value as CBOR to what was written before. If it throws, nothing was appended.
  public func encode<Value: Encodable>(_ value: Value, to writer: inout CBORWriter) throws {
    let state = try gather(value)
    writer.reserve(state.byteCountMax)
    state.emit(to: &writer)
  }

  private func gather<Value: Encodable>(_ value: Value) throws -> EncodingState {
    let state = EncodingState(userInfo: userInfo)
    try state.encode(value, in: EncodingState.root)
    guard state.isFilled(EncodingState.root) else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "\(Value.self) did not encode any value"))
    }
    try state.checkDepth()
    return state
  }
}

extension DocumentValue {
  /// The document that `CBOREncoder` makes of a value. Throws as it does.
  public init(encoding value: some Encodable) throws {
    self = try DocumentValue(cbor: CBOREncoder().encode(value))
  }

  /// The value that `CBORDecoder` makes of this document. Throws as it does.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    try CBORDecoder().decode(type, from: cbor())
  }
}
