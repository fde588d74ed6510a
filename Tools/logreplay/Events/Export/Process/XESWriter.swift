// Writes an event log as XES (IEEE 1849): a trace for each case.

internal import LogreplayShell
internal import StrataDocuments

/// The elements of a log, from its beginning to its end.
struct XESWriter {
  private let target: ExportTarget
  private var bytes: [UInt8] = []
  private var isInTrace = false

  init(_ target: ExportTarget) { self.target = target }

  func begin() throws {
    try target.write(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <log xes.version="1849-2016" xes.features="" xmlns="http://www.xes-standard.org/">
      <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
      <extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
      <global scope="trace">
      <string key="concept:name" value=""/>
      </global>
      <global scope="event">
      <string key="concept:name" value=""/>
      <date key="time:timestamp" value="1970-01-01T00:00:00.000Z"/>
      </global>
      <classifier name="Activity" keys="concept:name"/>

      """)
  }

  mutating func trace(_ id: String, _ attributes: DocumentObject) throws {
    try endTrace()
    isInTrace = true
    bytes += "<trace>\n".utf8
    let place = "the case \(String(reflecting: id))"
    try attribute("string", "concept:name", id, place)
    try self.attributes(attributes, place, reserved: ["concept:name"])
    try flush()
  }

  mutating func event(_ event: ProcessEvent) throws {
    let place = "event \(event.sequence)"
    bytes += "<event>\n".utf8
    try attribute("string", "concept:name", event.activity, place)
    try attribute("date", "time:timestamp", ProcessTimeText.text(event.time), place)
    try attributes(event.attributes, place, reserved: ["concept:name", "time:timestamp"])
    bytes += "</event>\n".utf8
    try flush()
  }

  mutating func end() throws {
    try endTrace()
    bytes += "</log>\n".utf8
    try flush()
  }

  private mutating func endTrace() throws {
    if isInTrace { bytes += "</trace>\n".utf8 }
    isInTrace = false
  }

  private mutating func flush() throws {
    try target.write(bytes)
    bytes.removeAll(keepingCapacity: true)
  }

  private mutating func attributes(
    _ values: DocumentObject, _ place: String, reserved: [String]
  ) throws(CommandFailure) {
    for (name, value) in values {
      guard !reserved.contains(name) else {
        throw Self.refused(
          "\(place): the field \(String(reflecting: name)) has the name of what XES itself says there")
      }
      switch value {
      case .null: continue
      case .bool(let value): try attribute("boolean", name, value ? "true" : "false", place)
      case .int(let number): try attribute("int", name, String(number), place)
      case .double(let number): try attribute("float", name, Self.text(of: number), place)
      case .string(let text): try attribute("string", name, text, place)
      default:
        throw Self.refused(
          "\(place): the field \(String(reflecting: name)) holds an integer beyond 64 bits, which XES does not have"
        )
      }
    }
  }

  private mutating func attribute(
    _ type: String, _ key: String, _ value: String, _ place: String
  ) throws(CommandFailure) {
    bytes += "<\(type) key=".utf8
    guard XMLText.append(key, to: &bytes) else {
      throw Self.refused(
        "\(place): the name of the field \(String(reflecting: key)) has a character that XML cannot have")
    }
    bytes += " value=".utf8
    guard XMLText.append(value, to: &bytes) else {
      throw Self.refused(
        "\(place): \(String(reflecting: key)) has a character that XML cannot have: \(String(reflecting: String(value.prefix(60))))"
      )
    }
    bytes += "/>\n".utf8
  }

  /// As the type `double` of XML Schema writes it.
  private static func text(of number: Double) -> String {
    number.isNaN ? "NaN" : number.isInfinite ? (number < 0 ? "-INF" : "INF") : number.description
  }

  private static func refused(_ what: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, what,
      next: "leave the field out: name the others in \"attributes\" of the mapping, or leave the event out")
  }
}
