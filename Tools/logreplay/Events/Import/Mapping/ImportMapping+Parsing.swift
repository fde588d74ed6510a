// Reads a mapping: a file of JSON, checked as a whole before anything is imported.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments

extension ImportMapping {
  /// The newest form of mappings.
  private static let version: DocumentValue = .int(1)

  /// Reads the text of a mapping.
  init(_ text: [UInt8], of file: ImportMappingSource) throws(CommandFailure) {
    let value: DocumentValue
    do throws(JSONError) { value = try DocumentValue(json: text) } catch {
      throw ImportMappingMembers.refusal(
        "line \(error.line), column \(error.column): \(error.explanation)", file, "",
        next: "a mapping is one object of JSON")
    }
    var members = try ImportMappingMembers(value, file, "")
    guard let version = members.take("mapping") else {
      throw members.refusal(
        "the member \"mapping\" is missing, which says that this is a mapping",
        next: "begin it with {\"mapping\":1")
    }
    guard version == Self.version else {
      throw members.refusal("the form of the mapping is not 1", at: "mapping", next: "write \"mapping\":1")
    }
    _ = try members.text("about")
    appendID = try members.value("append-id")
    let compares = try members.flag("compare") ?? false
    readsByteArrays = try members.flag("byte-arrays") ?? false
    if let list = try members.array("rules") {
      rules = []
      for (index, value) in list.enumerated() {
        var rule = try ImportMappingMembers(value, file, "rules[\(index)]")
        rules.append(try ImportMappingRule(&rule))
      }
      try members.end()
    } else {
      rules = [try ImportMappingRule(&members)]
    }
    identity = appendID != nil ? .appendID : compares ? .rows : .source
    try check(members, compares: compares)
  }

  /// Checks what no rule says by itself.
  private func check(
    _ members: ImportMappingMembers, compares: Bool
  ) throws(CommandFailure) {
    let hasRows = rules.contains { if case .row = $0.kind { true } else { false } }
    guard hasRows || members.file.table == nil else {
      throw CommandFailure(
        ExitStatus.usage, "the mapping makes no rows", at: "--table", next: "leave --table out")
    }
    guard rules.contains(where: { if case .skip = $0.kind { false } else { true } }) else {
      throw members.refusal("every rule passes records over", next: "say what the others become")
    }
    guard compares else { return }
    guard appendID == nil else {
      throw members.refusal(
        "\"append-id\" and \"compare\" are two ways to know a record again", at: "compare",
        next: "leave one of them out")
    }
    guard onlyTable != nil, !merges else {
      throw members.refusal(
        "only whole rows of one table can be compared with those that the store has", at: "compare",
        next: "name one table for all rules, without merge patches and events; or give an \"append-id\"")
    }
  }
}

extension ImportMappingRule {
  init(_ members: inout ImportMappingMembers) throws(CommandFailure) {
    when = try members.filter("when")
    if try members.flag("skip") ?? false {
      kind = .skip
      try members.end()
      return
    }
    if members.has("stream") || members.has("type") {
      kind = try Self.event(&members)
    } else {
      kind = .row(try Row(&members))
    }
    time = try members.value("time")
    if let time {
      guard case .field = time.form, time.reading == nil else {
        throw members.refusal("the time is not a field", at: "time", next: "name the field that holds it")
      }
    }
    let (form, zone) = (try members.text("time-format"), try members.text("time-zone"))
    guard time != nil || (form == nil && zone == nil) else {
      throw members.refusal("a form of times without a time", next: "name the field of the time: \"time\"")
    }
    timeFormat = try ImportTimeFormat(form, zone: zone) { option in
      "\(members.file.name): \(members.place(option))"
    }
    document = try members.value("document")
    if let value = members.take("metadata") {
      let path = members.place("metadata")
      guard case .object(let object) = value else {
        throw members.refusal("the metadata are not an object", at: "metadata")
      }
      for (name, value) in object {
        metadata.append((name, try ImportMappedValue(value, members.file, "\(path).\(name)")))
      }
    }
    try members.end()
  }

  private static func event(_ members: inout ImportMappingMembers) throws(CommandFailure) -> Kind {
    for name in ["table", "id", "merge", "merge-when", "delete-when", "deleted"] where members.has(name) {
      throw members.refusal(
        "\"\(name)\" is for rows, and \"stream\" and \"type\" for events", at: name,
        next: "leave one of them out")
    }
    guard let stream = try members.value("stream", inStreams: true) else {
      throw members.refusal("the member \"stream\" is missing", next: "say in which stream an event is")
    }
    guard let type = try members.value("type") else {
      throw members.refusal("the member \"type\" is missing", next: "say what type an event has")
    }
    for (name, value) in [("stream", stream), ("type", type)] where value.isOptional {
      throw members.refusal("the \(name) cannot be missing", at: name, next: "leave \"optional\" out")
    }
    return .event(stream: stream, type: type)
  }
}

extension ImportMappingRule.Row {
  fileprivate init(_ members: inout ImportMappingMembers) throws(CommandFailure) {
    let name = members.file.table
    let found = try members.value("table")
    if let found, found.constantText == nil, name != nil {
      throw members.refusal(
        "the table of each row is in the record", at: "table", next: "leave --table out, or \"table\"")
    }
    guard let found = name.map({ ImportMappedValue(form: .constant(.string($0))) }) ?? found else {
      throw members.refusal(
        "the table is missing", next: "name it with --table, or in the mapping: \"table\"")
    }
    table = found
    if case .constant = table.form, !(table.constantText.map { TableName.isOne($0) } ?? false) {
      throw members.refusal(
        "this is not a table's name", at: name == nil ? "table" : nil,
        next:
          "a table's name is a text that is not empty, contains no slash, and does not begin with a dollar sign"
      )
    }
    guard let id = try members.value("id") else {
      throw members.refusal("the member \"id\" is missing", next: "say which field is the id")
    }
    self.id = id
    for (name, value) in [("table", table), ("id", id)] where value.isOptional {
      throw members.refusal("the \(name) cannot be missing", at: name, next: "leave \"optional\" out")
    }
    isMerge = try members.flag("merge") ?? false
    mergeWhen = try members.filter("merge-when")
    deleteWhen = try members.filter("delete-when")
    deleted = try members.path("deleted")
  }
}

extension ImportMappingMembers {
  /// Takes a member that is a value of a record.
  ///
  /// - Parameter inStreams: whether it is a stream's name, of which the category may be said.
  mutating func value(
    _ name: String, inStreams: Bool = false
  ) throws(CommandFailure) -> ImportMappedValue? {
    guard let value = take(name) else { return nil }
    return try ImportMappedValue(value, file, place(name), inStreams: inStreams)
  }
}

extension ImportMappedValue {
  init(
    _ value: DocumentValue, _ file: ImportMappingSource, _ path: String, inStreams: Bool = false,
    isPart: Bool = false
  ) throws(CommandFailure) {
    if case .string(let text) = value {
      self.init(form: .field(try ImportMappingMembers.fieldPath(text, file, path)))
      return
    }
    guard case .object = value else {
      throw ImportMappingMembers.refusal(
        "this is neither a field nor an object", file, path,
        next: "write the name of a field, or {\"value\":…} for a constant")
    }
    var members = try ImportMappingMembers(value, file, path)
    if let constant = members.take("value") {
      self.init(form: .constant(constant))
    } else if !isPart, let list = try members.array("fields") {
      var parts: [ImportMappedValue] = []
      for (index, value) in list.enumerated() {
        parts.append(try ImportMappedValue(value, file, "\(path).fields[\(index)]", isPart: true))
      }
      let separator = try members.text("separator") ?? ":"
      guard !separator.isEmpty else {
        throw members.refusal("nothing cannot separate values", at: "separator")
      }
      self.init(form: .joined(parts, separator: separator))
    } else if let field = try members.path("field") {
      self.init(form: .field(field))
      reading = try members.text("as").map { text throws(CommandFailure) in
        guard let reading = Reading(rawValue: text) else {
          throw members.refusal(
            "a field is not read as \(String(reflecting: text))", at: "as",
            next: "it is read as " + Reading.allCases.map(\.rawValue).joined(separator: " or "))
        }
        return reading
      }
      roundsNumbers = file.roundsNumbers
      if inStreams { categoryEnd = try members.text("category-ends") }
      guard categoryEnd != "" else {
        throw members.refusal("nothing cannot end a category", at: "category-ends")
      }
      if !isPart { isOptional = try members.flag("optional") ?? false }
    } else {
      throw members.refusal(
        "nothing says what the value is", next: "give \"field\", \"value\"\(isPart ? "" : " or \"fields\"")")
    }
    try members.end()
  }
}
