// Decoding of events whose type has evolved: older forms, and strict decoding.

internal import StrataDocuments
public import StrataLog

extension DomainEvent {
  /// Whether decoding needs more than the newest form and ignoring what is unknown.
  @inline(__always)
  static var isEvolved: Bool { !upcasts.isEmpty || eventDecoding == .strict }

  /// The name under which a case or struct is written: its newest form's.
  static func writtenType(_ type: String) throws(StoreError) -> String {
    guard !upcasts.isEmpty else { return type }
    let plan = try UpcastPlans.plan(of: Self.self)
    let written = plan.newestName(of: type)
    guard !plan.reads(written) else {
      throw .invalid(
        what: "\(Self.self) writes '\(written)', which its upcasts read as something else",
        next: "rename the case or eventType, or correct the list of upcasts")
    }
    return written
  }

  /// Returns the one value that an event represents now. Throws `invalid` if it represents several.
  static func decodeEvolved(_ event: RecordedEvent) throws(StoreError) -> Self? {
    guard event.state == .whole else { return nil }
    let plan = upcasts.isEmpty ? nil : try UpcastPlans.plan(of: Self.self)
    guard let plan, let forms = try plan.forms(of: event) else {
      if let value = try decodeItself(event, plan, eventDecoding) { return value }
      try refuseUnknown(event)
      return nil
    }
    guard forms.count <= 1 else {
      throw .invalid(
        what: "event \(event.sequence) of type \(event.type) is \(forms.count) events of \(Self.self) now",
        next: "decode it with decodeAll")
    }
    guard let form = forms.first else { return nil }
    return try decode(form, of: event, plan, eventDecoding)
  }

  /// Returns the values that an event represents now; nil if it has another type or its content was erased. Throws
  /// `undecodable` if the type matches and the event does not decode, or if a strict enum has no such type.
  static func values(of event: RecordedEvent) throws(StoreError) -> [Self]? {
    if let values = try values(of: event, eventDecoding) { return values }
    try refuseUnknown(event)
    return nil
  }

  /// The same with another treatment of unknown fields. An unknown type is not an error.
  static func values(
    of event: RecordedEvent, _ decoding: EventDecoding
  ) throws(StoreError) -> [Self]? {
    guard event.state == .whole else { return nil }
    let plan = upcasts.isEmpty ? nil : try UpcastPlans.plan(of: Self.self)
    guard let plan, let forms = try plan.forms(of: event) else {
      return try decodeItself(event, plan, decoding).map { [$0] }
    }
    var values: [Self] = []
    values.reserveCapacity(forms.count)
    for form in forms { values.append(try decode(form, of: event, plan, decoding)) }
    return values
  }

  /// Throws `undecodable` if the type is strict, and should have the event's type and does not.
  private static func refuseUnknown(_ event: RecordedEvent) throws(StoreError) {
    guard eventDecoding == .strict, event.state == .whole, eventType.isEmpty, !eventPrefix.isEmpty,
      event.type.utf8.starts(with: eventPrefix.utf8)
    else { return }
    throw .undecodable(
      what: "event \(event.sequence) has the type \(event.type), which \(Self.self) does not have",
      next: "add the case, or an upcast from its type")
  }

  /// Decodes an event to which no upcast applies; nil if it has another type.
  private static func decodeItself(
    _ event: RecordedEvent, _ plan: UpcastPlan?, _ decoding: EventDecoding
  ) throws(StoreError) -> Self? {
    try decode(event, event.type, event.payload, plan, decoding)
  }

  /// Decodes a form that upcasts led to.
  private static func decode(
    _ form: EventForm, of event: RecordedEvent, _ plan: UpcastPlan, _ decoding: EventDecoding
  ) throws(StoreError) -> Self {
    do throws(StoreError) {
      if let value = try decode(event, form.type, form.payload, plan, decoding) { return value }
    } catch {
      guard form.type != event.type else { throw error }
      throw .undecodable(what: "\(error.what); it was read as \(form.type)", next: error.next)
    }
    throw .undecodable(
      what:
        "an upcast leads from event \(event.sequence) to the type \(form.type), which \(Self.self) does not"
        + " have",
      next: "add the case, or correct the upcast to '\(form.type)'")
  }

  /// Decodes a form that no upcast leads on from; nil if it has another type or is an older version.
  private static func decode(
    _ event: RecordedEvent, _ type: String, _ payload: EventPayload, _ plan: UpcastPlan?,
    _ decoding: EventDecoding
  ) throws(StoreError) -> Self? {
    switch plan?.version(of: type) ?? .unversioned {
    case .unversioned: break
    case .older: return nil
    case .newest(let base):
      // A case has the name without the version, unless its coding key has one.
      if let value = try decodeNewest(event, as: base, payload, decoding) { return value }
    }
    return try decodeNewest(event, as: type, payload, decoding)
  }
}

extension RecordedEvent {
  /// Returns all values that this event represents: none if it has another type, its content was erased or an upcast
  /// drops it; several if an upcast splits it.
  ///
  /// Throws `StoreError.undecodable` if the type matches and the payload does not decode, or if a strict enum has no such
  /// type; `invalid` if the upcasts are not clear.
  public func decodeAll<Value: DomainEvent>(_ type: Value.Type) throws(StoreError) -> [Value] {
    try Value.values(of: self) ?? []
  }
}
