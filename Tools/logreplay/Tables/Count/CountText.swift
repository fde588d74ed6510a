// A time axis as text for people.

internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

struct CountText {
  let report: CountReport

  private static let columnsMax = 12
  private static let widthMax = 24

  /// A line for each step: `2026-10-25  Open=3 Closed=17`.
  func writeLines(to writer: inout OutputWriter) throws {
    for step in report.axis {
      let words = step.groups.map { group in
        let name =
          group.values.isEmpty ? "all" : group.values.map { PeopleText.word($0) }.joined(separator: ",")
        let sum = report.sum == nil ? "" : "(\(group.sum?.json() ?? "null"))"
        return "\(name)=\(group.count)\(sum)"
      }
      let end = step.isOver ? "" : "  " + report.people.colored("not over", .yellow)
      try writer.line(
        report.people.colored(report.label(step.begin), .dim) + "  " + words.joined(separator: " ") + end)
    }
  }

  /// A column for each group if there are few of them, otherwise a line for each group of each step.
  func writeTable(to writer: inout OutputWriter) throws {
    var names: [[DocumentValue]: Int] = [:]
    var order: [[DocumentValue]] = []
    for step in report.axis where order.count <= Self.columnsMax {
      for group in step.groups where names[group.values] == nil {
        names[group.values] = 0
        order.append(group.values)
      }
    }
    guard report.sum == nil, order.count <= Self.columnsMax else { return try writeLong(to: &writer) }
    // In the order of the groups in a step.
    order = report.axis.groupValues.filter { names[$0] != nil }
    for (index, values) in order.enumerated() { names[values] = index }
    let titles = order.map { String(report.name($0).prefix(Self.widthMax)) }
    var widths = titles.map(\.count)
    for step in report.axis {
      for group in step.groups {
        let index = names[group.values] ?? 0
        widths[index] = max(widths[index], PeopleText.count(group.count).count)
      }
    }
    let timeWidth = report.axis.makeFirst().map { report.label($0.begin).count } ?? 4
    let head = zip(titles, widths).map { PeopleText.padding($0, to: $1) + $0 }.joined(separator: "  ")
    let time = "time" + PeopleText.padding("time", to: timeWidth)
    try writer.line(report.people.colored("\(time)  \(head)", .dim))
    for step in report.axis {
      var cells = widths.map { String(repeating: " ", count: $0) }
      for group in step.groups {
        let (index, text) = (names[group.values] ?? 0, PeopleText.count(group.count))
        cells[index] = PeopleText.padding(text, to: widths[index]) + text
      }
      let end = step.isOver ? "" : "  " + report.people.colored("not over", .yellow)
      var line = report.label(step.begin) + "  " + cells.joined(separator: "  ") + end
      while line.last == " " { line.removeLast() }
      try writer.line(line)
    }
  }

  private func writeLong(to writer: inout OutputWriter) throws {
    let titles =
      ["time"] + report.by.map { PeopleText.printable($0.description) } + ["count"]
      + (report.sum.map { [PeopleText.printable("sum of \($0)")] } ?? [])
    let numbers = report.by.count + 1
    var widths = titles.map(\.count)
    for step in report.axis {
      for group in step.groups {
        for (index, cell) in cells(step, group).enumerated() {
          widths[index] = max(widths[index], cell.count)
        }
      }
    }
    func line(_ cells: [String]) -> String {
      var line = ""
      for (index, cell) in cells.enumerated() {
        let padding = PeopleText.padding(cell, to: widths[index])
        line += (index == 0 ? "" : "  ") + (index >= numbers ? padding + cell : cell + padding)
      }
      return line
    }
    try writer.line(report.people.colored(line(titles), .dim))
    for step in report.axis {
      let end = step.isOver ? "" : "  " + report.people.colored("not over", .yellow)
      if step.groups.isEmpty { try writer.line(report.label(step.begin) + end) }
      for group in step.groups { try writer.line(line(cells(step, group)) + end) }
    }
  }

  private func cells(_ step: TimeAxis.Step, _ group: TimeAxis.Group) -> [String] {
    [report.label(step.begin)] + group.values.map { PeopleText.heading($0) } + [PeopleText.count(group.count)]
      + (report.sum == nil ? [] : [group.sum?.json() ?? "null"])
  }
}

extension TimeAxis {
  /// The first step.
  func makeFirst() -> Step? {
    var steps = makeIterator()
    return steps.next()
  }
}
