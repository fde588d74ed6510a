// The upcasts of one type, checked and looked up by the names of forms.

internal import StrataBase
internal import StrataDocuments
internal import StrataLog

/// An event in one of its forms, while it is upcast.
struct EventForm {
  var type: String
  var payload: EventPayload
}

/// The upcasts of one `DomainEvent` type. Each name of a form is looked up once for each event.
final class UpcastPlan: Sendable {
  /// What is known of a name.
  private struct Entry {
    var step: Upcast.Step?
    var defaults: DocumentObject?
    var version = Version.unversioned
  }

  /// What a name says about its version.
  enum Version {
    /// There are no versions of the name.
    case unversioned
    /// The name has no version, and there are newer ones.
    case older
    /// The newest version, and the name without it.
    case newest(base: String)
  }

  private let entries: [String: Entry]
  /// The newest version of each name that has versions, by the name without a version.
  private let newest: [String: FormName]

  /// Checks the upcasts, none of which is applied yet. Throws `invalid` if what they mean is not clear.
  init(_ upcasts: [Upcast]) throws(StoreError) {
    var entries: [String: Entry] = [:]
    var newest: [String: FormName] = [:]
    for upcast in upcasts {
      for name in [upcast.type] + upcast.targets {
        guard !name.isEmpty, name.utf8.first != UInt8(ascii: "$") else {
          throw .upcasts("'\(name)' is not a type of an application's events")
        }
        let form = FormName(name)
        if form.version > newest[form.base]?.version ?? 1 { newest[form.base] = form }
      }
      let isKnown: Bool
      if case .defaults(let fields) = upcast.step {
        isKnown = entries[upcast.type]?.defaults != nil
        entries[upcast.type, default: Entry()].defaults = fields
      } else {
        isKnown = entries[upcast.type]?.step != nil
        entries[upcast.type, default: Entry()].step = upcast.step
      }
      if isKnown { throw .upcasts("there are two for '\(upcast.type)', and only one can apply") }
    }
    self.newest = newest
    let targets = Dictionary(upcasts.map { ($0.type, $0.targets) }) { $0 + $1 }
    try Self.checkEnd(of: targets)
    for name in targets.keys.sorted() + targets.values.joined().sorted() where entries[name]?.step == nil {
      let form = FormName(name)
      guard let last = newest[form.base], form.version < last.version else { continue }
      throw .upcasts("none leads from '\(name)' to '\(last.text)', its newest version")
    }
    for (base, form) in newest {
      entries[base, default: Entry()].version = .older
      entries[form.text, default: Entry()].version = .newest(base: base)
    }
    self.entries = entries
  }

  /// Throws if a form can become itself again. Each name is looked at once, without recursion: there may be many.
  private static func checkEnd(of targets: [String: [String]]) throws(StoreError) {
    // Forms that lead to no other form that is left are taken away, until all forms that are left lead in circles.
    var counts: [String: Int] = [:]
    var sources: [String: [String]] = [:]
    for (name, targets) in targets {
      for target in targets { sources[target, default: []].append(name) }
      counts[name] = targets.count
    }
    var ready = sources.keys.filter { targets[$0] == nil } + targets.keys.filter { counts[$0] == 0 }
    while let name = ready.popLast() {
      counts[name] = nil
      for source in sources[name] ?? [] {
        guard let count = counts[source] else { continue }
        counts[source] = count - 1
        if count == 1 { ready.append(source) }
      }
    }
    guard var name = counts.keys.min() else { return }
    var (path, indexes) = ([name], [name: 0])
    while let next = targets[name]?.first(where: { counts[$0] != nil }) {
      path.append(next)
      if let first = indexes.updateValue(path.count - 1, forKey: next) {
        let circle = path[first...].map { "'\($0)'" }.joined(separator: " to ")
        throw .upcasts("they lead in a circle, from \(circle); give each form a name of its own")
      }
      name = next
    }
    assertionFailure("a form that is left leads to another one that is left")
  }
}

// MARK: Names

extension UpcastPlan {
  /// The name of a type's newest form.
  func newestName(of base: String) -> String { newest[base]?.text ?? base }

  /// What the name of a form that no upcast leads on from says about its version.
  func version(of name: String) -> Version { entries[name]?.version ?? .unversioned }

  /// Whether events of a type are read as other types.
  func reads(_ name: String) -> Bool { entries[name]?.step != nil }
}

// MARK: Applying

extension UpcastPlan {
  /// The newest forms of an event, in order; nil if no upcast applies to it.
  ///
  /// Every step is applied once on each way from the recorded form: the definitions have no circles. Throws
  /// `undecodable` if a step throws.
  func forms(of event: RecordedEvent) throws(StoreError) -> [EventForm]? {
    guard let entry = entries[event.type], entry.step != nil || entry.defaults != nil else { return nil }
    var forms: [EventForm] = []
    // The next form last.
    var rest = [EventForm(type: event.type, payload: event.payload)]
    while var form = rest.popLast() {
      guard let entry = entries[form.type] else {
        forms.append(form)
        continue
      }
      do {
        if let defaults = entry.defaults { try form.fill(defaults) }
        guard let step = entry.step else {
          forms.append(form)
          continue
        }
        rest += try parts(of: form, step, event).reversed()
      } catch {
        throw .undecodable(
          what: "event \(event.sequence) of type \(event.type) cannot be upcast from '\(form.type)': "
            + Self.text(of: error),
          next: "correct the upcast from '\(form.type)', so that it reads what was recorded")
      }
      guard forms.count + rest.count <= Upcast.partCountMax else {
        throw .undecodable(
          what:
            "event \(event.sequence) of type \(event.type) becomes more than \(Upcast.partCountMax) events",
          next: "correct the upcasts, so that they split it into fewer")
      }
    }
    return forms
  }

  private func parts(
    of form: EventForm, _ step: Upcast.Step, _ event: RecordedEvent
  ) throws -> [EventForm] {
    switch step {
    case .form(let type, nil): return [EventForm(type: type, payload: form.payload)]
    case .form(let type, let change?):
      var payload = try form.object()
      try change(&payload, event)
      return [EventForm(type: type, payload: EventPayload(.object(payload)))]
    case .split(let types, let split):
      return try split(form.object(), event).map { type, payload in
        guard types.contains(type) else {
          throw StoreError.invalid(what: "'\(type)' is not among the types that the upcast lists")
        }
        return EventForm(type: type, payload: EventPayload(.object(payload)))
      }
    case .drop: return []
    case .defaults: return [form]
    }
  }

  private static func text(of error: any Error) -> String {
    (error as? StoreError)?.what ?? String(describing: error)
  }
}

extension EventForm {
  /// The payload, which must be an object.
  func object() throws(StoreError) -> DocumentObject {
    guard case .object(let object) = try payload.document() else {
      throw .undecodable(what: "the payload is not an object")
    }
    return object
  }

  /// Sets the fields that the payload lacks.
  mutating func fill(_ defaults: DocumentObject) throws(StoreError) {
    var object = try object()
    var isChanged = false
    for (key, value) in defaults where object[key] == nil {
      object[key] = value
      isChanged = true
    }
    if isChanged { payload = EventPayload(.object(object)) }
  }
}

extension StoreError {
  /// Upcasts whose meaning is not clear.
  fileprivate static func upcasts(_ what: String) -> StoreError {
    .invalid(what: "the upcasts are not clear: \(what)", next: "correct the list of upcasts")
  }
}

// MARK: The plans of a process

/// The plan of every type that has upcasts. They are made once: a type is asked for its upcasts when it is first used.
enum UpcastPlans {
  private static let plans = Lock<[ObjectIdentifier: Result<UpcastPlan, StoreError>]>([:])

  static func plan<Event: DomainEvent>(of type: Event.Type) throws(StoreError) -> UpcastPlan {
    let id = ObjectIdentifier(type)
    if let plan = plans.withLock({ $0[id] }) { return try plan.get() }
    let plan: Result<UpcastPlan, StoreError>
    do throws(StoreError) { plan = .success(try UpcastPlan(type.upcasts)) } catch {
      plan = .failure(.invalid(what: "\(type): \(error.what)", next: error.next))
    }
    plans.withLock { $0[id] = plan }
    return try plan.get()
  }
}
