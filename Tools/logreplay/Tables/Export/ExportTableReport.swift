// The report of an export of a table, for people and for programs.

internal import LogreplayEvents
internal import LogreplayShell
internal import StrataEvents
internal import StrataLog
internal import StrataTables

/// What an export of a table wrote.
struct ExportTableReport {
  /// What the export did to its target.
  enum Kind {
    case whole
    /// Only the changes since another point were written, or applied to a file.
    case changes(from: ResolvedPoint, puts: UInt64, deletes: UInt64)
    case update(from: UInt64, puts: UInt64, deletes: UInt64)
  }

  var kind = Kind.whole
  var table = ""
  var format = ExportFormat.jsonl
  /// The rows that were written, or that an updated table has.
  var rows: UInt64 = 0
  /// The rows that cannot be exported.
  var leftOut = 0
  /// The rows that got the id field.
  private var withID: UInt64 = 0
  /// The rows with a value that was not written exactly.
  var inexact: UInt64 = 0
  var chain: UInt64 = 0
  private let point: ResolvedPoint
  /// The field that has the id of every row that got the id field.
  private var idField: String?

  init(at point: ResolvedPoint) { self.point = point }

  mutating func note(_ lines: TableJSONLines) {
    withID = lines.idCount
    inexact = lines.inexactCount
    idField = lines.candidates.min { $0.lexicographicallyPrecedes($1) }.map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Counts and names the rows that were left out.
  mutating func noteLeftOut(_ rows: ExportRows) {
    guard case .table(let state, let selection) = rows else { return }
    noteLeftOut(selection, state)
  }

  mutating func noteLeftOut(_ selection: RowSelection, _ state: TableState) {
    var problems = selection.problems
    problems.add(state.table.problems, of: state.table.name)
    problems.warn()
    leftOut = problems.count
  }

  /// Prints the report on standard output, or on standard error if that has the export, and says what deserves a note.
  func print(_ request: ExportRequest) throws {
    if withID > 0, !request.output.format.isJSON {
      let hint = idField.map { "; --id \($0) leaves the documents as they are" } ?? ""
      Terminal.note(
        PeopleText.printable("\(counted(withID, "document")) without the id field got it\(hint)"))
    }
    let text = request.output.format.isJSON ? String(decoding: json, as: UTF8.self) : short
    guard request.target != "-" else {
      if request.output.requestedFormat != nil { Terminal.note(text) }
      return
    }
    var writer = OutputWriter()
    do {
      try writer.line(text)
      try writer.flush()
    } catch is BrokenPipe {}
  }

  private var json: [UInt8] {
    var line = JSONLine.document()
    line.field("table", table)
    line.field("format", format.rawValue)
    line.field("sequence", point.sequence)
    line.field("time", point.time?.description)
    line.field("chain", LogPosition.hex(chain))
    if point.inside != nil { line.field("partial", true) }
    line.field("rows", rows)
    switch kind {
    case .whole: break
    case .changes(let from, let puts, let deletes):
      line.field("from", from.sequence)
      line.field("put", puts)
      line.field("deleted", deletes)
    case .update(let from, let puts, let deletes):
      line.field("from", from)
      line.field("put", puts)
      line.field("deleted", deletes)
    }
    line.field("leftOut", leftOut)
    line.field("withID", withID)
    line.field("inexact", inexact)
    return line.finish()
  }

  private var short: String {
    let name = PeopleText.printable(table)
    var text: String
    switch kind {
    case .whole:
      text = "\(counted(rows, "row")) of \(name) at seq \(point.sequence) written as \(format.rawValue)"
    case .changes(let from, let puts, let deletes):
      text =
        "\(counted(puts + deletes, "change")) of \(name) from seq \(from.sequence) to \(point.sequence) written as "
        + "\(format.rawValue), \(puts) put and \(deletes) deleted"
    case .update(let from, let puts, let deletes):
      text =
        "\(name) updated from seq \(from) to \(point.sequence): \(puts) put and \(deletes) deleted, "
        + counted(rows, "row")
    }
    if inexact > 0 { text += ", \(counted(inexact, "row")) not exactly" }
    if leftOut > 0 { text += ", \(leftOut) left out" }
    return text
  }
}
