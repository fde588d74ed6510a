// Events of an application's own, as enums and structs that are Codable.

internal import StrataDocuments
public import StrataLog

/// An application's event type.
///
/// An enum's cases are its types: `.opened(title: "x")` has the type `opened` under `eventPrefix`, and the
/// payload `{"title":"x"}`. A struct names its type with `static let eventType`.
public protocol Event: Codable, Sendable {
  /// What stands before the name of a case in the type; empty unless it is given.
  static var eventPrefix: String { get }
  /// The type of a struct's events; empty for an enum, whose cases are its types.
  static var eventType: String { get }
}

extension Event {
  public static var eventPrefix: String { "" }
  public static var eventType: String { "" }
}

extension Event {
  /// The type and the payload that stand for this value.
  public func encoded() throws(StoreError) -> (type: String, payload: EventPayload) {
    let bytes: [UInt8]
    do { bytes = try CBOREncoder().encode(self) } catch {
      throw .invalid(what: "\(Self.self) cannot be encoded: \(error)")
    }
    if !Self.eventType.isEmpty {
      return (Self.eventPrefix + Self.eventType, EventPayload(codec: .cbor, bytes: bytes))
    }
    // An enum encodes as a map of one key, the case, to a map of its values.
    let parts = bytes.withUnsafeBytes { buffer -> (String, [UInt8])? in
      var reader = CBORReader(buffer)
      guard let count = try? reader.readMapHead(), count == 1, let name = try? reader.readText() else {
        return nil
      }
      return (name, Array(buffer[reader.offset...]))
    }
    guard let (name, payload) = parts else {
      throw .invalid(what: "\(Self.self) is neither an enum nor does it have an eventType")
    }
    return (Self.eventPrefix + name, EventPayload(codec: .cbor, bytes: payload))
  }

  /// The value that an event stands for, or nil where it is of another type.
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
      // What the compiler's code for enums throws when the key is none of its cases.
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
  /// The value that this event stands for, or nil where it is of another type.
  ///
  /// Throws `StoreError.invalid` where the type is right and the payload is not.
  public func decode<Value: Event>(_ type: Value.Type) throws(StoreError) -> Value? {
    try Value.decode(self)
  }
}
