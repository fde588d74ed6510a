// A list as CSV (RFC 4180): one line per item, one column per field.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Writes the columns `section,id,revision` and the fields. A field that could be taken for one of these, or for a path,
/// has its name in backquotes. Unless the fields are chosen, a field `id` that repeats the row's id gets no column.
/// Strings are written as they are, other values as JSON; null and absent fields are empty.
enum ListCSV {
  static func write(_ state: ListState, _ fields: ShownFields, to writer: inout OutputWriter) throws {
    let columns = try ListCSVColumns(of: state, fields)
    for (index, name) in columns.titles.enumerated() {
      if index > 0 { writer.bytes.append(UInt8(ascii: ",")) }
      CSVText.commas.append(name, to: &writer.bytes)
    }
    writer.bytes.append(UInt8(ascii: "\n"))
    for place in 0..<state.version.sectionCount {
      let section = text(state.section(at: place))
      let shown = state.shownCount(ofSectionAt: place)
      try state.forEachRow(inSectionAt: place, 0..<shown) { row in
        CSVText.commas.append(section, to: &writer.bytes)
        writer.bytes.append(UInt8(ascii: ","))
        CSVText.commas.append(row.idText, to: &writer.bytes)
        writer.bytes += ",\(row.revision)".utf8
        let object = fields.fields(of: row)
        for name in columns.fields {
          writer.bytes.append(UInt8(ascii: ","))
          CSVText.commas.append(text(object[name]), to: &writer.bytes)
        }
        writer.bytes.append(UInt8(ascii: "\n"))
        try writer.flushIfLarge()
      }
    }
  }

  private static func text(_ value: DocumentValue?) -> String {
    switch value {
    case nil, .null: ""
    case .string(let text): text
    case let value?: value.json()
    }
  }
}
