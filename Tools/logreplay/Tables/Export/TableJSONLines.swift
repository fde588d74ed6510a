// A table as JSON lines: one document a line, as `import --table --id` takes it back.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataTables

/// Writes each row as its document, which has the row's id in the id field. A document that lacks the field gets it;
/// one that has another value there is refused. The fields ascend by their names' UTF-8.
struct TableJSONLines {
  let table: String
  let idName: String
  /// Whether what JSON has no form for is written as an object, which stays one when it is read.
  let isLossy: Bool
  /// The rows that got the id field.
  private(set) var idCount: UInt64 = 0
  /// The rows with a value for which JSON has no form.
  private(set) var inexactCount: UInt64 = 0
  /// The names of the fields that have the id in each row that lacks the id field, so far.
  private(set) var candidates: Set<[UInt8]> = []
  /// The chosen fields, ascending by their names' UTF-8; nil for all fields.
  private let chosen: [(name: String, key: [UInt8], path: FieldPath)]?
  private let idBytes: [UInt8]
  private let idKey: [UInt8]
  private let idPath: FieldPath
  private var fields = RowFields()
  private var layout = 0
  /// The members of the current layout in their order: the index of a field, or nil for an id that the document lacks.
  private var members: [(index: Int?, key: [UInt8])] = []
  private var hasID = false
  private var isInexact = false

  init(table: String, idName: String, _ shown: ShownFields, isLossy: Bool) throws(CommandFailure) {
    (self.table, self.idName, self.isLossy) = (table, idName, isLossy)
    idBytes = Array(idName.utf8)
    idKey = Self.key(idName)
    let idPath = FieldPath(names: [idName])
    self.idPath = idPath
    guard let requested = shown.chosen else {
      chosen = nil
      return
    }
    var chosen: [(name: String, key: [UInt8], path: FieldPath)] = requested.filter { $0.path != idPath }
      .map { (name: $0.name, key: Self.key($0.name), path: $0.path) }
    guard !chosen.contains(where: { $0.name.utf8.elementsEqual(idName.utf8) }) else {
      throw CommandFailure(
        ExitStatus.usage, "two fields would have the name \(String(reflecting: idName))", at: "--fields",
        next: "name the field of the id with --id")
    }
    chosen.append((name: idName, key: idKey, path: idPath))
    self.chosen = chosen.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// `"name":`
  private static func key(_ name: String) -> [UInt8] {
    var bytes: [UInt8] = []
    JSONWriter.append(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    return bytes
  }

  /// Appends a line.
  mutating func append(_ row: RowView, to bytes: inout [UInt8]) throws(CommandFailure) {
    try appendDocument(row, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Appends a document without a line feed.
  mutating func appendDocument(_ row: RowView, to bytes: inout [UInt8]) throws(CommandFailure) {
    isInexact = false
    bytes.append(UInt8(ascii: "{"))
    if let chosen {
      try append(chosen, of: row, to: &bytes)
    } else {
      try appendAll(row, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    if isInexact { inexactCount += 1 }
  }

  private mutating func appendAll(_ row: RowView, to bytes: inout [UInt8]) throws(CommandFailure) {
    guard fields.read(row.document) else { throw ExportProblem.damaged(row, of: table) }
    if layout != fields.layout { beginLayout() }
    var isFirst = true
    for (index, key) in members {
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      bytes += key
      guard let index else {
        ExportJSON.append(text: row.id, to: &bytes)
        continue
      }
      let item = fields.values[index]
      let value = ExportValue(item)
      if hasID, fields.names[index].hasSameBytes(as: idBytes) { try check(value, row) }
      try append(value, item, row, index: index, to: &bytes)
    }
    if !hasID { noteCandidates(row) }
  }

  private mutating func append(
    _ value: ExportValue, _ item: UnsafeRawBufferPointer, _ row: RowView, index: Int, to bytes: inout [UInt8]
  ) throws(CommandFailure) {
    switch value {
    case .nested, .bytes, .double:
      if let lack = ExportJSON.lack(in: item) {
        try take(lack, row, field: String(decoding: fields.names[index], as: UTF8.self))
      }
    default: break
    }
    ExportJSON.append(value, to: &bytes)
  }

  private mutating func append(
    _ chosen: [(name: String, key: [UInt8], path: FieldPath)], of row: RowView, to bytes: inout [UInt8]
  ) throws(CommandFailure) {
    var isFirst = true
    for (name, key, path) in chosen {
      let isID = path == idPath
      let item = path.find(in: row.document)
      guard let value = item.map({ ExportValue($0) }) ?? (isID ? .text(row.id) : ExportValue(path, of: row))
      else {
        continue
      }
      if isID { try check(value, row) }
      if let item, let lack = ExportJSON.lack(in: item) { try take(lack, row, field: name) }
      if !isFirst { bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      bytes += key
      ExportJSON.append(value, to: &bytes)
      if isID, item == nil { idCount += 1 }
    }
  }

  private func check(_ value: ExportValue, _ row: RowView) throws(CommandFailure) {
    guard value.isID(row.id) else { throw ExportProblem.otherID(row, of: table, field: idName) }
  }

  private mutating func take(_ lack: String, _ row: RowView, field: String) throws(CommandFailure) {
    guard isLossy else {
      throw ExportProblem.inexact(
        lack, row, of: table, field: field, format: "JSON", instead: "an object that names it")
    }
    isInexact = true
  }

  private mutating func beginLayout() {
    members.removeAll(keepingCapacity: true)
    hasID = false
    var isPut = false
    for index in fields.ascending {
      let name = fields.known[index]
      if name == idBytes {
        hasID = true
        isPut = true
      } else if !isPut, idBytes.lexicographicallyPrecedes(name) {
        members.append((nil, idKey))
        isPut = true
      }
      members.append((index, Self.key(String(decoding: name, as: UTF8.self))))
    }
    if !isPut { members.append((nil, idKey)) }
    layout = fields.layout
  }

  /// Keeps the fields that have the id in this row too.
  private mutating func noteCandidates(_ row: RowView) {
    defer { idCount += 1 }
    guard idCount == 0 || !candidates.isEmpty else { return }
    var found: Set<[UInt8]> = []
    for (index, name) in fields.known.enumerated() where idCount == 0 || candidates.contains(name) {
      if ExportValue(fields.values[index]).isID(row.id) { found.insert(name) }
    }
    candidates = found
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func hasSameBytes(as other: [UInt8]) -> Bool {
    other.withUnsafeBytes { hasSameBytes(as: $0) }
  }
}
