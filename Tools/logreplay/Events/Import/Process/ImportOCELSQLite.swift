// Reads a database of OCEL 2.0, through the `sqlite3` program.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments

/// The tables of a log as the elements that its JSON would have: a line for each, made by the functions of SQLite.
struct ImportOCELSQLite {
  private let path: String
  private static let lineLengthMax = 64 << 20

  init(_ path: String) { self.path = path }

  func read(into log: inout ImportOCEL) throws(CommandFailure) {
    let tables = Set(try names("SELECT hex(name) FROM sqlite_master WHERE type IN ('table', 'view')"))
    for table in ["event", "object", "event_object", "object_object", "event_map_type", "object_map_type"]
    where !tables.contains(table) {
      throw failure("the database has no table \(table): it is no log in OCEL 2.0")
    }
    for kind in ["event", "object"] { try checkTypes(of: kind) }
    try checkRelations()
    for type in try types("object") {
      try checkRows(of: type, "object")
      try declare(type, log: &log.objectTypes)
      try forEach(objects(of: type)) { value throws(ImportOCELProblem) in try log.take(object: value) }
    }
    for type in try types("event") {
      try checkRows(of: type, "event")
      try declare(type, log: &log.eventTypes)
      try forEach(events(of: type)) { value throws(ImportOCELProblem) in try log.take(event: value) }
    }
  }

  // MARK: What the joins would leave out

  /// Throws for a type without a name or a table, one that comes twice, and an element of a type that is not there. A
  /// comparison with NULL is neither true nor false, so NULL is looked for by itself.
  private func checkTypes(of kind: String) throws(CommandFailure) {
    let map = "\(kind)_map_type"
    let nameless = try names(
      "SELECT hex('a' || coalesce(ocel_type, '')) FROM \(map) WHERE ocel_type IS NULL OR ocel_type_map IS NULL LIMIT 1"
    )
    if let type = nameless.first?.dropFirst() {
      throw failure(
        type.isEmpty
          ? "\(map) has a row without a type (NULL)"
          : "\(map) has no table (NULL) for the type \(String(reflecting: String(type)))")
    }
    let twice = try names(
      "SELECT hex(ocel_type) FROM \(map) GROUP BY ocel_type HAVING count(*) > 1 LIMIT 1")
    if let type = twice.first { throw failure("\(map) has the type \(String(reflecting: type)) twice") }
    let lost = try names(
      "SELECT hex('a' || coalesce(ocel_id, '')) FROM \(kind) WHERE ocel_id IS NULL OR ocel_type IS NULL "
        + "OR ocel_type NOT IN (SELECT ocel_type FROM \(map)) LIMIT 1")
    guard let id = lost.first?.dropFirst() else { return }
    throw failure(
      id.isEmpty
        ? "the table \(kind) has a row without an id (NULL)"
        : "the \(kind) \(String(reflecting: String(id))) has no type, or a type without a table")
  }

  /// Throws for a row of a type's table that belongs to no element of the type.
  private func checkRows(of type: OneType, _ kind: String) throws(CommandFailure) {
    let lost = try names(
      "SELECT hex('a' || coalesce(ocel_id, '')) FROM \(SQLText.name(type.table)) WHERE ocel_id IS NULL OR "
        + "ocel_id NOT IN (SELECT ocel_id FROM \(kind) WHERE ocel_type = \(SQLText.literal(type.name))) LIMIT 1"
    )
    guard let id = lost.first?.dropFirst() else { return }
    throw failure(
      "the table \(String(reflecting: type.table)) has a row of "
        + (id.isEmpty ? "no id (NULL)" : String(reflecting: String(id)))
        + ", and the table \(kind) has no such \(kind) of the type \(String(reflecting: type.name))")
  }

  /// Throws for a relation of something that is not there.
  private func checkRelations() throws(CommandFailure) {
    for (table, column, kind) in [
      ("event_object", "ocel_event_id", "event"), ("object_object", "ocel_source_id", "object"),
    ] {
      let lost = try names(
        "SELECT hex('a' || coalesce(\(column), '')) FROM \(table) WHERE \(column) IS NULL "
          + "OR \(column) NOT IN (SELECT ocel_id FROM \(kind) WHERE ocel_id IS NOT NULL) LIMIT 1")
      guard let id = lost.first?.dropFirst() else { continue }
      throw failure(
        id.isEmpty
          ? "\(table) has a row without \(column) (NULL)"
          : "\(table) names the \(kind) \(String(reflecting: String(id))), which is not there")
    }
  }

  // MARK: Types

  private struct OneType {
    var name: String
    var table: String
    var columns: [(name: String, type: String)]
  }

  private func types(_ kind: String) throws(CommandFailure) -> [OneType] {
    var found: [OneType] = []
    for line in try names("SELECT hex(ocel_type || char(10) || ocel_type_map) FROM \(kind)_map_type") {
      let parts = line.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
      guard parts.count == 2 else { throw failure("a type has a line feed in its name") }
      let table = "\(kind)_\(parts[1])"
      var columns: [(name: String, type: String)] = []
      for column in try names(
        "SELECT hex(name || char(10) || type) FROM pragma_table_info(\(SQLText.literal(table)))")
      {
        let parts = column.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        guard parts.count == 2 else { throw failure("a column of \(table) has a line feed in its name") }
        columns.append((parts[0], parts[1]))
      }
      guard columns.contains(where: { $0.name == "ocel_id" }),
        columns.contains(where: { $0.name == "ocel_time" })
      else {
        throw failure(
          "the table \(String(reflecting: table)) is not there, or has no ocel_id or no ocel_time")
      }
      found.append(OneType(name: parts[0], table: table, columns: columns))
    }
    return found
  }

  private func declare(_ type: OneType, log: inout ImportOCELTypes) throws(CommandFailure) {
    let attributes = type.columns.compactMap { column -> DocumentValue? in
      guard column.type.uppercased().hasPrefix("BOOL") else { return nil }
      return ["name": .string(column.name), "type": "boolean"]
    }
    do throws(ImportOCELProblem) {
      try log.add(["name": .string(type.name), "attributes": .array(DocumentArray(attributes))])
    } catch { throw failure("a type \(error.what)") }
  }

  // MARK: Queries

  private static let own: Set<String> = ["ocel_id", "ocel_time", "ocel_changed_field"]

  /// The relations are in the order in which they were written: the first one says which stream the event is in.
  private func events(of type: OneType) -> String {
    let attributes = type.columns.filter { !Self.own.contains($0.name) }
      .map { Self.attribute("t", $0.name, time: nil) }
    return """
      SELECT json_object('id', e.ocel_id, 'type', e.ocel_type, 'time', t.ocel_time, 'attributes', \
      \(Self.array(attributes)), 'relationships', json((SELECT json_group_array(json_object('objectId', \
      r.ocel_object_id, 'qualifier', r.ocel_qualifier)) FROM (SELECT * FROM event_object x WHERE \
      x.ocel_event_id = e.ocel_id ORDER BY x.rowid) r))) \
      FROM event e LEFT JOIN \(SQLText.name(type.table)) t ON t.ocel_id = e.ocel_id \
      WHERE e.ocel_type = \(SQLText.literal(type.name))
      """
  }

  /// The rows of an object are its attributes: all of a row that names no changed field, and else that field alone.
  private func objects(of type: OneType) -> String {
    let hasChanges = type.columns.contains { $0.name == "ocel_changed_field" }
    let attributes = type.columns.filter { !Self.own.contains($0.name) }.map { column in
      let value = Self.attribute("t", column.name, time: "t.ocel_time")
      guard hasChanges else { return value }
      return "CASE WHEN t.ocel_changed_field IS NULL OR t.ocel_changed_field = "
        + "\(SQLText.literal(column.name)) THEN \(value) END"
    }
    return """
      SELECT json_object('id', o.ocel_id, 'type', o.ocel_type, 'attributes', json((SELECT \
      json_group_array(\(Self.array(attributes))) FROM \(SQLText.name(type.table)) t \
      WHERE t.ocel_id = o.ocel_id)), 'relationships', json((SELECT json_group_array(json_object('objectId', \
      r.ocel_target_id, 'qualifier', r.ocel_qualifier)) FROM object_object r WHERE r.ocel_source_id = o.ocel_id))) \
      FROM object o WHERE o.ocel_type = \(SQLText.literal(type.name))
      """
  }

  /// An attribute as JSON. A double is the digits of its bits: not every version of SQLite prints a decimal that gives it
  /// back.
  private static func attribute(_ table: String, _ name: String, time: String?) -> String {
    let column = "\(table).\(SQLText.name(name))"
    return "json_object('name', \(SQLText.literal(name))\(time.map { ", 'time', \($0)" } ?? ""), 'real', "
      + "typeof(\(column)) = 'real', 'value', CASE typeof(\(column)) WHEN 'real' THEN hex(ieee754_to_blob(\(column))) "
      + "ELSE \(column) END)"
  }

  /// An array of arrays: a function of SQLite takes no more than 127 values.
  private static func array(_ elements: [String]) -> String {
    let parts = stride(from: 0, to: elements.count, by: 100).map { begin in
      "json_array(\(elements[begin..<min(begin + 100, elements.count)].joined(separator: ", ")))"
    }
    return "json_array(\(parts.joined(separator: ", ")))"
  }

  // MARK: Lines

  /// Calls the body with the value of each line that a query prints.
  private func forEach(
    _ query: String, _ body: (DocumentValue) throws(ImportOCELProblem) -> Void
  ) throws(CommandFailure) {
    let lines = ImportLineReader(try ImportSQLiteProgram(path, query), lengthMax: Self.lineLengthMax)
    while let record = try lines.next() {
      guard !record.isTooLong else {
        throw failure("an event or an object has more than \(Self.lineLengthMax) bytes")
      }
      var value: DocumentValue
      do throws(JSONError) { value = try DocumentValue(json: record.bytes) } catch {
        throw failure("a row cannot be read: \(error.explanation)")
      }
      value = Self.flattened(value)
      do throws(ImportOCELProblem) { try body(value) } catch {
        throw failure(
          "the element \(value["id"]?.processName.map { String(reflecting: $0) } ?? "without an id") \(error.what)"
        )
      }
    }
  }

  /// The attributes, which are in arrays of arrays, as one array without those that are null.
  private static func flattened(_ value: DocumentValue) -> DocumentValue {
    guard case .object(var object) = value else { return value }
    var attributes: [DocumentValue] = []
    collect(object["attributes"] ?? .null, into: &attributes)
    object["attributes"] = .array(DocumentArray(attributes))
    return .object(object)
  }

  private static func collect(_ value: DocumentValue, into attributes: inout [DocumentValue]) {
    if case .array(let elements) = value {
      for element in elements { collect(element, into: &attributes) }
    }
    guard case .object(var attribute) = value, let content = attribute["value"], !content.isNull else {
      return
    }
    if attribute["real"] == 1, case .string(let digits) = content, let bits = UInt64(digits, radix: 16) {
      attribute["value"] = .double(Double(bitPattern: bits))
    }
    attributes.append(.object(attribute))
  }

  /// The texts that a query prints as hexadecimal digits.
  private func names(_ query: String) throws(CommandFailure) -> [String] {
    var names: [String] = []
    for line in try ImportSQLiteProgram.lines(path, query) {
      guard let text = ImportSQLiteText.Encoding.utf8.text(hex: line.utf8) else {
        throw failure("a name is not UTF-8")
      }
      names.append(text)
    }
    return names
  }

  private func failure(_ what: String) -> CommandFailure {
    CommandFailure(
      ExitStatus.corrupt, what, at: path, next: "correct it and import again; nothing was appended")
  }
}
