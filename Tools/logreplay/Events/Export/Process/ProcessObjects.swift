// The objects of a process, with their attributes and how these changed.

internal import LogreplayShell
internal import StrataDocuments

/// An object as OCEL has it.
struct ProcessObject {
  struct Change {
    var name: String
    var time: Int64
    var value: DocumentValue
  }

  var id: String
  var type: String
  /// The attributes that its first row has, then what changed, in the order of the log.
  var changes: [Change] = []
  /// How many of them its first row has.
  var initialCount = 0
  var relations: [ProcessObjectName] = []
}

/// Collects objects: those that events name, and rows.
struct ProcessObjects {
  private var sort: ProcessSort
  /// Ids that were added of late, so that an object with many events is not sorted once for each.
  private var recent: Set<ProcessText> = []
  private static let recentMax = 1 << 14
  private(set) var types = ProcessTypes("types of objects", member: "objects")

  init(in folder: String) { sort = ProcessSort(in: folder) }

  mutating func add(_ objects: [ProcessObjectName]) throws(CommandFailure) {
    for object in objects {
      if recent.count >= Self.recentMax { recent.removeAll(keepingCapacity: true) }
      guard recent.insert(ProcessText("\(object.type)\u{0}\(object.id)")).inserted else { continue }
      try types.add(object.type, [:])
      try sort.add(object.id, ["t": .string(object.type)])
    }
  }

  mutating func add(_ change: ProcessRowChange) throws(CommandFailure) {
    let object = change.object
    try types.add(object.type, change.attributes)
    try add(change.objects)
    var record: DocumentObject = [
      "t": .string(object.type), "k": .int(change.kind.rawValue), "m": .int(change.time),
      "a": .object(change.attributes),
    ]
    if !change.objects.isEmpty {
      record["r"] = ProcessMetadata.value(of: change.objects.map { ($0.id, $0.type, $0.qualifier) })
    }
    try sort.add(object.id, .object(record))
  }

  /// Calls the body with each object, in the order in which they were first named.
  func forEach(_ body: (ProcessObject) throws -> Void) throws {
    var object: ProcessObject?
    var now = DocumentObject()
    var hasRow = false
    try sort.forEach { id, isFirst, record in
      guard case .string(let type)? = record["t"] else { return }
      if isFirst {
        if let object { try body(object) }
        object = ProcessObject(id: id, type: type)
        now = [:]
        hasRow = false
      } else if let known = object?.type, !known.utf8.elementsEqual(type.utf8) {
        throw CommandFailure(
          ExitStatus.usage,
          "the object \(String(reflecting: id)) is of the types \(String(reflecting: known)) and \(String(reflecting: type))",
          next: "give each id one type, with \"objects\" in the mapping")
      }
      guard case .int(let time)? = record["m"], case .int(let kind)? = record["k"],
        case .object(let attributes)? = record["a"]
      else { return }
      for (name, value) in attributes where !value.isNull && now[name] != value {
        object?.changes.append(.init(name: name, time: time, value: value))
      }
      let count = object?.changes.count ?? 0
      if !hasRow { object?.initialCount = count }
      hasRow = true
      switch ProcessRowChange.Kind(rawValue: kind) {
      case .merge: for (name, value) in attributes { now[name] = value.isNull ? nil : value }
      default: now = attributes
      }
      if let relations = record["r"], object?.relations.isEmpty ?? false {
        object?.relations = ProcessMetadata.objects(in: relations.cbor()) ?? []
      }
    }
    if let object { try body(object) }
  }
}
