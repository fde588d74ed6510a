// A list as RFC 4180 has it: a line per item, and a column per field.

internal import StrataEvents
internal import StrataFetch
internal import StrataTables

/// `section,id,revision` and the fields. Strings stand as they are, other values as JSON, null and what is
/// absent as nothing.
enum ListCSV {
  static func write(_ state: ListState, _ fields: ShownFields, to writer: inout OutputWriter) throws {
    let names = try fields.chosen?.map(\.name) ?? state.fieldNames(fields, rowCountMax: .max)
    for (index, name) in (["section", "id", "revision"] + names).enumerated() {
      if index > 0 { writer.bytes.append(UInt8(ascii: ",")) }
      EventCSV.append(name, to: &writer.bytes)
    }
    writer.bytes.append(UInt8(ascii: "\n"))
    for place in 0..<state.version.sectionCount {
      let section = text(state.section(at: place))
      let shown = state.version.withSection(at: place) { _, _, shown in shown }
      try state.forEachRow(inSectionAt: place, 0..<shown) { row in
        EventCSV.append(section, to: &writer.bytes)
        writer.bytes.append(UInt8(ascii: ","))
        EventCSV.append(row.idText, to: &writer.bytes)
        writer.bytes += ",\(row.revision)".utf8
        let object = fields.fields(of: row)
        for name in names {
          writer.bytes.append(UInt8(ascii: ","))
          EventCSV.append(text(object[name]), to: &writer.bytes)
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

extension ListState {
  /// The names of all fields of the first rows that are shown, ascending by UTF-8.
  func fieldNames(_ fields: ShownFields, rowCountMax: Int) throws -> [String] {
    var names = DocumentObject()
    var left = rowCountMax
    for place in 0..<version.sectionCount where left > 0 {
      let shown = min(left, version.withSection(at: place) { _, _, shown in shown })
      left -= shown
      try forEachRow(inSectionAt: place, 0..<shown) { row in
        for (name, _) in fields.fields(of: row) where names[name] == nil { names[name] = .null }
      }
    }
    return Array(names.keys)
  }
}
