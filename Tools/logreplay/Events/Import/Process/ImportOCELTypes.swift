// What a log in OCEL declares of types, and the type of each object.

internal import StrataBase
internal import StrataDocuments

/// The declared types of attributes, of one kind: of events or of objects.
struct ImportOCELTypes {
  private var types: [ProcessText: [ProcessText: String]] = [:]

  /// Adds an element of `eventTypes` or `objectTypes`.
  mutating func add(_ value: DocumentValue) throws(ImportOCELProblem) {
    guard case .string(let name)? = value["name"] else { throw ImportOCELProblem("has no name") }
    var attributes: [ProcessText: String] = [:]
    if case .array(let elements)? = value["attributes"] {
      for element in elements {
        guard case .string(let attribute)? = element["name"], case .string(let type)? = element["type"] else {
          throw ImportOCELProblem("has an attribute without a name or a type")
        }
        attributes[ProcessText(attribute)] = type
      }
    }
    types[ProcessText(name)] = attributes
  }

  /// A value as its declared type says it: a text that is a number or a boolean, and 1 and 0 for a boolean. Values that
  /// are no text of their type stay what they are.
  func value(_ value: DocumentValue, of attribute: String, in type: String) -> DocumentValue {
    guard let declared = types[ProcessText(type)]?[ProcessText(attribute)]?.lowercased() else { return value }
    switch (declared, value) {
    case ("integer", .string(let text)): return Int64(text).map { .int($0) } ?? value
    case ("float", .string(let text)):
      guard let number = Double(text), number.isFinite else { return value }
      return .double(number)
    case ("boolean", .string(let text)):
      switch text.lowercased() {
      case "true": return .bool(true)
      case "false": return .bool(false)
      default: return value
      }
    case ("boolean", .int(1)): return .bool(true)
    case ("boolean", .int(0)): return .bool(false)
    default: return value
    }
  }
}

/// The objects of a log, by the hashes of their ids: 24 bytes of memory for each. Of the events, 8 bytes for each.
///
/// An event names objects by their ids alone, and the type of an object is its table. Two ids with one hash would be
/// taken for one id that comes twice, and the log refused.
struct ImportOCELObjects {
  private var names: [String] = []
  private var numbers: [ProcessText: UInt32] = [:]
  private var types: [(id: UInt64, type: UInt32)] = []
  private var streams: [UInt64] = []
  private var events: [UInt64] = []

  /// Adds an event, of which only the id counts.
  mutating func add(event id: String) { events.append(Self.hash(id)) }

  mutating func add(_ id: String, type: String) throws(ImportOCELProblem) {
    guard !type.utf8.contains(UInt8(ascii: "/")), type.utf8.first != UInt8(ascii: "$") else {
      throw ImportOCELProblem(
        "is of the type \(String(reflecting: type)), which is no name of a table: it has a slash, or begins with a dollar "
          + "sign")
    }
    let number = numbers[ProcessText(type)] ?? UInt32(names.count)
    if Int(number) == names.count {
      names.append(type)
      numbers[ProcessText(type)] = number
    }
    types.append((Self.hash(id), number))
    streams.append(Self.hash(Self.stream(of: id, type: type)))
  }

  /// Ends adding. Returns the hash of an id that two events have, or two objects; throws if two objects are one row.
  mutating func end() throws(ImportOCELProblem) -> (hash: UInt64, isEvent: Bool)? {
    types.sort { $0.id < $1.id }
    streams.sort()
    events.sort()
    defer { events = [] }
    for (one, next) in zip(events, events.dropFirst()) where one == next { return (one, true) }
    for (one, next) in zip(types, types.dropFirst()) where one.id == next.id {
      return (one.id, false)
    }
    for (one, next) in zip(streams, streams.dropFirst()) where one == next {
      throw ImportOCELProblem(
        "has two objects that would be one row: the id of one is that of the other after TYPE/")
    }
    streams = []
    return nil
  }

  /// The type of an object; nil if there is none with this id.
  func type(of id: String) -> String? {
    let hash = Self.hash(id)
    var (low, high) = (0, types.count)
    while low < high {
      let middle = (low + high) / 2
      if types[middle].id < hash { low = middle + 1 } else { high = middle }
    }
    return low < types.count && types[low].id == hash ? names[Int(types[low].type)] : nil
  }

  /// The stream of an object's row: `TYPE/ID`, or the id itself if it begins so, as that of an export does.
  static func stream(of id: String, type: String) -> String {
    id.utf8.elementsEqual(type.utf8) || id.utf8.starts(with: "\(type)/".utf8) ? id : "\(type)/\(id)"
  }

  static func hash(_ text: String) -> UInt64 { XXH64.of(Array(text.utf8)) }
}
