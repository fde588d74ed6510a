// A list as text for people: sections with a heading, and one line per item.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Formats a list: with `name=value` on each line, or as a table with columns.
struct ListText {
  private let fields: ShownFields
  /// The field whose value is already the section's heading.
  private let headingName: String?
  private let people: PeopleText
  private let isTable: Bool

  /// Rows that are read to compute the columns and their widths. A wider value in a later row shifts that row only.
  private static let rowsHeldMax = 200
  private static let widthMax = 48

  init(_ query: ListQuery, people: PeopleText, isTable: Bool) {
    fields = query.fields
    let names = query.sectionPath?.names ?? []
    headingName = names.count == 1 && query.fields.chosen == nil ? names[0] : nil
    self.people = people
    self.isTable = isTable
  }

  func write(_ state: ListState, to writer: inout OutputWriter) throws {
    let columns = isTable ? try columns(of: state) : []
    let terminal = Terminal.width
    if !columns.isEmpty, state.version.itemCount > 0, state.showsItems {
      try writer.line(line(of: columns.map { ($0.title, $0.width, .dim) }, within: terminal))
    }
    for place in 0..<state.version.sectionCount {
      let count = state.version.withSection(at: place) { _, count, _ in count }
      let shown = state.shownCount(ofSectionAt: place)
      let name = state.version.isSectioned ? PeopleText.heading(state.section(at: place)) : state.table
      let results = state.results(inSectionAt: place).text()
      try writer.line(heading(name, PeopleText.count(count, shown: shown)) + results)
      try state.forEachRow(inSectionAt: place, 0..<shown) { row in
        let object = fields.fields(of: row)
        try writer.line(
          isTable ? line(of: cells(row, object, columns), within: terminal) : line(of: row, object))
      }
    }
    if state.version.isSectioned, state.version.totals != nil {
      try writer.line(heading("all sections", PeopleText.count(state.count)) + state.results.text())
    }
    let hidden = state.version.isSectioned ? state.version.view.sectionCount - state.version.sectionCount : 0
    if state.version.sectionCount == 0, hidden == 0 { try writer.line(heading(state.table, "0")) }
    if hidden > 0 {
      try writer.line(people.colored("and \(PeopleText.count(hidden, "section")) hidden by the limit", .dim))
    }
  }

  private func heading(_ name: String, _ count: String) -> String {
    people.colored(PeopleText.printable(name), .cyan) + "  " + people.colored(count, .dim)
  }

  // MARK: Lines

  private func line(of row: RowView, _ object: DocumentObject) -> String {
    let words = shown(object).map { "\(PeopleText.printable($0.name))=\(PeopleText.word($0.value))" }
    return "  " + people.colored(PeopleText.printable(row.idText), .yellow)
      + (words.isEmpty ? "" : "  " + words.joined(separator: " "))
  }

  /// The fields in the order in which they were requested.
  private func shown(_ object: DocumentObject) -> [(name: String, value: DocumentValue)] {
    guard let chosen = fields.chosen else {
      return object.filter { $0.key != headingName }.map { ($0.key, $0.value) }
    }
    return chosen.compactMap { field in object[field.name].map { (field.name, $0) } }
  }

  // MARK: Columns

  private struct Column {
    /// The name of the field; unused in the first column.
    var name: String
    var title: String
    var width: Int

    init(_ name: String) {
      self.name = name
      title = PeopleText.printable(name)
      width = title.count
    }
  }

  private func columns(of state: ListState) throws -> [Column] {
    let names = try ListColumns(
      own: ["id"], of: state, fields, except: headingName, rowCountMax: Self.rowsHeldMax)
    var columns = (names.own + names.fields).map { Column($0) }
    var left = Self.rowsHeldMax
    for place in 0..<state.version.sectionCount where left > 0 {
      let shown = min(left, state.shownCount(ofSectionAt: place))
      left -= shown
      try state.forEachRow(inSectionAt: place, 0..<shown) { row in
        for (index, cell) in cells(row, fields.fields(of: row), columns).enumerated() {
          columns[index].width = min(Self.widthMax, max(columns[index].width, cell.text.count))
        }
      }
    }
    return columns
  }

  private typealias Cell = (text: String, width: Int, color: PeopleText.Color?)

  private func cells(_ row: RowView, _ object: DocumentObject, _ columns: [Column]) -> [Cell] {
    columns.enumerated().map { index, column in
      if index == 0 { return (PeopleText.printable(row.idText), column.width, .yellow) }
      let value = object[column.name]
      return (value.map { PeopleText.cell($0) } ?? "", column.width, value?.isNull == true ? .dim : nil)
    }
  }

  /// One line of cells, cut at the width of the terminal.
  private func line(of cells: [Cell], within terminal: Int?) -> String {
    var line = "  "
    var used = 2
    var pending = 0
    for cell in cells {
      var text = cell.text
      if text.isEmpty {
        pending += cell.width + 2
        continue
      }
      let room = terminal.map { $0 - used - pending }
      if let room, text.count > room {
        guard room > 1 else { break }
        text = String(text.prefix(room - 1)) + "…"
      }
      line += String(repeating: " ", count: pending) + (cell.color.map { people.colored(text, $0) } ?? text)
      used += pending + text.count
      if text.count < cell.text.count { break }
      pending = max(0, cell.width - text.count) + 2
    }
    return line
  }
}
