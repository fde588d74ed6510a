// Takes events and objects of OCEL 2.0, and makes lines of them once all are known.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

/// Events become events of the stream of their first object, with all their objects in the metadata. Objects become rows
/// of the table of their type, which are put with their first attributes and merged with later ones.
///
/// What is taken is sorted by time as it is: the types of attributes and of objects may come after it. An object comes
/// before an event of the same time.
struct ImportOCEL {
  private let name: String
  private let times: ImportTimeFormat
  private let source: ImportSourceName?
  private var lines: ImportProcessLines
  private var eventCount: UInt64 = 0
  private var objectCount: UInt64 = 0
  var eventTypes = ImportOCELTypes()
  var objectTypes = ImportOCELTypes()
  private var objects = ImportOCELObjects()

  init(_ name: String, times: ImportTimeFormat, source: ImportSourceName?, folder: String) {
    self.name = name
    self.times = times
    self.source = source
    lines = ImportProcessLines(in: folder)
  }

  // MARK: Taking

  mutating func take(event value: DocumentValue) throws(ImportOCELProblem) {
    let event = try ImportOCELElement(value, isEvent: true)
    let time = try nanoseconds(event.time ?? "")
    var seen: Set<ProcessText> = []
    for attribute in event.attributes where !seen.insert(ProcessText(attribute.name)).inserted {
      throw ImportOCELProblem("has two attributes \(String(reflecting: attribute.name))")
    }
    eventCount += 1
    objects.add(event: event.id)
    try add(time, ["e": value], number: 1 << 62 | eventCount)
  }

  mutating func take(object value: DocumentValue) throws(ImportOCELProblem) {
    let object = try ImportOCELElement(value, isEvent: false)
    try objects.add(object.id, type: object.type)
    var byTime: [Int64: DocumentObject] = [:]
    for attribute in object.attributes {
      let time = try nanoseconds(attribute.time ?? "")
      guard byTime[time]?[attribute.name] == nil else {
        throw ImportOCELProblem("has two values of \(String(reflecting: attribute.name)) at one time")
      }
      byTime[time, default: [:]][attribute.name] = attribute.value
    }
    // As OCEL says of what was there from the beginning.
    if byTime.isEmpty { byTime[0] = [:] }
    for (index, time) in byTime.keys.sorted().enumerated() {
      var record: DocumentObject = [
        "o": .string(object.id), "t": .string(object.type), "n": DocumentValue(index), "m": .int(time),
        "a": .object(byTime[time] ?? [:]),
      ]
      if index == 0, !object.relations.isEmpty {
        record["r"] = .array(
          DocumentArray(object.relations.map { [.string($0.id), .string($0.qualifier)] }))
      }
      objectCount += 1
      try add(time, .object(record), number: objectCount)
    }
  }

  private mutating func add(
    _ time: Int64, _ record: DocumentValue, number: UInt64
  ) throws(ImportOCELProblem) {
    guard record.refusal == nil else { throw ImportOCELProblem("holds a value that no document has") }
    do throws(CommandFailure) { try lines.add(time, record.cbor(), number: number) } catch {
      throw ImportOCELProblem("cannot be sorted: \(error.what)")
    }
  }

  private func nanoseconds(_ text: String) throws(ImportOCELProblem) -> Int64 {
    do throws(ImportTimeProblem) {
      return try Array(text.utf8).lendBytes { text throws(ImportTimeProblem) in
        try times.nanoseconds(text: text)
      }
    } catch { throw ImportOCELProblem("has a time that cannot be read: \(error.why(of: "time"))") }
  }

  // MARK: Lines

  /// Ends taking: checks every element, so that nothing is appended of a log with a bad one.
  mutating func end() throws(CommandFailure) {
    do throws(ImportOCELProblem) {
      if let twice = try objects.end() {
        let id = try id(of: twice).map { " " + String(reflecting: $0) } ?? ""
        throw ImportOCELProblem("has two \(twice.isEvent ? "events" : "objects") with one id\(id)")
      }
    } catch {
      throw refused("the log \(error.what)")
    }
    try forEach { _ in }
  }

  /// The id that has a hash; nil if it cannot be read again.
  private func id(of twice: (hash: UInt64, isEvent: Bool)) throws(ImportOCELProblem) -> String? {
    var found: String?
    do throws(CommandFailure) {
      try lines.forEach { bytes throws(CommandFailure) in
        guard found == nil, let record = try? DocumentValue(cbor: bytes),
          let id = (twice.isEvent ? record["e"]?["id"] : record["o"])?.processName,
          ImportOCELObjects.hash(id) == twice.hash
        else { return }
        found = id
      }
    } catch { throw ImportOCELProblem("cannot be sorted: \(error.what)") }
    return found
  }

  /// Calls the body with each line, in the order of time.
  func forEach(_ body: ([UInt8]) throws(CommandFailure) -> Void) throws(CommandFailure) {
    try lines.forEach { bytes throws(CommandFailure) in
      guard let record = try? DocumentValue(cbor: bytes) else {
        throw CommandFailure(
          ExitStatus.inputOutput, "the temporary file of the sort was changed", next: "import again")
      }
      let event = if let value = record["e"] { try self.event(value) } else { try row(record) }
      if let problem = event.problem {
        throw refused("the element \(String(reflecting: event.id)) has \(problem)")
      }
      try body(event.line(source: source))
    }
  }

  private func event(_ value: DocumentValue) throws(CommandFailure) -> ImportProcessEvent {
    let event: ImportOCELElement
    do throws(ImportOCELProblem) { event = try ImportOCELElement(value, isEvent: true) } catch {
      throw refused("an event \(error.what)")
    }
    let names = try known(event.relations, of: "the event \(String(reflecting: event.id))")
    var data = DocumentObject()
    for attribute in event.attributes where !attribute.value.isNull {
      data[attribute.name] = eventTypes.value(attribute.value, of: attribute.name, in: event.type)
    }
    let stream =
      names.first.map { ImportOCELObjects.stream(of: $0.id, type: $0.type ?? "") } ?? "event/\(event.id)"
    // An event whose stream says all about its objects needs no metadata.
    let isPlain =
      names.count == 1 && names[0].qualifier.isEmpty && names[0].id.utf8.elementsEqual(stream.utf8)
    return ImportProcessEvent(
      id: event.id, part: "e", time: try? nanoseconds(event.time ?? ""), stream: stream, type: event.type,
      data: data, metadata: isPlain ? nil : ProcessMetadata.value(of: names))
  }

  private func row(_ record: DocumentValue) throws(CommandFailure) -> ImportProcessEvent {
    guard case .string(let id)? = record["o"], case .string(let type)? = record["t"],
      case .int(let index)? = record["n"], case .int(let time)? = record["m"],
      case .object(let attributes)? = record["a"]
    else { throw refused("an object was not sorted whole") }
    var relations: [(id: String, qualifier: String)] = []
    if case .array(let elements)? = record["r"] {
      for element in elements {
        guard case .array(let parts) = element, parts.count == 2, case .string(let id) = parts[0],
          case .string(let qualifier) = parts[1]
        else { continue }
        relations.append((id, qualifier))
      }
    }
    let names = try known(relations, of: "the object \(String(reflecting: id))")
    var data = DocumentObject()
    for (name, value) in attributes where !value.isNull {
      data[name] = objectTypes.value(value, of: name, in: type)
    }
    return ImportProcessEvent(
      id: id, part: "o\(index)", time: time, stream: ImportOCELObjects.stream(of: id, type: type),
      type: index == 0 ? DocumentEvent.put : DocumentEvent.merge, data: data,
      metadata: names.isEmpty ? nil : ProcessMetadata.value(of: names))
  }

  /// The objects with their types.
  private func known(
    _ relations: [(id: String, qualifier: String)], of place: String
  ) throws(CommandFailure) -> [(id: String, type: String?, qualifier: String)] {
    var names: [(id: String, type: String?, qualifier: String)] = []
    for relation in relations {
      guard let type = objects.type(of: relation.id) else {
        throw refused("\(place) names the object \(String(reflecting: relation.id)), which is not there")
      }
      names.append((relation.id, type, relation.qualifier))
    }
    return names
  }

  private func refused(_ what: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, what, at: name, next: "correct it and import again; nothing was appended")
  }
}
