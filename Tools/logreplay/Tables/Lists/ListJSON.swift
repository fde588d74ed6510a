// A list as JSON: one object, or one line per item.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Writes a list, and the parts of it that the output of other commands shares.
enum ListJSON {
  /// Writes `{"schema":1,"table":…,"sections":[…]}` without a line feed.
  static func write(_ state: ListState, _ fields: ShownFields, to writer: inout OutputWriter) throws {
    var line = JSONLine(movingFrom: &writer.bytes)
    line.field("schema", 1 as UInt64)
    line.field("table", state.table)
    addPoint(of: state, to: &line)
    line.raw("sections", "[".utf8)
    line.move(to: &writer.bytes)
    for place in 0..<state.version.sectionCount {
      if place > 0 { writer.bytes.append(UInt8(ascii: ",")) }
      try write(section: place, of: state, fields, to: &writer)
    }
    writer.bytes += "]}".utf8
  }

  private static func write(
    section place: Int, of state: ListState, _ fields: ShownFields, to writer: inout OutputWriter
  ) throws {
    let count = state.version.withSection(at: place) { _, count, _ in count }
    let shown = state.shownCount(ofSectionAt: place)
    var line = JSONLine(movingFrom: &writer.bytes)
    line.field("section", state.section(at: place))
    line.field("count", count)
    state.results(inSectionAt: place).add(to: &line)
    line.raw("items", "[".utf8)
    line.move(to: &writer.bytes)
    var isFirst = true
    try state.forEachRow(inSectionAt: place, 0..<shown) { row in
      if !isFirst { writer.bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      var item = JSONLine(movingFrom: &writer.bytes)
      add(row, fields, to: &item)
      item.finish(to: &writer.bytes)
      try writer.flushIfLarge()
    }
    writer.bytes += "]}".utf8
  }

  /// Writes `{"schema":1,"section":V,"id":…}`, one line per item.
  static func writeLines(_ state: ListState, _ fields: ShownFields, to writer: inout OutputWriter) throws {
    for place in 0..<state.version.sectionCount {
      let section = state.section(at: place).jsonBytes()
      let shown = state.shownCount(ofSectionAt: place)
      try state.forEachRow(inSectionAt: place, 0..<shown) { row in
        var line = JSONLine(movingFrom: &writer.bytes)
        line.field("schema", 1 as UInt64)
        line.raw("section", section)
        add(row, fields, to: &line)
        line.finish(to: &writer.bytes)
        writer.bytes.append(UInt8(ascii: "\n"))
        try writer.flushIfLarge()
      }
    }
  }

  /// Adds `"sequence":N,"time":…,"chain":…,"count":n`, the aggregates of the whole list if there are any, and
  /// `"partial":true` inside an append.
  static func addPoint(of state: ListState, to line: inout JSONLine) {
    line.field("sequence", state.sequence)
    line.field("time", state.time?.description)
    line.field("chain", LogPosition.hex(state.chain))
    line.field("count", state.count)
    state.results.add(to: &line)
    if state.isPartial { line.field("partial", true) }
  }

  /// Adds `"id":…,"revision":N,"fields":{…}`.
  static func add(_ row: RowView, _ fields: ShownFields, to line: inout JSONLine) {
    line.field("id", row.idText)
    line.field("revision", row.revision)
    line.field("fields", .object(fields.fields(of: row)))
  }
}

extension ListState {
  /// Lends the rows of a section at the given indexes.
  func forEachRow(
    inSectionAt place: Int, _ places: Range<Int>, _ body: (RowView) throws -> Void
  ) throws {
    try version.forEachItem(inSectionAt: place, places) { (key) throws in
      try version.table.withRow(key.id) { (row) throws in
        if let row { try body(row) }
      }
    }
  }
}
