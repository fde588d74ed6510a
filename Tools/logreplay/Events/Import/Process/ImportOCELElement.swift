// Events and objects of OCEL 2.0 as values, whichever form they come in.

internal import StrataDocuments

/// Reads an element of `events` or `objects`, and refuses members that would be lost.
struct ImportOCELElement {
  struct Attribute {
    var name: String
    /// Only those of objects have one.
    var time: String?
    var value: DocumentValue
  }

  var id = ""
  var type = ""
  var time: String?
  var attributes: [Attribute] = []
  var relations: [(id: String, qualifier: String)] = []

  /// - Throws: what is wrong, as a text that follows the place.
  init(_ value: DocumentValue, isEvent: Bool) throws(ImportOCELProblem) {
    guard case .object(let object) = value else { throw ImportOCELProblem("is not an object") }
    for (name, value) in object {
      switch name {
      case "id": id = try Self.text(value, name)
      case "type": type = try Self.text(value, name)
      case "time" where isEvent: time = try Self.text(value, name)
      case "attributes":
        for value in try Self.array(value, name) { attributes.append(try Self.attribute(value, isEvent)) }
      case "relationships":
        for value in try Self.array(value, name) { relations.append(try Self.relation(value)) }
      default: throw ImportOCELProblem("has a member \(String(reflecting: name)), which OCEL does not have")
      }
    }
    guard !id.isEmpty else { throw ImportOCELProblem("has no \"id\"") }
    guard !type.isEmpty else { throw ImportOCELProblem("has no \"type\"") }
    guard !isEvent || time != nil else { throw ImportOCELProblem("has no \"time\"") }
  }

  private static func attribute(
    _ value: DocumentValue, _ isEvent: Bool
  ) throws(ImportOCELProblem) -> Attribute {
    guard case .object(let object) = value, let value = object["value"], let name = object["name"] else {
      throw ImportOCELProblem("has an attribute without a name or a value")
    }
    let time = try object["time"].map { time throws(ImportOCELProblem) in try text(time, "time") }
    guard isEvent || time != nil else { throw ImportOCELProblem("has an attribute without a time") }
    switch value {
    case .array, .object:
      throw ImportOCELProblem("has an attribute that is an array or an object")
    case .double(let number) where !number.isFinite:
      throw ImportOCELProblem(
        "has an attribute \(String(reflecting: try text(name, "name"))) that is infinite")
    default: return Attribute(name: try text(name, "name"), time: time, value: value)
    }
  }

  private static func relation(
    _ value: DocumentValue
  ) throws(ImportOCELProblem) -> (id: String, qualifier: String) {
    guard let id = value["objectId"] else {
      throw ImportOCELProblem("has a relationship without an objectId")
    }
    let qualifier = value["qualifier"] ?? .null
    return (try text(id, "objectId"), qualifier.isNull ? "" : try text(qualifier, "qualifier"))
  }

  private static func text(_ value: DocumentValue, _ name: String) throws(ImportOCELProblem) -> String {
    switch value {
    case .string(let text): return text
    // An id that a program has written as a number.
    case .int(let number): return String(number)
    default: throw ImportOCELProblem("has a \(String(reflecting: name)) that is no text")
    }
  }

  private static func array(
    _ value: DocumentValue, _ name: String
  ) throws(ImportOCELProblem) -> [DocumentValue] {
    if value.isNull { return [] }
    guard case .array(let values) = value else {
      throw ImportOCELProblem("has \(String(reflecting: name)) that are no array")
    }
    return Array(values)
  }
}

/// What is wrong with an element: a text that follows the place of the element.
struct ImportOCELProblem: Error {
  var what: String

  init(_ what: String) { self.what = what }
}
