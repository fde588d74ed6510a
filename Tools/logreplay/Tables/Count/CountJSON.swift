// A time axis as JSON.

internal import LogreplayPoints
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

struct CountJSON {
  let report: CountReport

  /// One object with the steps in an array.
  func write(to writer: inout OutputWriter) throws {
    var line = JSONLine.document()
    line.field("table", report.table)
    line.array("by", report.by.map { DocumentValue.string($0.description).jsonBytes })
    if let sum = report.sum { line.field("sum", sum.description) }
    line.field("every", report.step.rawValue)
    line.field("timeZone", report.zoneText)
    line.raw("from", Self.point(report.from))
    line.raw("to", Self.point(report.to))
    line.raw("steps", "[".utf8)
    line.move(to: &writer.bytes)
    var isFirst = true
    for step in report.axis {
      if !isFirst { writer.bytes.append(UInt8(ascii: ",")) }
      isFirst = false
      append(step, JSONLine(), to: &writer)
      try writer.flushIfLarge()
    }
    writer.bytes += "]}\n".utf8
  }

  /// A line for each step.
  func writeLines(to writer: inout OutputWriter) throws {
    for step in report.axis {
      append(step, .document(), to: &writer)
      writer.bytes.append(UInt8(ascii: "\n"))
      try writer.flushIfLarge()
    }
  }

  private func append(_ step: TimeAxis.Step, _ line: consuming JSONLine, to writer: inout OutputWriter) {
    line.field("time", step.begin.description)
    line.field("end", step.end.description)
    line.field("local", CountReport.local(step.begin, report.zone))
    line.field("sequence", step.sequence)
    line.field("over", step.isOver)
    line.array(
      "groups",
      step.groups.map { group in
        var line = JSONLine()
        line.array("group", group.values.map(\.jsonBytes))
        line.field("count", group.count)
        if report.sum != nil {
          line.field("sum", group.sum ?? .null)
          if group.notNumberCount > 0 { line.field("notNumbers", group.notNumberCount) }
          if group.notFiniteCount > 0 { line.field("notFinite", group.notFiniteCount) }
        }
        return line.finish()
      })
    if step.leftOutCount > 0 { line.field("leftOut", step.leftOutCount) }
    writer.bytes += line.finish()
  }

  private static func point(_ point: ResolvedPoint) -> [UInt8] {
    var line = JSONLine()
    line.field("sequence", point.sequence)
    line.field("time", point.time?.description)
    return line.finish()
  }
}

extension DocumentValue {
  fileprivate var jsonBytes: [UInt8] { Array(json().utf8) }
}

extension CountReport {
  /// The zone as it was given, or what kind of zone it is.
  var zoneText: String {
    if let zoneName { return zoneName }
    if case .utc = zone { return "UTC" }
    return "local"
  }
}
