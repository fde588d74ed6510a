// Writes an object-centric event log as a database of OCEL 2.0, through the `sqlite3` program.

internal import LogreplayShell
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A database in a temporary folder, which is copied to the target once it is complete.
final class OCELSQLWriter {
  private let folder: String
  private let file: String
  private let child: ChildProgram
  private var bytes: [UInt8] = []
  /// The table of each type, without its prefix.
  private var eventTables: [ProcessText: String] = [:]
  private var objectTables: [ProcessText: String] = [:]
  private var eventColumns: [ProcessText: [Column]] = [:]
  private var objectColumns: [ProcessText: [Column]] = [:]

  private typealias Column = (name: String, type: ProcessAttributeType)

  private static let pieceSize = 256 << 10
  /// SQLite's own limit of columns is 2,000.
  private static let columnsMax = 1_900

  init(in parent: String) throws(CommandFailure) {
    var name = Array("\(parent)/.logreplay-ocel.XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else {
      throw CommandFailure(
        ExitStatus.inputOutput, "cannot make a temporary folder: \(systemMessage(errno))", at: parent,
        next: "name with TMPDIR a folder that has room for the database")
    }
    folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    file = "\(folder)/log.sqlite"
    do throws(StoreError) {
      child = try ChildProgram(
        "sqlite3", SQLiteShell.options + [file], environment: ChildEnvironment.sqlite,
        input: .pipe)
    } catch {
      rmdir(folder)
      throw CommandFailure(
        ExitStatus.inputOutput,
        error.systemCode == SystemErrorCode.notFound
          ? "a database of SQLite is written with the program sqlite3, which is not there"
          : "cannot start sqlite3: \(error.systemCode.map(systemMessage) ?? error.what)",
        next: error.systemCode == SystemErrorCode.notFound
          ? "install the package sqlite3, or export with --format ocel"
          : ChildProgram.nextStep(after: error, starting: "sqlite3"))
    }
  }

  deinit {
    for ending in ["", "-journal"] { unlink(file + ending) }
    rmdir(folder)
  }

  // MARK: Tables

  func begin(objectTypes: ProcessTypes, eventTypes: ProcessTypes) throws(CommandFailure) {
    try write(
      """
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;
      CREATE TABLE event_map_type (ocel_type TEXT PRIMARY KEY, ocel_type_map TEXT);
      CREATE TABLE object_map_type (ocel_type TEXT PRIMARY KEY, ocel_type_map TEXT);
      CREATE TABLE event (ocel_id TEXT PRIMARY KEY, ocel_type TEXT REFERENCES event_map_type (ocel_type));
      CREATE TABLE object (ocel_id TEXT PRIMARY KEY, ocel_type TEXT REFERENCES object_map_type (ocel_type));
      CREATE TABLE event_object (ocel_event_id TEXT REFERENCES event (ocel_id), \
      ocel_object_id TEXT REFERENCES object (ocel_id), ocel_qualifier TEXT, \
      PRIMARY KEY (ocel_event_id, ocel_object_id, ocel_qualifier));
      CREATE TABLE object_object (ocel_source_id TEXT REFERENCES object (ocel_id), \
      ocel_target_id TEXT REFERENCES object (ocel_id), ocel_qualifier TEXT, \
      PRIMARY KEY (ocel_source_id, ocel_target_id, ocel_qualifier));

      """)
    try makeTables(of: eventTypes, "event", &eventTables, &eventColumns)
    try makeTables(of: objectTypes, "object", &objectTables, &objectColumns)
  }

  private func makeTables(
    of types: ProcessTypes, _ kind: String, _ tables: inout [ProcessText: String],
    _ columns: inout [ProcessText: [Column]]
  ) throws(CommandFailure) {
    // Those that OCEL itself has.
    var used: Set<String> = ["map_type", "object"]
    for type in types.names {
      let table = Self.tableName(type, &used)
      let attributes = types.attributes(of: type)
      let own = kind == "event" ? ["ocel_id", "ocel_time"] : ["ocel_id", "ocel_time", "ocel_changed_field"]
      try Self.check(attributes.map(\.name), own, of: type)
      tables[ProcessText(type)] = table
      columns[ProcessText(type)] = attributes
      var columns = [
        kind == "event" ? "ocel_id TEXT PRIMARY KEY" : "ocel_id TEXT", "ocel_time TIMESTAMP",
      ]
      if kind == "object" { columns.append("ocel_changed_field TEXT") }
      columns += attributes.map { "\(SQLText.name($0.name)) \($0.type.columnType)" }
      columns.append("FOREIGN KEY (ocel_id) REFERENCES \(kind) (ocel_id)")
      try write("CREATE TABLE \(SQLText.name("\(kind)_\(table)")) (\(columns.joined(separator: ", ")));\n")
      try write(
        "INSERT INTO \(kind)_map_type VALUES (\(SQLText.literal(type)), \(SQLText.literal(table)));\n")
    }
  }

  /// Letters and digits of a type, and a number where another type has the same.
  private static func tableName(_ type: String, _ used: inout Set<String>) -> String {
    let plain = String(
      type.unicodeScalars.filter { $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0) }
        .map { Character($0) }.prefix(100))
    let base = plain.isEmpty ? "Type" : plain
    var name = base
    var number = 2
    while !used.insert(name.lowercased()).inserted {
      name = "\(base)_\(number)"
      number += 1
    }
    return name
  }

  /// Names of columns differ without regard to the case of ASCII letters.
  private static func check(
    _ names: [String], _ own: [String], of type: String
  ) throws(CommandFailure) {
    func refused(_ what: String) -> CommandFailure {
      CommandFailure(
        ExitStatus.usage, "the type \(String(reflecting: type)) \(what)",
        next: "name other fields as \"attributes\" in the mapping, or export with --format ocel")
    }
    guard names.count <= columnsMax else {
      throw refused("has more than \(columnsMax) attributes, which are columns")
    }
    var seen = Set(own.map { Array($0.utf8) })
    for name in names {
      let key = name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      guard seen.insert(key).inserted else {
        throw refused(
          "has an attribute \(String(reflecting: name)), and SQLite no column of this name beside another")
      }
      guard !key.contains(where: { $0 < 0x20 }) else {
        throw refused("has an attribute \(String(reflecting: name)), which SQLite cannot have as a column")
      }
    }
  }

  // MARK: Rows

  func object(_ object: ProcessObject) throws(CommandFailure) {
    let type = ProcessText(object.type)
    guard let table = objectTables[type], let columns = objectColumns[type] else { return }
    let id = SQLText.literal(object.id)
    try write("INSERT INTO object VALUES (\(id), \(SQLText.literal(object.type)));\n")
    let target = SQLText.name("object_\(table)")
    let place = "the object \(String(reflecting: object.id))"
    let initial = object.changes.prefix(object.initialCount)
    let time = initial.first?.time ?? 0
    var row = "INSERT INTO \(target) VALUES (\(id), \(SQLText.literal(ProcessTimeText.text(time))), NULL"
    for column in columns {
      let value = initial.first { $0.name.utf8.elementsEqual(column.name.utf8) }?.value ?? .null
      row += ", " + Self.value(try OCELJSONWriter.checked(value, of: column.name, place), column.type)
    }
    try write(row + ");\n")
    for change in object.changes.dropFirst(object.initialCount) {
      let type = columns.first { $0.name.utf8.elementsEqual(change.name.utf8) }?.type ?? .mixed
      let value = Self.value(try OCELJSONWriter.checked(change.value, of: change.name, place), type)
      try write(
        "INSERT INTO \(target) (ocel_id, ocel_time, ocel_changed_field, \(SQLText.name(change.name))) VALUES (\(id), "
          + "\(SQLText.literal(ProcessTimeText.text(change.time))), \(SQLText.literal(change.name)), \(value));\n"
      )
    }
    for relation in object.relations {
      try write(
        "INSERT OR IGNORE INTO object_object VALUES (\(id), \(SQLText.literal(relation.id)), "
          + "\(SQLText.literal(relation.qualifier)));\n")
    }
  }

  func event(_ event: ProcessEvent) throws(CommandFailure) {
    let type = ProcessText(event.activity)
    guard let table = eventTables[type], let columns = eventColumns[type] else { return }
    let id = "'\(event.sequence)'"
    try write("INSERT INTO event VALUES (\(id), \(SQLText.literal(event.activity)));\n")
    var row =
      "INSERT INTO \(SQLText.name("event_\(table)")) VALUES (\(id), \(SQLText.literal(ProcessTimeText.text(event.time)))"
    for column in columns {
      let value = try OCELJSONWriter.checked(
        event.attributes[column.name] ?? .null, of: column.name, "event \(event.sequence)")
      row += ", " + Self.value(value, column.type)
    }
    try write(row + ");\n")
    for object in event.objects {
      try write(
        "INSERT INTO event_object VALUES (\(id), \(SQLText.literal(object.id)), \(SQLText.literal(object.qualifier)));\n"
      )
    }
  }

  /// Ends the database, and copies it.
  func finish(into target: ExportTarget) throws {
    try write("COMMIT;\n")
    try flush()
    child.takeInput()?.close()
    var said = [UInt8](repeating: 0, count: 4096)
    while try said.lendMutableBytes({ bytes throws(StoreError) in try child.output.read(into: bytes) }) > 0 {}
    try check()
    let input = try ImportInput(file)
    var buffer = [UInt8](repeating: 0, count: Self.pieceSize)
    while true {
      let count = try buffer.lendMutableBytes { bytes throws(CommandFailure) in try input.read(into: bytes) }
      if count == 0 { return }
      try buffer.withUnsafeBytes { try target.write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }
  }

  private func write(_ text: String) throws(CommandFailure) {
    bytes += text.utf8
    if bytes.count >= Self.pieceSize { try flush() }
  }

  private func flush() throws(CommandFailure) {
    do throws(StoreError) {
      try bytes.lendBytes { bytes throws(StoreError) in try child.input?.write(bytes) }
    } catch {
      // It ends before its input does only after an error, which it names.
      try check()
      throw CommandFailure(error)
    }
    bytes.removeAll(keepingCapacity: true)
  }

  private func check() throws(CommandFailure) {
    let end = child.wait()
    guard end != .code(0) || !child.complaint.isEmpty else { return }
    throw CommandFailure(
      ExitStatus.inputOutput, "sqlite3 failed\(child.complaint.isEmpty ? "" : ": \(child.complaint)")",
      at: folder,
      next: "name with TMPDIR a folder that has room for the database; nothing is left of this export")
  }

  // MARK: SQL

  /// A boolean is 1 or 0 in a column of booleans, and its name among other values.
  private static func value(_ value: DocumentValue, _ type: ProcessAttributeType) -> String {
    switch value {
    case .bool(let value) where type == .boolean: value ? "1" : "0"
    case .bool(let value): value ? "'true'" : "'false'"
    case .int(let number): number == .min ? "(-9223372036854775807 - 1)" : String(number)
    // A decimal is not read as the nearest double by every version of SQLite: its bytes are.
    case .double(let number):
      "ieee754_from_blob(x'\(LogPosition.hex(number.bitPattern))')"
    case .string(let text): SQLText.literal(text)
    default: "NULL"
    }
  }
}

extension ProcessAttributeType {
  /// The type of a column. Booleans are 1 and 0.
  fileprivate var columnType: String {
    switch self {
    case .string: "TEXT"
    case .integer: "INTEGER"
    case .float: "REAL"
    case .boolean: "BOOLEAN"
    // A column without a type keeps each value as it is.
    case .number, .mixed: ""
    }
  }
}
