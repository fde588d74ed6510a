// One step from an older form of an event to a newer one.

internal import StrataDocuments

/// A step from an older form of an event to a newer one. It is applied when an event is read; the log stays as it is.
///
/// A form is named by the event's type as the log has it, with the prefix. A newer form of one event has the same name
/// with a version: `opened`, `opened.2`, `opened.3`. Its steps are listed in ``DomainEvent/upcasts``:
///
/// ```swift
/// enum TicketEvent: DomainEvent {
///   case opened(title: String, priority: Int)
///   case closed
///
///   static let upcasts = [
///     Upcast("created", to: "opened"),
///     Upcast("opened", to: "opened.2") { $0.renameKey("text", to: "title") },
///     Upcast("opened.2", to: "opened.3") { $0["priority"] = 3 },
///   ]
/// }
/// ```
///
/// A step must be pure: its result may depend only on the event.
public struct Upcast: Sendable {
  /// The maximum number of events that one recorded event can become.
  public static let partCountMax = 65_536

  typealias Change = @Sendable (inout DocumentObject, RecordedEvent) throws -> Void
  typealias Split = @Sendable (DocumentObject, RecordedEvent) throws -> [(String, DocumentObject)]

  enum Step: Sendable {
    /// The event gets another type. Without a change, its payload stays as it is, whatever it is.
    case form(String, Change?)
    /// The event becomes any number of events, whose types are listed.
    case split([String], Split)
    /// The event no longer means anything.
    case drop
    /// The event keeps its type, and gets the fields that it lacks.
    case defaults(DocumentObject)
  }

  /// The type of the events that it applies to.
  let type: String
  let step: Step

  private init(_ type: String, _ step: Step) {
    self.type = type
    self.step = step
  }

  /// Renames a type. The payload stays as it is.
  public init(_ type: String, to newType: String) {
    self.init(type, .form(newType, nil))
  }

  /// Changes the payload of a type, which gets a new name.
  ///
  /// - Parameter change: changes the payload. If it throws, the event does not decode, and the error says why.
  public init(
    _ type: String, to newType: String,
    _ change: @escaping @Sendable (_ payload: inout DocumentObject) throws -> Void
  ) {
    self.init(type, .form(newType, { payload, _ in try change(&payload) }))
  }

  /// Changes the payload of a type, which gets a new name, by the event as it was recorded: its stream, its time, its
  /// metadata.
  public init(
    _ type: String, to newType: String,
    _ change: @escaping @Sendable (_ payload: inout DocumentObject, _ event: RecordedEvent) throws -> Void
  ) {
    self.init(type, .form(newType, change))
  }

  /// Splits a type into several events, in the order that the body returns: any number of each of the types listed, and
  /// none at all if the event no longer means anything.
  ///
  /// - Parameters:
  ///   - newTypes: every type that the body may return.
  ///   - split: returns types and their payloads, at most `partCountMax`. If it throws, the event does not decode.
  public init(
    _ type: String, into newTypes: [String],
    _ split: @escaping @Sendable (_ payload: DocumentObject) throws -> [(String, DocumentObject)]
  ) {
    self.init(type, .split(newTypes, { payload, _ in try split(payload) }))
  }

  /// Splits a type into several events, by the event as it was recorded: its stream, its time, its metadata.
  public init(
    _ type: String, into newTypes: [String],
    _ split:
      @escaping @Sendable (_ payload: DocumentObject, _ event: RecordedEvent) throws
      -> [(String, DocumentObject)]
  ) {
    self.init(type, .split(newTypes, split))
  }

  /// Drops the events of a type: they decode to nil.
  public init(dropping type: String) {
    self.init(type, .drop)
  }

  /// Gives the events of a type the fields that they lack. A field that is there stays, and so does one that is null.
  ///
  /// Since the name of the form stays, this applies to new events of the type too, and each of them is looked at for
  /// missing fields. A version of the type costs new events nothing.
  public init(_ type: String, defaults: DocumentObject) {
    self.init(type, .defaults(defaults))
  }

  /// The types that the events of its type may become.
  var targets: [String] {
    switch step {
    case .form(let type, _): [type]
    case .split(let types, _): types
    case .drop, .defaults: []
    }
  }
}

/// What decoding does with fields and types that the Swift type does not have.
public enum EventDecoding: Sendable, Hashable {
  /// Fields that the Swift type does not have are ignored, as `Codable` does, and so are event types.
  case lenient
  /// A field that the Swift type does not have is an error. For an enum with a prefix, so is a type that begins with
  /// the prefix and is neither one of its cases nor upcast to one.
  case strict
}
