// Which events of the log a feed delivers, decided on the recorded bytes.

internal import StrataBase
internal import StrataDocuments
package import StrataLog

/// Which events a feed or a read of the log delivers: those of a stream, of a category, of some types, or those whose
/// payload or metadata pass a filter.
///
/// ```swift
/// func tickets(_ store: EventStore) -> ChangeFeed {
///   store.feed(of: .category("ticket").types("opened", "closed"))
/// }
/// ```
///
/// Every condition narrows the selection. Streams whose names begin with `$` are Strata's own: the records of erasures
/// and the positions of consumers. They are left out unless `includingInternal()` or the stream's own name asks for
/// them, so that a consumer does not receive what it wrote about itself.
///
/// Conditions are decided on the recorded bytes. No value is built for an event that is left out.
public struct EventSelection: Sendable {
  /// The name that every event's stream has.
  private var stream: [UInt8]?
  /// The category that every event's stream is in.
  private var category: [UInt8]?
  /// Nil for all types.
  private var types: [[UInt8]]?
  private var includesInternal = false
  private var conditions: [EventCondition] = []

  /// Every event of the application.
  public static let all = EventSelection()

  /// The events of one stream.
  public static func stream(_ name: StreamName) -> EventSelection {
    var selection = all
    selection.stream = Array(name.text.utf8)
    selection.includesInternal = true
    return selection
  }

  /// The events of all streams in a category: those whose names begin with it and a `/`, and the one that has it as its
  /// whole name.
  public static func category(_ name: String) -> EventSelection {
    var selection = all
    selection.category = Array(name.utf8)
    selection.includesInternal = name.utf8.first == UInt8(ascii: "$")
    return selection
  }

  /// The events of these types, by their names as the log has them. An older form of an event has a name of its own:
  /// `types(_:of:)` selects all forms.
  public static func types(_ types: String...) -> EventSelection { all.narrowed(to: types) }

  /// The events of these types; none if there are no types.
  public static func types(_ types: some Sequence<String>) -> EventSelection { all.narrowed(to: types) }

  /// Only events of these types, by their names as the log has them. An older form of an event has a name of its own:
  /// `types(_:of:)` selects all forms.
  public func types(_ types: String...) -> EventSelection { narrowed(to: types) }

  /// Only events of these types; none if there are no types.
  public func types(_ types: some Sequence<String>) -> EventSelection { narrowed(to: types) }

  /// Also the events of streams whose names begin with `$`.
  public func includingInternal() -> EventSelection {
    var selection = self
    selection.includesInternal = true
    return selection
  }

  private func narrowed(to names: some Sequence<String>) -> EventSelection {
    var selection = self
    let wanted = Set(names.map { Array($0.utf8) })
    let before = types.map(Set.init)
    selection.types = Array(before.map { $0.intersection(wanted) } ?? wanted)
    return selection
  }

  /// The selection by names, without its conditions on content.
  var byName: NamedSelection {
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    return NamedSelection(
      stream: stream.map(text), category: category.map(text), types: types?.map(text).sorted(),
      includesInternal: includesInternal, hasConditions: !conditions.isEmpty)
  }

  /// The selection that a record describes; conditions on content are not in the record.
  init(_ named: NamedSelection) {
    stream = named.stream.map { Array($0.utf8) }
    category = named.category.map { Array($0.utf8) }
    types = named.types?.map { Array($0.utf8) }
    includesInternal = named.includesInternal
  }

  private init() {}

  /// Whether no event can pass, whatever the log has: no event has such names, or none has all of them. O(names).
  var isEmpty: Bool {
    let lengthMax = FormatLimits.streamLengthMax
    if let stream, !(1...lengthMax).contains(stream.count) { return true }
    if let category, category.count > lengthMax { return true }
    if let stream, let category, stream.withUnsafeBytes({ !Self.isIn(category, $0) }) { return true }
    guard let types else { return false }
    return types.allSatisfy { type in
      guard (1...FormatLimits.typeLengthMax).contains(type.count) else { return true }
      // In streams of the application, Strata writes no types of its own but those of documents.
      return !includesInternal && type[0] == Self.dollar
        && !DocumentEvent.all.contains(String(decoding: type, as: UTF8.self))
    }
  }

  /// The names by which an index finds the selected events, and perhaps others; nil if it takes the whole log.
  package var indexedNames: (kind: IndexedKind, names: [[UInt8]])? {
    if let stream { return (.stream, [stream]) }
    if let category { return (.category, [category]) }
    return types.map { (.type, $0) }
  }

  /// Only events that satisfy a condition on their recorded bytes.
  package func satisfying(_ condition: EventCondition) -> EventSelection {
    var selection = self
    selection.conditions.append(condition)
    return selection
  }
}

/// What of a selection can be recorded: the names of its streams and types.
struct NamedSelection: Codable, Equatable {
  var stream: String?
  var category: String?
  var types: [String]?
  var includesInternal: Bool
  /// Whether the selection also has conditions on content, which are code and not recorded.
  var hasConditions: Bool
}

/// A condition on the content of an event.
package struct EventCondition: Sendable {
  /// What of an event a condition reads, as a document.
  package enum Subject: Sendable { case payload, metadata }

  /// An event's document, and what is known about the event without it. Valid only inside the call that provides it.
  package struct Facts {
    package var document: UnsafeRawBufferPointer
    /// The part of the stream's name after the first `/`.
    package var id: UnsafeRawBufferPointer
    package var sequence: UInt64
    package var time: Int64
  }

  package var subject: Subject
  package var passes: @Sendable (Facts) -> Bool

  package init(_ subject: Subject, passes: @escaping @Sendable (Facts) -> Bool) {
    self.subject = subject
    self.passes = passes
  }
}

extension EventSelection {
  private static let dollar = UInt8(ascii: "$")
  private static let slash = UInt8(ascii: "/")

  /// Whether an event is selected. O(bytes of its names), plus what the conditions read.
  package func contains(_ event: borrowing EventView, sequence: UInt64, time: Int64) -> Bool {
    let name = event.stream
    if !includesInternal, name.first == Self.dollar { return false }
    if let stream, stream.count != name.count || !name.elementsEqual(stream) { return false }
    if let category, !Self.isIn(category, name) { return false }
    if let types {
      let type = event.type
      guard types.contains(where: { $0.count == type.count && type.elementsEqual($0) }) else { return false }
    }
    for condition in conditions {
      guard Self.isTrue(condition, of: event, sequence: sequence, time: time) else { return false }
    }
    return true
  }

  private static func isIn(_ category: [UInt8], _ name: UnsafeRawBufferPointer) -> Bool {
    guard name.count >= category.count, name.count == category.count || name[category.count] == slash else {
      return false
    }
    return name.starts(with: category)
  }

  /// An event without content, or whose content is no document, satisfies no condition on it.
  private static func isTrue(
    _ condition: EventCondition, of event: borrowing EventView, sequence: UInt64, time: Int64
  ) -> Bool {
    guard event.kind == EventKind.event else { return false }
    let name = event.stream
    let start = name.firstIndex(of: slash).map { $0 + 1 } ?? name.endIndex
    var facts = EventCondition.Facts(
      document: event.metadata, id: UnsafeRawBufferPointer(rebasing: name[start...]), sequence: sequence,
      time: time)
    switch condition.subject {
    case .metadata: return condition.passes(facts)
    case .payload where event.codec == PayloadCodec.cbor.rawValue:
      facts.document = event.payload
      return condition.passes(facts)
    case .payload:
      // JSON is read as the document that it represents; other bytes are no document.
      guard event.codec == PayloadCodec.json.rawValue,
        let document = try? EventPayload(codec: .json, bytes: Array(event.payload)).cborBytes()
      else { return false }
      return document.withUnsafeBytes { bytes in
        facts.document = bytes
        return condition.passes(facts)
      }
    }
  }
}
