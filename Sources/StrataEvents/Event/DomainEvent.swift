// An application's own events, as Codable enums and structs.

internal import StrataDocuments
public import StrataLog

/// A type whose values are an application's events.
///
/// Each case of an enum is an event type: the event of `.opened(title: "x")` has the type `opened`, with `eventPrefix`
/// before it, and the payload `{"title":"x"}`. A struct names its type with `static let eventType`.
public protocol DomainEvent: Codable, Sendable {
  /// The text before the case's name or `eventType` in the event's type; empty by default.
  static var eventPrefix: String { get }
  /// The type of a struct's events; empty for an enum, which has one type for each case.
  static var eventType: String { get }
}

extension DomainEvent {
  public static var eventPrefix: String { "" }
  public static var eventType: String { "" }
}

extension DomainEvent {
  /// Returns the type and the payload that represent this value. Throws `invalid` if it cannot be encoded.
  public func encoded() throws(StoreError) -> (type: String, payload: EventPayload) {
    let bytes: [UInt8]
    do { bytes = try CBOREncoder().encode(self) } catch {
      throw .invalid(what: "\(Self.self) cannot be encoded: \(error)")
    }
    if !Self.eventType.isEmpty {
      return (Self.eventPrefix + Self.eventType, EventPayload(codec: .cbor, bytes: bytes))
    }
    // An enum encodes as a map with one key, the case, whose value is a map of the associated values.
    let parts = bytes.withUnsafeBytes { buffer -> (String, [UInt8])? in
      var reader = CBORReader(buffer)
      guard let count = try? reader.readMapHead(), count == 1, let name = try? reader.readText() else {
        return nil
      }
      return (name, Array(buffer[reader.offset...]))
    }
    guard let (name, payload) = parts else {
      throw .invalid(what: "\(Self.self) is not an enum and has no eventType")
    }
    return (Self.eventPrefix + name, EventPayload(codec: .cbor, bytes: payload))
  }

  /// Returns the value that an event represents, or nil if the event has another type or its content was erased.
  static func decode(_ event: RecordedEvent) throws(StoreError) -> Self? {
    guard event.state == .whole, event.type.hasPrefix(eventPrefix) else { return nil }
    let name = String(event.type.dropFirst(eventPrefix.count))
    do {
      if !eventType.isEmpty {
        guard name == eventType else { return nil }
        return try CBORDecoder().decode(Self.self, from: event.payload.cborBytes())
      }
      var writer = CBORWriter(capacity: event.payload.bytes.count + name.utf8.count + 16)
      writer.writeMapHead(count: 1)
      writer.writeText(name)
      try event.payload.cborBytes().withUnsafeBytes { writer.writeEncoded($0) }
      return try CBORDecoder().decode(Self.self, from: writer.bytes)
    } catch let DecodingError.typeMismatch(type, context)
      where type == Self.self && context.codingPath.isEmpty
    {
      // The synthesized decoding of an enum throws this if the key is not one of its cases.
      return nil
    } catch {
      throw .invalid(
        what: "event \(event.sequence) of type \(event.type) does not decode as \(Self.self): \(error)")
    }
  }
}

extension EventPayload {
  /// The payload as CBOR, whatever its codec.
  func cborBytes() throws(StoreError) -> [UInt8] {
    codec == .cbor ? bytes : try document().cbor()
  }
}

extension RecordedEvent {
  /// Returns the value that this event represents, or nil if the event has another type or its content was erased.
  ///
  /// Throws `StoreError.invalid` if the type matches and the payload does not decode.
  public func decode<Value: DomainEvent>(_ type: Value.Type) throws(StoreError) -> Value? {
    try Value.decode(self)
  }
}
