// Selecting events in all their forms: under every name that upcasts lead from.

public import StrataLog

extension EventSelection {
  /// The events that are read as these types of a `DomainEvent`, in their newest form and in every older one.
  ///
  /// A selection compares the names that are in the log, before upcasts are applied. With
  /// `Upcast("opened", to: "opened.2")`, new events have the name `opened.2`, and older ones `opened`:
  /// `try .types("opened", of: TicketEvent.self)` selects both. An event that an upcast splits is selected if one of
  /// its parts has one of these types; `decodeAll` returns the other parts too.
  ///
  /// - Parameters:
  ///   - names: names of any form, the newest or an older one, with the prefix. The cases of an enum cannot be listed,
  ///     so name those that you want; for a struct or a class, no name means its `eventType`.
  ///   - event: the type whose upcasts are followed.
  /// - Throws: `invalid` if a name is neither in the upcasts nor one that the type can have, if no name is given for
  ///   an enum, or if the upcasts are not clear.
  /// - Complexity: O(upcasts + names).
  public static func types<Event: DomainEvent>(
    _ names: String..., of event: Event.Type
  ) throws(StoreError) -> EventSelection {
    all.types(try event.recordedNames(of: names))
  }

  /// Only events that are read as these types of a `DomainEvent`, in their newest form and in every older one. See the
  /// static function of this name.
  public func types<Event: DomainEvent>(
    _ names: String..., of event: Event.Type
  ) throws(StoreError) -> EventSelection {
    types(try event.recordedNames(of: names))
  }
}

extension DomainEvent {
  /// These names, and every name under which a log may have events that are read as the same types.
  static func recordedNames(of names: [String]) throws(StoreError) -> Set<String> {
    var names = names
    if names.isEmpty {
      guard !eventType.isEmpty else {
        throw .invalid(
          what: "the cases of \(Self.self) cannot be listed",
          next: "name those to select, such as types(\"opened\", of: TicketEvent.self)")
      }
      names = [eventPrefix + eventType]
    }
    var (targets, sources): ([String: [String]], [String: [String]]) = ([:], [:])
    for upcast in upcasts {
      targets[upcast.type, default: []] += upcast.targets
      for target in upcast.targets { sources[target, default: []].append(upcast.type) }
    }
    for name in names where targets[name] == nil && sources[name] == nil { try checkMayHave(name) }
    guard !upcasts.isEmpty else { return Set(names) }
    let plan = try UpcastPlans.plan(of: Self.self)
    // Forwards to what is written today, and from there back to all that is read as it.
    let newer = reachable(from: names + names.map { plan.newestName(of: $0) }, by: targets)
    return reachable(from: Array(newer), by: sources)
  }

  /// Throws if a name that no upcast mentions cannot be one of this type's.
  private static func checkMayHave(_ name: String) throws(StoreError) {
    let isPossible =
      eventType.isEmpty
      ? name.utf8.starts(with: eventPrefix.utf8) : FormName(name).base == eventPrefix + eventType
    guard !isPossible else { return }
    let possible = eventType.isEmpty ? "begin with '\(eventPrefix)'" : "are '\(eventPrefix + eventType)'"
    throw .invalid(
      what: "'\(name)' is not a type of \(Self.self), whose types \(possible)",
      next: "give the name as the log has it, with the prefix, or add the upcast from it")
  }

  /// The names, and all that steps lead to from them.
  private static func reachable(from names: [String], by steps: [String: [String]]) -> Set<String> {
    var reached = Set(names)
    var rest = Array(reached)
    while let name = rest.popLast() {
      for next in steps[name] ?? [] where reached.insert(next).inserted { rest.append(next) }
    }
    return reached
  }
}
