// How events become those of a process: which field is the activity, the case, an object. Read from a JSON file.

internal import LogreplayPoints
package import LogreplayShell
internal import StrataDocuments

/// The mapping of `--mapping`. Without a file, the type of an event is its activity, its stream is its case and its one
/// object, and rows are what objects look like.
///
///     {"activity": "status", "time": "changed", "case": "incident",
///      "objects": [{"type": "incident", "category": "incident"},
///                  {"type": "group", "field": "group", "qualifier": "handled by"}],
///      "attributes": ["status", "impact"], "rows": "events"}
package struct ProcessMapping {
  /// A rule that gives an event objects.
  struct ObjectRule {
    enum Source {
      /// Events of streams in this category have the stream's id as object.
      case category(String)
      /// The field holds the id of an object, or an array of ids.
      case field(ImportFieldPath)
    }

    var type: String
    var source: Source
    var qualifier: String
  }

  var activity: ImportFieldPath?
  var time: ImportFieldPath?
  var caseID: ImportFieldPath?
  /// Nil for the objects that an event's metadata names, or else its stream.
  var objects: [ObjectRule]?
  /// The names of the fields that are attributes of events; nil for all.
  var attributes: Set<ProcessText>?
  /// Whether `$put`, `$merge` and `$delete` are events. If not, they are changes of an object's attributes.
  var rowsAreEvents = false

  package init() {}

  /// Reads a mapping file. A member that it does not know is an error.
  package init(file: String) throws(CommandFailure) {
    self.init()
    let window = ImportWindow(try ImportInput(file))
    while window.bytes.count <= Self.lengthMax, try window.fill() {}
    guard window.bytes.count <= Self.lengthMax else {
      throw Self.refused("the mapping has more than \(Self.lengthMax) bytes", at: file)
    }
    let value: DocumentValue
    do throws(JSONError) { value = try DocumentValue(json: window.bytes) } catch {
      throw Self.refused(
        "the mapping is no JSON: \(error.explanation)", at: "\(file):\(error.line):\(error.column)")
    }
    do throws(ProcessMappingProblem) { try read(value) } catch { throw Self.refused(error.what, at: file) }
  }

  private static let lengthMax = 1 << 20

  private static func refused(_ what: String, at place: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.usage, what, at: place,
      next: "correct the mapping: logreplay help export describes its members")
  }
}

/// What is wrong with a mapping.
private struct ProcessMappingProblem: Error {
  var what: String
}

extension ProcessMapping {
  private mutating func read(_ value: DocumentValue) throws(ProcessMappingProblem) {
    guard case .object(let object) = value else {
      throw ProcessMappingProblem(what: "the mapping is not an object")
    }
    var rows: String?
    for (name, value) in object {
      switch name {
      case "activity": activity = try Self.field(value, name)
      case "time": time = try Self.field(value, name)
      case "case": caseID = try Self.field(value, name)
      case "objects":
        var rules: [ObjectRule] = []
        for value in try Self.array(value, name) { rules.append(try Self.rule(value)) }
        objects = rules
      case "attributes":
        var names: Set<ProcessText> = []
        for value in try Self.array(value, name) { names.insert(ProcessText(try Self.text(value, name))) }
        attributes = names
      case "rows": rows = try Self.text(value, name)
      default:
        throw ProcessMappingProblem(
          what:
            "the mapping has no member \(String(reflecting: name)): its members are activity, time, case, objects, "
            + "attributes and rows")
      }
    }
    switch rows {
    case nil: rowsAreEvents = activity != nil
    case "events": rowsAreEvents = true
    case "objects": rowsAreEvents = false
    default: throw ProcessMappingProblem(what: "\"rows\" is neither \"events\" nor \"objects\"")
    }
  }

  private static func rule(_ value: DocumentValue) throws(ProcessMappingProblem) -> ObjectRule {
    guard case .object(let object) = value else {
      throw ProcessMappingProblem(what: "an element of \"objects\" is not an object")
    }
    var type: String?
    var source: ObjectRule.Source?
    var qualifier: String?
    for (name, value) in object {
      switch name {
      case "type": type = try text(value, name)
      case "qualifier": qualifier = try text(value, name)
      case "category", "field":
        guard source == nil else {
          throw ProcessMappingProblem(what: "an element of \"objects\" has a category and a field")
        }
        source = name == "field" ? .field(try field(value, name)) : .category(try text(value, name))
      default:
        throw ProcessMappingProblem(
          what:
            "an element of \"objects\" has no member \(String(reflecting: name)): its members are type, category or "
            + "field, and qualifier")
      }
    }
    guard let type, !type.isEmpty else {
      throw ProcessMappingProblem(what: "an element of \"objects\" has no \"type\"")
    }
    guard let source else {
      throw ProcessMappingProblem(
        what: "the objects of type \(String(reflecting: type)) have neither a \"category\" nor a \"field\"")
    }
    if case .field(let path) = source { qualifier = qualifier ?? path.text }
    return ObjectRule(type: type, source: source, qualifier: qualifier ?? "")
  }

  private static func text(_ value: DocumentValue, _ name: String) throws(ProcessMappingProblem) -> String {
    guard case .string(let text) = value else {
      throw ProcessMappingProblem(what: "\(String(reflecting: name)) is not a text")
    }
    return text
  }

  private static func field(
    _ value: DocumentValue, _ name: String
  ) throws(ProcessMappingProblem) -> ImportFieldPath {
    let text = try text(value, name)
    do throws(CommandFailure) { return try ImportFieldPath(text, option: name) } catch {
      throw ProcessMappingProblem(what: "\(error.what), at \(String(reflecting: name))")
    }
  }

  private static func array(
    _ value: DocumentValue, _ name: String
  ) throws(ProcessMappingProblem) -> [DocumentValue] {
    guard case .array(let values) = value else {
      throw ProcessMappingProblem(what: "\(String(reflecting: name)) is not an array")
    }
    return Array(values)
  }
}
