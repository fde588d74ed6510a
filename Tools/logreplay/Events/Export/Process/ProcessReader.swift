// Reads the events of a range, and makes those of a process of them by a mapping.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// The events of an export by a mapping. Each call of `forEach` reads the range again.
final class ProcessReader {
  private let request: ExportRequest
  private let selection: ExportSelection?
  private let mapping: ProcessMapping
  private let rowsAreEvents: Bool
  private let first: UInt64
  /// What the last pass counted.
  private(set) var counts = ProcessCounts()

  init(_ request: ExportRequest, _ selection: ExportSelection?, _ mapping: ProcessMapping) {
    self.request = request
    self.selection = selection
    self.mapping = mapping
    rowsAreEvents = mapping.rowsAreEvents
    first = request.from?.sequence ?? request.opened.log.mark.logBegin - 1
  }

  /// Calls the body with each event, in the order of the log. Blocks.
  func forEach(_ body: (ProcessItem) throws -> Void) throws {
    counts = ProcessCounts()
    let last = request.to.sequence
    var progress = TransferProgress(unit: "events")
    defer { progress.end() }
    let length = Double(max(1, last - min(first, last)))
    var cursor = request.opened.log.cursor(after: first)
    while cursor.nextSequence <= last, let block = try next(&cursor) {
      for append in try appends(in: block) {
        for event in append where event.sequence <= last { try body(try item(event)) }
      }
      let position = min(block.header.nextSequence &- 1, last)
      progress.update(counts.events) { Double(position - self.first) / length }
    }
  }

  private func next(_ cursor: inout LogCursor) throws -> DecodedBlock? {
    do throws(StoreError) { return try cursor.next() } catch { throw request.opened.failure(error) }
  }

  /// The selected events of a block that are an application's.
  private func appends(in block: DecodedBlock) throws -> [[RecordedEvent]] {
    var found: [[RecordedEvent]] = []
    do throws(ContentProblem) {
      try block.forEachAppend { append, firstOfAppend throws(ContentProblem) in
        var events: [RecordedEvent] = []
        var cursor = append.events
        for index in 0..<UInt64(append.eventCount) {
          let sequence = firstOfAppend + index
          do throws(DecodingProblem) {
            let event = try cursor.nextEvent()
            guard sequence > first, event.stream.first != UInt8(ascii: "$"),
              selection.map({ $0.contains(event, sequence, append.ownTime) }) ?? true
            else { continue }
            events.append(RecordedEvent(event, sequence: sequence, time: append.ownTime))
          } catch { throw ContentProblem(error) }
        }
        if !events.isEmpty { found.append(events) }
      }
    } catch { throw request.opened.failure(error.storeError(of: block.header)) }
    return found
  }

  // MARK: One event

  private func item(_ event: RecordedEvent) throws(CommandFailure) -> ProcessItem {
    let fields = try content(of: event)
    let objects = try objects(of: event, fields)
    if !rowsAreEvents, let kind = Self.kinds[event.type] {
      counts.changes += 1
      return .change(
        ProcessRowChange(
          sequence: event.sequence, time: event.time.nanoseconds, kind: kind, category: event.stream.category,
          stream: event.stream.id, attributes: scalars(of: fields, keepsNull: kind == .merge, nil),
          objects: mapping.objects == nil ? objects.filter { $0.id != event.stream.text } : []))
    }
    counts.events += 1
    if objects.isEmpty { counts.withoutObject += 1 }
    return .event(
      ProcessEvent(
        sequence: event.sequence, time: try time(of: event, fields),
        activity: try name(mapping.activity, "activity", fields, event) ?? event.type,
        category: event.stream.category, stream: event.stream.id,
        caseID: try name(mapping.caseID, "case", fields, event), objects: objects,
        attributes: scalars(of: fields, keepsNull: false, mapping.attributes)))
  }

  private static let kinds: [String: ProcessRowChange.Kind] = [
    DocumentEvent.put: .put, DocumentEvent.merge: .merge, DocumentEvent.delete: .delete,
  ]

  /// The payload, if it is an object: that of an event that was erased, and bytes, have no fields.
  private func content(of event: RecordedEvent) throws(CommandFailure) -> DocumentObject {
    guard event.state == .whole, event.payload.codec != .bytes, !event.payload.bytes.isEmpty else {
      return [:]
    }
    do throws(StoreError) {
      if case .object(let object) = try event.document() { return object }
      return [:]
    } catch { throw refused(event, error.what, next: "leave the event out with --type or --stream") }
  }

  private func scalars(
    of fields: DocumentObject, keepsNull: Bool, _ chosen: Set<ProcessText>?
  ) -> DocumentObject {
    var attributes = DocumentObject()
    for (name, value) in fields where chosen?.contains(ProcessText(name)) ?? true {
      switch value {
      case .null: if keepsNull { attributes[name] = value }
      case .bool, .int, .uint, .bigInt, .double, .string: attributes[name] = value
      case .bytes, .array, .object, .tagged: counts.nested += 1
      }
    }
    return attributes
  }

  /// The name that a field of the mapping gives; nil if the event does not have the field.
  private func name(
    _ path: ImportFieldPath?, _ role: String, _ fields: DocumentObject, _ event: RecordedEvent
  ) throws(CommandFailure) -> String? {
    guard let path, let value = Self.value(of: path, in: fields) else { return nil }
    guard let name = value.processName else {
      throw refused(
        event, "the field \(String(reflecting: path.text)) is not a text, an integer or a boolean",
        next: "choose another field for \"\(role)\" in the mapping, or leave the event out")
    }
    return name
  }

  private func time(of event: RecordedEvent, _ fields: DocumentObject) throws(CommandFailure) -> Int64 {
    guard let path = mapping.time, let value = Self.value(of: path, in: fields) else {
      return event.time.nanoseconds
    }
    let encoded = value.cbor()
    do throws(ImportTimeProblem) {
      return try encoded.lendBytes { bytes throws(ImportTimeProblem) in
        try ImportTimeFormat().nanoseconds(bytes)
      }
    } catch {
      throw refused(
        event, error.why(of: path.text),
        next: "leave \"time\" out of the mapping: an event then has the time of its append")
    }
  }

  private func objects(
    of event: RecordedEvent, _ fields: DocumentObject
  ) throws(CommandFailure) -> [ProcessObjectName] {
    var names: [ProcessObjectName] = []
    guard let rules = mapping.objects else {
      if let named = ProcessMetadata.objects(in: event.metadataBytes) { return named }
      return [
        ProcessObjectName(id: event.stream.text, type: event.stream.category, qualifier: "")
      ]
    }
    for rule in rules {
      switch rule.source {
      case .category(let category):
        guard event.stream.category == category else { continue }
        let id = event.stream.id
        names.append(
          ProcessObjectName(
            id: id.isEmpty ? rule.type : "\(rule.type)/\(id)", type: rule.type, qualifier: rule.qualifier))
      case .field(let path):
        guard let value = Self.value(of: path, in: fields) else { continue }
        let values: [DocumentValue] = if case .array(let values) = value { Array(values) } else { [value] }
        for value in values {
          guard let id = value.processName else {
            throw refused(
              event,
              "the field \(String(reflecting: path.text)) holds no id: a text or an integer, or an array of them",
              next: "choose another field for the objects of type \(String(reflecting: rule.type))")
          }
          names.append(
            ProcessObjectName(id: "\(rule.type)/\(id)", type: rule.type, qualifier: rule.qualifier))
        }
      }
    }
    var seen = Set<ProcessText>()
    return names.filter { seen.insert(ProcessText("\($0.id)\u{0}\($0.qualifier)")).inserted }
  }

  /// The value of a field; nil if it is not there, or null.
  private static func value(of path: ImportFieldPath, in fields: DocumentObject) -> DocumentValue? {
    var value = fields[path.text] ?? .null
    if path.names != [path.text], value.isNull {
      value = .object(fields)
      for name in path.names { value = value[name] ?? .null }
    }
    return value.isNull ? nil : value
  }

  private func refused(_ event: RecordedEvent, _ what: String, next: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, "event \(event.sequence): \(what)", at: request.opened.path, next: next)
  }
}
