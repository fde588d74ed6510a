// An application's own events, as Codable enums and structs.

internal import StrataDocuments
public import StrataLog

/// A type whose values are an application's events.
///
/// Each case of an enum is an event type: the event of `.opened(title: "x")` has the type `opened`, with `eventPrefix`
/// before it, and the payload `{"title":"x"}`. A struct or a class names its type with `static let eventType`.
///
/// Decoding is a function of the payload: events with equal payloads may give copies of one value that was decoded once.
///
/// When an event changes, ``upcasts`` says how its older forms are read: see <doc:Evolving>.
public protocol DomainEvent: Codable, Sendable {
  /// The text before the case's name or `eventType` in the event's type; empty by default.
  static var eventPrefix: String { get }
  /// The type of the events of a struct or a class; empty for an enum, which has one type for each case.
  static var eventType: String { get }
  /// The steps from older forms of events to the newest one; none by default. Make it a `static let`: it is looked at
  /// for every event, and must not change.
  ///
  /// If a name among them has a version, such as `opened.3`, the newest version is the one that is written: the case
  /// `opened` then has the type `opened.3`.
  ///
  /// Of the upcasts, at most one changes a type, and at most one gives it defaults. None may lead in a circle, and from
  /// every older version one must lead on. Otherwise every call that encodes or decodes throws `StoreError.invalid`,
  /// with the reason.
  static var upcasts: [Upcast] { get }
  /// What decoding does with fields and types that the Swift type does not have; `lenient` by default.
  static var eventDecoding: EventDecoding { get }
}

extension DomainEvent {
  public static var eventPrefix: String { "" }
  public static var eventType: String { "" }
  public static var upcasts: [Upcast] { [] }
  public static var eventDecoding: EventDecoding { .lenient }
}

extension DomainEvent {
  /// Returns the type and the payload that represent this value. Throws `invalid` if it cannot be encoded, and if it is a
  /// struct or a class without an `eventType`.
  public func encoded() throws(StoreError) -> (type: String, payload: EventPayload) {
    let bytes: [UInt8]
    do { bytes = try CBOREncoder().encode(self) } catch {
      throw .invalid(what: "\(Self.self) cannot be encoded: \(error)")
    }
    if !Self.eventType.isEmpty {
      let type = try Self.writtenType(Self.eventPrefix + Self.eventType)
      return (type, EventPayload(codec: .cbor, bytes: bytes))
    }
    // An enum encodes as a map with one key, the case, whose value is a map of the associated values.
    let parts = bytes.withUnsafeBytes { buffer -> (String, [UInt8])? in
      var reader = CBORReader(buffer)
      guard let count = try? reader.readMapHead(), count == 1, let name = try? reader.readText() else {
        return nil
      }
      return (name, Array(buffer[reader.offset...]))
    }
    // A struct with one property encodes in the same way.
    guard let (name, payload) = parts, EventKinds.isEnum(self) else {
      throw .invalid(
        what: "\(Self.self) is not an enum and has no eventType",
        next: "give it a `static let eventType`, or make it an enum with a case for each type")
    }
    return (try Self.writtenType(Self.eventPrefix + name), EventPayload(codec: .cbor, bytes: payload))
  }

  /// Returns the value that an event represents, or nil if the event has another type or its content was erased.
  @inline(__always)
  static func decode(_ event: RecordedEvent) throws(StoreError) -> Self? {
    try isEvolved ? decodeEvolved(event) : decodeNewest(event, as: event.type, event.payload, .lenient)
  }

  /// The same for an event in its newest form: a type without a version, and a payload.
  static func decodeNewest(
    _ event: RecordedEvent, as type: String, _ payload: EventPayload, _ decoding: EventDecoding
  ) throws(StoreError) -> Self? {
    guard case .whole = event.state else { return nil }
    let prefix = eventPrefix
    guard prefix.isEmpty || type.utf8.starts(with: prefix.utf8) else { return nil }
    let name = prefix.isEmpty ? type : String(Substring(type.utf8.dropFirst(prefix.utf8.count)))
    do {
      // An enum decodes from a map with one key, the case, whose value is the payload. The map is there only where its
      // keys are to be checked.
      let structType = eventType
      if structType.isEmpty, decoding == .lenient {
        return try CBORDecoder.decode(Self.self, ofCase: name, from: payload.cborBytes())
      }
      var decoder = CBORDecoder()
      decoder.refusesUnknownKeys = decoding == .strict
      guard structType.isEmpty else {
        return name == structType ? try decoder.decode(Self.self, from: payload.cborBytes()) : nil
      }
      var writer = CBORWriter(capacity: payload.bytes.count + name.utf8.count + 16)
      writer.writeMapHead(count: 1)
      writer.writeText(name)
      try payload.cborBytes().withUnsafeBytes { writer.writeEncoded($0) }
      return try decoder.decode(Self.self, from: writer.bytes)
    } catch let DecodingError.typeMismatch(type, context)
      where type == Self.self && context.codingPath.isEmpty
    {
      // The synthesized decoding of an enum throws this if the key is not one of its cases.
      return nil
    } catch {
      throw .undecodable(
        what: "event \(event.sequence) of type \(event.type) does not decode as \(Self.self): \(error)",
        next: "correct the type, or add an upcast from the form that was recorded")
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
  /// Returns the value that this event represents, or nil if the event has another type, its content was erased or an
  /// upcast drops it.
  ///
  /// Throws `StoreError.undecodable` if the type matches and the payload does not decode, or if a strict enum has no such
  /// type; `invalid` if an upcast splits the event into several, of which `decodeAll` returns all, and if the upcasts are
  /// not clear.
  public func decode<Value: DomainEvent>(_ type: Value.Type) throws(StoreError) -> Value? {
    try Value.decode(self)
  }
}
