// The members of one object of a mapping: each is taken once, and one that is not known is refused by name.

internal import LogreplayPoints
internal import LogreplayShell
internal import StrataDocuments

/// The file of a mapping, and what the options of its import say about all of it.
struct ImportMappingSource {
  /// What it is called in messages.
  var name: String
  /// The table of the rows, if the command line says it.
  var table: String?
  /// Whether numbers that no double keeps are rounded, and not bad.
  var roundsNumbers = false
  /// What parses its conditions.
  var tables: any ImportTables
}

/// Takes the members of an object, and says where they are: `couchdb.json: rules[1].id`.
struct ImportMappingMembers {
  let file: ImportMappingSource
  /// Where the object is in the file; empty for the whole of it.
  let path: String
  private var object: DocumentObject
  /// The names that were asked for, for suggestions.
  private var known: [String] = []

  init(_ value: DocumentValue, _ file: ImportMappingSource, _ path: String) throws(CommandFailure) {
    self.file = file
    self.path = path
    guard case .object(let object) = value else {
      throw Self.refusal("\(path.isEmpty ? "the mapping" : path) is not an object", file, path)
    }
    self.object = object
  }

  static func refusal(_ what: String, _ file: ImportMappingSource, _ path: String, next: String? = nil)
    -> CommandFailure
  {
    CommandFailure(
      ExitStatus.usage, what, at: path.isEmpty ? file.name : "\(file.name): \(path)",
      next: next ?? "correct the mapping; the page on moving data describes its members")
  }

  func refusal(_ what: String, at name: String? = nil, next: String? = nil) -> CommandFailure {
    Self.refusal(what, file, name.map { place($0) } ?? path, next: next)
  }

  /// Where a member is.
  func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

  /// Whether there is a member that was not taken yet.
  func has(_ name: String) -> Bool { object[name] != nil }

  /// Takes a member; nil if it is not there.
  mutating func take(_ name: String) -> DocumentValue? {
    known.append(name)
    defer { object[name] = nil }
    return object[name]
  }

  mutating func text(_ name: String) throws(CommandFailure) -> String? {
    guard let value = take(name) else { return nil }
    guard case .string(let text) = value else { throw refusal("\(name) is not a text", at: name) }
    return text
  }

  mutating func flag(_ name: String) throws(CommandFailure) -> Bool? {
    guard let value = take(name) else { return nil }
    guard case .bool(let flag) = value else { throw refusal("\(name) is neither true nor false", at: name) }
    return flag
  }

  mutating func array(_ name: String) throws(CommandFailure) -> DocumentArray? {
    guard let value = take(name) else { return nil }
    guard case .array(let array) = value, array.count > 0 else {
      throw refusal("\(name) is not an array with something in it", at: name)
    }
    return array
  }

  mutating func filter(_ name: String) throws(CommandFailure) -> ImportCondition? {
    guard let text = try text(name) else { return nil }
    let takesID = name == "delete-when" || name == "merge-when"
    do throws(ImportConditionError) {
      return try file.tables.condition(text, takesID: takesID)
    } catch {
      switch error {
      case .syntax(let why): throw refusal("the expression has an error", at: name, next: why)
      case .ofRows(let own):
        throw refusal(
          "a record has no \(own) before it is imported", at: name,
          next: takesID ? "name fields of the record, or $id" : "name fields of the record")
      }
    }
  }

  mutating func path(_ name: String) throws(CommandFailure) -> ImportFieldPath? {
    guard let text = try text(name) else { return nil }
    return try Self.fieldPath(text, file, place(name))
  }

  static func fieldPath(
    _ text: String, _ file: ImportMappingSource, _ path: String
  ) throws(CommandFailure) -> ImportFieldPath {
    try ImportFieldPath(text, option: "\(file.name): \(path)")
  }

  /// Refuses what was not taken.
  func end() throws(CommandFailure) {
    guard let name = object.first(where: { _ in true })?.key else { return }
    let hint = NearNames.hint(for: name, among: known)
    throw refusal(
      "\(path.isEmpty ? "a mapping" : "this object") has no member \(String(reflecting: name))", at: name,
      next: hint ?? "leave it out")
  }
}
