// Reads a log in XES (IEEE 1849): a trace is a case, and its events are those of the case's stream.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents

/// Makes lines of the traces of a log.
///
/// An event is one of the stream `TABLE/CASE`: its type is `concept:name`, its time is `time:timestamp`, and its payload
/// has the other attributes. The attributes of a trace other than its name are a row `TABLE/CASE`, which is put before
/// the first event. Of the log itself, globals, classifiers, extensions and attributes say nothing about an event.
struct ImportXES {
  private var reader: XMLReader
  private let table: String
  private let times: ImportTimeFormat
  private let source: ImportSourceName?
  private var lines: ImportProcessLines
  /// The number of the next line, in the order of the log.
  private var number: UInt64 = 0
  /// Cases, by the hashes of their ids: a log in which one comes twice would give two events one id.
  private var cases: Set<UInt64> = []
  private(set) var hasLogAttributes = false

  init(
    _ input: ImportInput, table: String, times: ImportTimeFormat, source: ImportSourceName?, folder: String
  ) {
    reader = XMLReader(input, name: input.name)
    self.table = table
    self.times = times
    self.source = source
    lines = ImportProcessLines(in: folder)
  }

  /// Reads the whole log.
  mutating func read() throws(CommandFailure) -> ImportProcessLines {
    guard case .start("log", _)? = try reader.next() else {
      throw reader.broken("the first element is not <log>: this is not XES")
    }
    while let token = try reader.next() {
      guard case .start(let name, let attributes) = token else { continue }
      switch name {
      case "trace": try readTrace()
      case "event": throw reader.broken("an event outside of a trace, which has no case")
      case "extension", "global", "classifier": try skip()
      default:
        hasLogAttributes = true
        _ = try readAttribute(name, attributes)
      }
    }
    return lines
  }

  /// Goes to the end of the element that has begun.
  private mutating func skip() throws(CommandFailure) {
    let depth = reader.depth
    while reader.depth >= depth, try reader.next() != nil {}
  }

  // MARK: Traces

  private mutating func readTrace() throws(CommandFailure) {
    var attributes = DocumentObject()
    var id: String?
    var first: Int64?
    var index = 0
    // The row is put at the time of the first event, and before it.
    let row = number
    number += 1
    var hasRow = false
    while let token = try reader.next() {
      guard case .start(let name, let xml) = token else { break }
      guard name == "event" else {
        let (key, value) = try readAttribute(name, xml)
        guard key == "concept:name" else {
          try add(value, as: key, to: &attributes, of: "a trace")
          continue
        }
        guard id == nil, let text = value.processName, !text.isEmpty else {
          throw reader.broken("a trace whose concept:name is no text, is empty, or comes twice")
        }
        try begin(text)
        id = text
        continue
      }
      guard let id else {
        throw reader.broken("a trace that has no concept:name before its first event: its case has no id")
      }
      index += 1
      let time = try readEvent(of: id, index)
      first = first ?? time
      hasRow = true
    }
    guard let id else { throw reader.broken("a trace without a concept:name: its case has no id") }
    guard !attributes.isEmpty || !hasRow else { return }
    let event = ImportProcessEvent(
      id: id, part: "0", time: first, stream: "\(table)/\(id)", type: DocumentEvent.put, data: attributes)
    if let problem = event.problem { throw reader.broken(problem) }
    try lines.add(first, event.line(source: source), number: row)
  }

  private mutating func begin(_ id: String) throws(CommandFailure) {
    guard cases.insert(XXH64.of(Array(id.utf8))).inserted else {
      throw reader.broken("a second trace of the case \(String(reflecting: id)): a case is one trace")
    }
  }

  private mutating func readEvent(of id: String, _ index: Int) throws(CommandFailure) -> Int64 {
    var activity: String?
    var time: Int64?
    var data = DocumentObject()
    while let token = try reader.next() {
      guard case .start(let name, let xml) = token else { break }
      let (key, value) = try readAttribute(name, xml)
      switch key {
      case "concept:name" where activity == nil:
        guard let text = value.processName else { throw reader.broken("a concept:name that is no text") }
        activity = text
      case "time:timestamp" where time == nil:
        guard case .string(let text) = value else { throw reader.broken("a time:timestamp that is no time") }
        time = try nanoseconds(text)
      default: try add(value, as: key, to: &data, of: "an event")
      }
    }
    guard let activity else { throw reader.broken("an event without a concept:name: it has no activity") }
    guard let time else { throw reader.broken("an event without a time:timestamp") }
    let event = ImportProcessEvent(
      id: id, part: String(index), time: time, stream: "\(table)/\(id)", type: activity, data: data)
    if let problem = event.problem { throw reader.broken(problem) }
    try lines.add(time, event.line(source: source), number: number)
    number += 1
    return time
  }

  private func add(
    _ value: DocumentValue, as key: String, to object: inout DocumentObject, of noun: String
  ) throws(CommandFailure) {
    guard object[key] == nil else {
      throw reader.broken("\(noun) has two attributes \(String(reflecting: key))")
    }
    object[key] = value
  }

  private func nanoseconds(_ text: String) throws(CommandFailure) -> Int64 {
    do throws(ImportTimeProblem) {
      return try Array(text.utf8).lendBytes { text throws(ImportTimeProblem) in
        try times.nanoseconds(text: text)
      }
    } catch { throw reader.broken(error.why(of: "time:timestamp")) }
  }

  // MARK: Attributes

  /// Reads an attribute of which the element has begun, to its end.
  ///
  /// A value that has attributes of its own is an object with its `value` and these `attributes`. A list is an array of
  /// objects with one member each, and a container an object.
  private mutating func readAttribute(
    _ type: String, _ xml: [(name: String, value: String)]
  ) throws(CommandFailure) -> (key: String, value: DocumentValue) {
    guard let key = xml.first(where: { $0.name == "key" })?.value else {
      throw reader.broken("an element <\(PeopleText.printable(type))> without a key: it is no attribute")
    }
    var children: [(key: String, value: DocumentValue)] = []
    var isInValues = false
    while let token = try reader.next() {
      guard case .start(let name, let inner) = token else {
        guard isInValues else { break }
        isInValues = false
        continue
      }
      if name == "values", type == "list", !isInValues {
        isInValues = true
      } else {
        children.append(try readAttribute(name, inner))
      }
    }
    if type == "list" {
      let elements = children.map { child -> DocumentValue in
        .object(DocumentObject(uniqueKeysWithValues: [(child.key, child.value)]))
      }
      return (key, .array(DocumentArray(elements)))
    }
    var nested = DocumentObject()
    for child in children { try add(child.value, as: child.key, to: &nested, of: "an attribute") }
    if type == "container" { return (key, .object(nested)) }
    guard let text = xml.first(where: { $0.name == "value" })?.value else {
      throw reader.broken("the attribute \(String(reflecting: key)) has no value")
    }
    let value = try value(type, text, of: key)
    return (key, nested.isEmpty ? value : .object(["value": value, "attributes": .object(nested)]))
  }

  private func value(_ type: String, _ text: String, of key: String) throws(CommandFailure) -> DocumentValue {
    switch type {
    case "string", "date", "id": return .string(text)
    case "int": if let number = Int64(text) { return .int(number) }
    case "float": if let number = Double(text), number.isFinite { return .double(number) }
    case "boolean":
      switch text.lowercased() {
      case "true", "1": return .bool(true)
      case "false", "0": return .bool(false)
      default: break
      }
    default:
      throw reader.broken("an attribute of the type \(String(reflecting: type)), which XES does not have")
    }
    throw reader.broken(
      "the attribute \(String(reflecting: key)) is \(String(reflecting: String(text.prefix(60)))), which is no \(type) "
        + "that a document has")
  }
}
