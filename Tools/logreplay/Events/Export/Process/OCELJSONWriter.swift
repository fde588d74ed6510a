// Writes an object-centric event log as JSON of OCEL 2.0.

internal import LogreplayShell
internal import StrataDocuments

/// The members of the one object, in this order: `objectTypes`, `eventTypes`, `objects`, `events`. Each object and each
/// event is on a line of its own, so that nothing but one of them is in memory.
struct OCELJSONWriter {
  private let target: ExportTarget
  private var bytes: [UInt8] = []
  private var count = 0

  init(_ target: ExportTarget) { self.target = target }

  mutating func begin(objectTypes: ProcessTypes, eventTypes: ProcessTypes) throws {
    try target.write("{\"objectTypes\":[")
    try write(objectTypes)
    try target.write("],\n\"eventTypes\":[")
    try write(eventTypes)
    try target.write("],\n\"objects\":[")
    count = 0
  }

  private mutating func write(_ types: ProcessTypes) throws {
    count = 0
    for name in types.names {
      let attributes = types.attributes(of: name).map { attribute -> DocumentValue in
        ["name": .string(attribute.name), "type": .string(attribute.type.name)]
      }
      try element(["name": .string(name), "attributes": .array(DocumentArray(attributes))])
    }
  }

  mutating func object(_ object: ProcessObject) throws {
    let attributes = try object.changes.map { change -> DocumentValue in
      [
        "name": .string(change.name), "time": .string(ProcessTimeText.text(change.time)),
        "value": try Self.checked(
          change.value, of: change.name, "the object \(String(reflecting: object.id))"),
      ]
    }
    try element([
      "id": .string(object.id), "type": .string(object.type), "attributes": .array(DocumentArray(attributes)),
      "relationships": Self.relationships(object.relations),
    ])
  }

  mutating func beginEvents() throws {
    try target.write("],\n\"events\":[")
    count = 0
  }

  mutating func event(_ event: ProcessEvent) throws {
    var attributes: [DocumentValue] = []
    for (name, value) in event.attributes {
      attributes.append([
        "name": .string(name), "value": try Self.checked(value, of: name, "event \(event.sequence)"),
      ])
    }
    try element([
      "id": .string(String(event.sequence)), "type": .string(event.activity),
      "time": .string(ProcessTimeText.text(event.time)), "attributes": .array(DocumentArray(attributes)),
      "relationships": Self.relationships(event.objects),
    ])
  }

  func end() throws { try target.write("]}\n") }

  private mutating func element(_ value: DocumentValue) throws {
    bytes.removeAll(keepingCapacity: true)
    bytes += (count == 0 ? "\n" : ",\n").utf8
    bytes += value.jsonBytes()
    count += 1
    try target.write(bytes)
  }

  private static func relationships(_ objects: [ProcessObjectName]) -> DocumentValue {
    .array(
      DocumentArray(
        objects.map { ["objectId": .string($0.id), "qualifier": .string($0.qualifier)] }))
  }

  /// Throws for a value that OCEL does not have.
  static func checked(
    _ value: DocumentValue, of name: String, _ place: String
  ) throws(CommandFailure) -> DocumentValue {
    let what: String
    switch value {
    case .uint, .bigInt: what = "an integer beyond 64 bits"
    case .double(let number) where !number.isFinite: what = "a number that is infinite or none"
    default: return value
    }
    throw CommandFailure(
      ExitStatus.corrupt,
      "\(place): the field \(String(reflecting: name)) holds \(what), which OCEL does not have",
      next: "leave the field out: name the others in \"attributes\" of the mapping, or leave the event out")
  }
}
