// The encoder from Codable values to CBOR.

/// An encoder of any `Encodable` type as a document in deterministic CBOR, without a `DocumentValue` in between.
///
/// ``DocumentValue/init(encoding:)`` says how types are encoded. Equal values give equal bytes, in whatever order they are
/// encoded, and whatever the order of their sets.
///
/// Encoding costs O(bytes written), and O(k log k) for an object of k keys. The encoder is a value, and can be used on
/// any thread.
package struct CBOREncoder: Sendable {
  /// Values that types can read while they are encoded.
  package var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  package init() {}

  /// Encodes a value, and returns its CBOR.
  ///
  /// Throws `EncodingError.invalidValue` for a date outside the years 0000…9999, a decimal that is not a number,
  /// nesting deeper than `CodecLimits.depthMax`, a document that could not be read back for another reason
  /// (`DocumentRefusal`), and a value that encodes nothing; also whatever the value's `encode(to:)` throws.
  package func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    let state = try gather(value)
    return [UInt8](unsafeUninitializedCapacity: state.byteCountMax) { buffer, count in
      var writer = CBORWriter(into: UnsafeMutableRawBufferPointer(buffer))
      state.emit(to: &writer)
      count = writer.count
    }
  }

  /// Encodes a value, and appends its CBOR to a writer. If this throws, nothing was appended.
  package func encode<Value: Encodable>(_ value: Value, to writer: inout CBORWriter) throws {
    let state = try gather(value)
    writer.reserve(state.byteCountMax)
    state.emit(to: &writer)
  }

  private func gather<Value: Encodable>(_ value: Value) throws -> EncodingState {
    let state = EncodingState(userInfo: userInfo)
    try Self.gather(value, in: state)
    return state
  }

  fileprivate static func gather<Value: Encodable>(_ value: Value, in state: EncodingState) throws {
    try state.encode(value, in: EncodingState.root)
    guard state.isFilled(EncodingState.root) else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "\(Value.self) did not encode any value"))
    }
    try state.checkDepth()
  }
}

/// An encoder whose memory is used again by the next call. Used by one thread at a time.
package final class RepeatedCBOREncoder {
  /// The slots and bytes of the last call, unless they are in use.
  @exclusivity(unchecked) private var spare: EncodingState?

  package init() {}

  /// Encodes a value as ``CBOREncoder`` does, and appends its CBOR to a writer. If this throws, nothing was appended.
  package func encode<Value: Encodable>(_ value: Value, to writer: inout CBORWriter) throws {
    // A type that encodes something else while it is encoded finds another state.
    var state = spare.take() ?? EncodingState(userInfo: [:], keepsContainers: true)
    defer {
      state.endCall()
      // A type may have kept its encoder, and a large value would keep its memory.
      if isKnownUniquelyReferenced(&state), !state.isLarge {
        state.reset()
        spare = state
      }
    }
    try CBOREncoder.gather(value, in: state)
    writer.reserve(state.byteCountMax)
    state.emit(to: &writer)
  }
}

extension DocumentValue {
  /// Creates the document that a value is encoded as, in events, collections and projected tables alike.
  ///
  /// Types are encoded in forms that JSON and filters can use:
  ///
  /// | Swift | document |
  /// |---|---|
  /// | integers of any width | integer |
  /// | `Double`, `Float` | double, even if the value is integral |
  /// | `Date` | string, RFC 3339 in UTC with nine digits, or with eighteen if nine would not restore it exactly |
  /// | `UUID` | string of 36 characters, in upper case |
  /// | `Data` | bytes |
  /// | `URL` | string, absolute |
  /// | `Decimal` | integer; else double, if its shortest text equals the decimal; else string |
  /// | `DocumentValue` | itself |
  /// | `[String: T]`, `[Int: T]` | object |
  /// | `Set` | array, its elements in ascending order of their bytes as CBOR |
  /// | other dictionaries | array of keys and values by turns, in ascending order of the keys' bytes as CBOR |
  ///
  /// Synthesized code omits a nil property; `encodeNil` writes null. If a key is written twice, the last value is kept.
  /// Equal keys and values give equal bytes, in whatever order they are encoded.
  ///
  /// A set is recognised where an encoder or one of its containers encodes it: as a property, as an element, as a value
  /// of a dictionary, as the value of an optional, and alone. A type whose own `encode(to:)` calls that of a set, or
  /// writes the elements one by one, encodes an array like any other, in the order of the hashes. Equal values of such a
  /// type can give different bytes, as can those of a collection of another package that has no order. Such a type
  /// passes its set to a container, as in `encoder.singleValueContainer().encode(set)`, or sorts the elements.
  ///
  /// Throws `EncodingError.invalidValue` for a date outside the years 0000…9999, a decimal that is not a number, nesting
  /// deeper than 128 levels, a document with an integer of more than 4,096 bytes or with tag 2 or 3 on something other
  /// than bytes, and a value that encodes nothing; also whatever the value's `encode(to:)` throws.
  public init(encoding value: some Encodable) throws {
    self = try DocumentValue(cbor: CBOREncoder().encode(value))
  }

  /// Decodes a value from this document. Throws `DecodingError` if the document is not one of the type, or is nested
  /// deeper than 128 levels; also whatever the type's `init(from:)` throws.
  public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
    guard depth <= CodecLimits.depthMax else {
      let what = "the document is nested deeper than \(CodecLimits.depthMax)"
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: what))
    }
    return try CBORDecoder().decode(type, from: cbor())
  }
}
