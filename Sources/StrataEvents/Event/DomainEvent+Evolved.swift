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
    let values = try values(of: event)
    guard let values, values.count > 1 else { return values?.first }
    throw .invalid(
      what: "event \(event.sequence) of type \(event.type) is \(values.count) events of \(Self.self) now",
      next: "decode it with decodeAll")
  }

  /// Returns the values that an event represents now; nil if it has another type or its content was erased. Throws
  /// `invalid` if the type matches and the event does not decode, or if a strict enum has no such type.
  static func values(of event: RecordedEvent) throws(StoreError) -> [Self]? {
    if let values = try values(of: event, eventDecoding) { return values }
    guard eventDecoding == .strict, event.state == .whole, eventType.isEmpty, !eventPrefix.isEmpty,
      event.type.hasPrefix(eventPrefix)
    else { return nil }
    throw .invalid(
      what: "event \(event.sequence) has the type \(event.type), which \(Self.self) does not have",
      next: "add the case, or an upcast from its type")
  }

  /// The same with another treatment of unknown fields. An unknown type is not an error.
  static func values(
    of event: RecordedEvent, _ decoding: EventDecoding
  ) throws(StoreError) -> [Self]? {
    guard event.state == .whole else { return nil }
    guard !upcasts.isEmpty else { return try decodeNewest(event, decoding).map { [$0] } }
    let plan = try UpcastPlans.plan(of: Self.self)
    guard let forms = try plan.forms(of: event) else {
      return try decode(event, plan, decoding).map { [$0] }
    }
    var values: [Self] = []
    values.reserveCapacity(forms.count)
    for form in forms {
      var newest = event
      (newest.type, newest.payload) = (form.type, form.payload)
      do throws(StoreError) {
        guard let value = try decode(newest, plan, decoding) else {
          throw .invalid(
            what: "an upcast leads from event \(event.sequence) to the type \(form.type), which \(Self.self)"
              + " does not have")
        }
        values.append(value)
      } catch {
        guard form.type != event.type else { throw error }
        throw .invalid(what: "\(error.what); it was recorded as \(event.type)", next: error.next)
      }
    }
    return values
  }

  /// Decodes an event in its newest form; nil if it has another type, or is an older form that no upcast applies to.
  private static func decode(
    _ event: RecordedEvent, _ plan: UpcastPlan, _ decoding: EventDecoding
  ) throws(StoreError) -> Self? {
    guard !plan.isOutdated(event.type) else { return nil }
    // A case has the name without the version, unless its coding key has one.
    if let base = plan.base(ofNewest: event.type) {
      var plain = event
      plain.type = base
      if let value = try decodeNewest(plain, decoding) { return value }
    }
    return try decodeNewest(event, decoding)
  }
}

extension RecordedEvent {
  /// Returns all values that this event represents: none if it has another type, its content was erased or an upcast
  /// drops it; several if an upcast splits it.
  ///
  /// Throws `StoreError.invalid` if the type matches and the payload does not decode.
  public func decodeAll<Value: DomainEvent>(_ type: Value.Type) throws(StoreError) -> [Value] {
    try Value.values(of: self) ?? []
  }
}
