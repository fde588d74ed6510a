// The columns of a table that is exported, and the values of its rows in them.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataTables

/// The columns: the row's id, its section if there is one, and the chosen fields in their order, or all top-level fields
/// that were noted, ascending by their names' UTF-8.
///
/// Memory is bounded by the names: a table with too many of them is refused.
final class ExportColumns {
  /// The most names, and the most bytes of them, of a table whose fields were not chosen.
  static let nameCountMax = 100_000
  static let nameBytesMax = 16 << 20

  let table: String
  let idName: String
  let sectionName: String?
  /// The names of the columns, of which the id's is one.
  private(set) var names: [String] = []
  /// The kinds of the values that were noted, by column.
  private(set) var kinds: [ColumnKinds] = []
  /// The values of the last row that was read, by column; nil where the row lacks the field.
  private(set) var cells: [ExportValue?] = []
  private(set) var idColumn = 0
  private var sectionColumn: Int?
  /// The chosen fields with their columns; nil for all fields.
  private var chosen: [(path: FieldPath, column: Int)]?
  private let idPath: FieldPath
  private var indexes: [[UInt8]: Int] = [:]
  private var nameBytes = 0
  /// How many columns keep their place when the noted ones are sorted.
  private var fixedCount = 0
  private var fields = RowFields()
  /// The column of each field of the last document's layout; that of the id is `idColumn`.
  private var layoutColumns: [Int] = []
  private var layout = 0

  /// - Parameter known: the names of columns that come before those that are noted, such as those that a file has.
  init(
    table: String, idName: String, sectionName: String?, _ shown: ShownFields, known: [String] = []
  ) throws(CommandFailure) {
    (self.table, self.idName, self.sectionName) = (table, idName, sectionName)
    idPath = FieldPath(names: [idName])
    let namesID = shown.chosen?.contains { $0.path == idPath } ?? false
    if !namesID { try add(idName) }
    if let sectionName { sectionColumn = try add(sectionName) }
    if let requested = shown.chosen {
      chosen = []
      for field in requested {
        let column = try add(field.name)
        if field.path == idPath { idColumn = column } else { chosen?.append((field.path, column)) }
      }
    } else {
      for name in known where indexes[Array(name.utf8)] == nil { try add(name) }
    }
    fixedCount = names.count
  }

  /// The bytes that two columns may not share.
  @discardableResult
  private func add(_ name: String) throws(CommandFailure) -> Int {
    let bytes = Array(name.utf8)
    guard indexes[bytes] == nil else { throw clash(name) }
    nameBytes += bytes.count
    guard names.count < Self.nameCountMax, nameBytes <= Self.nameBytesMax else {
      throw CommandFailure(
        ExitStatus.corrupt, "the table has more than \(names.count - 1) fields, too many for columns",
        at: table,
        next: "choose fields with --fields, or export JSON lines")
    }
    indexes[bytes] = names.count
    names.append(name)
    kinds.append([])
    cells.append(nil)
    return names.count - 1
  }

  private func clash(_ name: String) -> CommandFailure {
    let isSection = sectionName.map { $0.utf8.elementsEqual(name.utf8) } ?? false
    return CommandFailure(
      ExitStatus.usage, "two columns would have the name \(String(reflecting: name))", at: table,
      next: isSection
        ? "name the column of the sections with --section-as" : "name the column of the id with --id")
  }

  /// Reads a row, whose bytes must outlive the use of the cells.
  ///
  /// - Parameter adds: whether a field without a column gets one. Otherwise it is left out.
  func read(_ row: RowView, section: DocumentValue?, adds: Bool = false) throws(CommandFailure) {
    for index in cells.indices { cells[index] = nil }
    if let sectionColumn, let section { cells[sectionColumn] = ExportValue(owned: section) }
    if let chosen {
      if let item = idPath.find(in: row.document) {
        try setID(ExportValue(item), row)
      } else {
        cells[idColumn] = .text(row.id)
      }
      for (path, column) in chosen { cells[column] = ExportValue(path, of: row) }
      return
    }
    guard fields.read(row.document) else { throw ExportProblem.damaged(row, of: table) }
    if layout != fields.layout { try beginLayout(adds) }
    for (index, column) in layoutColumns.enumerated() where column >= 0 {
      let value = ExportValue(fields.values[index])
      if column == idColumn { try setID(value, row) } else { cells[column] = value }
    }
    if cells[idColumn] == nil { cells[idColumn] = .text(row.id) }
  }

  private func setID(_ value: ExportValue, _ row: RowView) throws(CommandFailure) {
    guard value.isID(row.id) else { throw ExportProblem.otherID(row, of: table, field: idName) }
    cells[idColumn] = value
  }

  private func beginLayout(_ adds: Bool) throws(CommandFailure) {
    layoutColumns.removeAll(keepingCapacity: true)
    for name in fields.known {
      if let column = indexes[name] {
        if column == sectionColumn { throw clash(names[column]) }
        layoutColumns.append(column)
      } else {
        layoutColumns.append(adds ? try add(String(decoding: name, as: UTF8.self)) : -1)
      }
    }
    layout = fields.layout
  }

  /// Notes the fields of a row, and the kinds of their values.
  func note(_ row: RowView, section: DocumentValue?) throws(CommandFailure) {
    try read(row, section: section, adds: true)
    for (index, cell) in cells.enumerated() {
      if let cell { kinds[index].formUnion(ColumnKinds(of: cell)) }
    }
  }

  /// Sorts the columns that were added since the beginning.
  func endNoting() {
    let added = zip(names, kinds).dropFirst(fixedCount)
      .sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) }
    for (index, column) in added.enumerated() {
      names[fixedCount + index] = column.0
      kinds[fixedCount + index] = column.1
      indexes[Array(column.0.utf8)] = fixedCount + index
    }
    fixedCount = names.count
    // The columns of the last layout have moved.
    layout = 0
  }
}
