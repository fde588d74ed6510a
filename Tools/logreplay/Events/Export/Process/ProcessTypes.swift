// The attributes that the events of an activity or the objects of a type have, and of which types their values are.

internal import LogreplayShell
internal import StrataDocuments

/// The type of an attribute, by its values.
enum ProcessAttributeType {
  case string, integer, float, boolean
  /// Integers and doubles.
  case number
  /// Values of different types, not only numbers.
  case mixed

  /// Nil for null.
  init?(of value: DocumentValue) {
    switch value {
    case .bool: self = .boolean
    case .int: self = .integer
    case .double: self = .float
    case .null: return nil
    default: self = .string
    }
  }

  /// The type of an attribute that has values of both.
  func joined(with other: ProcessAttributeType) -> ProcessAttributeType {
    if self == other { return self }
    let isNumber = [self, other].allSatisfy { [.integer, .float, .number].contains($0) }
    return isNumber ? .number : .mixed
  }

  /// The type's name in OCEL, which has none for different types.
  var name: String {
    switch self {
    case .string, .mixed: "string"
    case .integer: "integer"
    case .float, .number: "float"
    case .boolean: "boolean"
    }
  }
}

/// The types of one kind: the activities, or the types of objects.
struct ProcessTypes {
  /// What they are called in messages, and the member of the mapping that they come from.
  let noun: String
  let member: String
  private var attributes: [ProcessText: [ProcessText: ProcessAttributeType]] = [:]
  private var count = 0

  /// Types and attributes are kept in memory: a field of ids that is taken for the activity would fill it.
  private static let countMax = 100_000

  init(_ noun: String, member: String) {
    self.noun = noun
    self.member = member
  }

  /// Adds what an event or an object has.
  mutating func add(_ name: String, _ values: DocumentObject) throws(CommandFailure) {
    let type = ProcessText(name)
    if attributes[type] == nil {
      attributes[type] = [:]
      count += 1
    }
    for (name, value) in values {
      guard let found = ProcessAttributeType(of: value) else { continue }
      let name = ProcessText(name)
      if let known = attributes[type]?[name] {
        if known != found { attributes[type]?[name] = known.joined(with: found) }
      } else {
        attributes[type]?[name] = found
        count += 1
      }
    }
    guard count <= Self.countMax else {
      throw CommandFailure(
        ExitStatus.usage, "there are more than \(Self.countMax) \(noun) and attributes of them",
        next: "choose in the mapping another field for \"\(member)\", or the \"attributes\"")
    }
  }

  /// The names of the types, in order.
  var names: [String] { attributes.keys.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }

  /// The attributes of a type, in order.
  func attributes(of type: String) -> [(name: String, type: ProcessAttributeType)] {
    (attributes[ProcessText(type)] ?? [:]).map { ($0.key.text, $0.value) }
      .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
  }
}
