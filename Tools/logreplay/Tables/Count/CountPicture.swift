// A time axis as a picture: an SVG that reads on white and on black, on a screen and on paper.

internal import LogreplayPoints
internal import LogreplayShell
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Draws stacked areas, or lines where a number is negative, with axes, a legend and a title. The picture has the colours
/// for dark screens too, and a reader of one colour tells the groups apart by their order, which the legend has.
struct CountPicture {
  let report: CountReport

  private static let (width, height) = (1000.0, 440.0)
  private static let (left, right, top, bottom) = (72.0, 240.0, 64.0, 48.0)
  private static let seriesMax = 10
  /// Colours that people with any kind of colour vision tell apart, dark and light in turns.
  private static let colors = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a5195", "#b3a125", "#5d6d7e",
    "#b0b7bf",
  ]

  private var plotWidth: Double { Self.width - Self.left - Self.right }
  private var plotHeight: Double { Self.height - Self.top - Self.bottom }

  func write(to writer: inout OutputWriter) throws {
    let series = CountSeries(report, seriesMax: Self.seriesMax)
    let isStacked = !series.hasNegative
    let least = isStacked ? 0 : series.series.flatMap(\.numbers).min() ?? 0
    let marks = CountScale.numbers(from: least, to: series.top(stacked: isStacked), about: 5)
    let drawing = Drawing(picture: self, series: series, low: marks[0], high: marks[marks.count - 1])
    try writer.line(begin)
    for mark in marks { try writer.line(drawing.numberMark(mark)) }
    for index in series.series.indices {
      try writer.line(isStacked ? drawing.area(index) : drawing.line(index))
    }
    let times = CountScale.times(
      from: series.begins[0], to: series.begins[series.begins.count - 1], report.zone, countMax: 8)
    for mark in times { try writer.line(drawing.timeMark(mark.seconds, mark.text)) }
    if series.isCut { try writer.line(drawing.cut) }
    try writer.line(drawing.axes)
    for (line, index) in series.series.indices.reversed().enumerated() {
      try writer.line(drawing.legend(index, at: line))
    }
    try writer.line("</svg>")
  }

  private var begin: String {
    let (title, note) = (Self.escaped(title), Self.escaped(note))
    return """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" \
      width="\(Int(Self.width))" height="\(Int(Self.height))" role="img" font-family="system-ui, 'DejaVu Sans', sans-serif" \
      font-size="13">
      <title>\(title)</title>
      <desc>\(note)</desc>
      <style>
      .paper { fill: #ffffff } .text { fill: #24292f } .quiet { fill: #57606a }
      .grid { stroke: #d0d7de; stroke-width: 1; fill: none } .axis { stroke: #57606a; stroke-width: 1; fill: none }
      .edge { stroke: #ffffff; stroke-width: 0.75 } .cut { fill: #ffffff; fill-opacity: 0.5 }
      @media (prefers-color-scheme: dark) {
      .paper { fill: #0d1117 } .text { fill: #e6edf3 } .quiet { fill: #9198a1 }
      .grid { stroke: #30363d } .axis { stroke: #9198a1 } .edge { stroke: #0d1117 } .cut { fill: #0d1117 }
      }
      @media print {
      .paper { fill: #ffffff } .text { fill: #000000 } .quiet { fill: #333333 }
      .grid { stroke: #cccccc } .axis { stroke: #333333 } .edge { stroke: #ffffff } .cut { fill: #ffffff }
      }
      </style>
      <rect class="paper" width="100%" height="100%"/>
      <text class="text" x="\(Int(Self.left))" y="28" font-size="18" font-weight="600">\(title)</text>
      <text class="quiet" x="\(Int(Self.left))" y="48">\(note)</text>
      """
  }

  private var title: String {
    let what = report.sum.map { "Sum of \($0) of \(report.table)" } ?? "Rows of \(report.table)"
    return report.by.isEmpty ? what : "\(what) by \(report.by.map(\.description).joined(separator: ", "))"
  }

  private var note: String {
    var last: TimeAxis.Step?
    for step in report.axis { last = step }
    let span = report.axis.makeFirst().flatMap { first in
      last.map { "\(report.label(first.begin)) to \(report.label($0.begin))" }
    }
    let step =
      switch report.step {
      case .hour: "hour"
      case .day: "day"
      case .week: "week"
      case .month: "month"
      }
    let filter = report.filter.map { ", where \($0)" } ?? ""
    let cut = last?.isOver == false ? "; the last one is not over" : ""
    return "at the end of each \(step), \(span ?? "")\(filter)\(cut)"
  }

  /// A text in XML, without characters that it cannot have.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in PeopleText.printable(PeopleText.shortened(text, to: 110)).unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\u{FFFE}", "\u{FFFF}": escaped += "\u{FFFD}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// The numbers as places of the picture.
  private struct Drawing {
    let picture: CountPicture
    let series: CountSeries
    let low: Double
    let high: Double

    private func x(_ seconds: Double) -> String {
      let (begin, end) = (series.begins[0], series.begins[series.begins.count - 1])
      return Self.text(CountPicture.left + (seconds - begin) / (end - begin) * picture.plotWidth)
    }

    private func y(_ number: Double) -> String {
      let part = high > low ? (number - low) / (high - low) : 0
      return Self.text(CountPicture.top + (1 - part) * picture.plotHeight)
    }

    private static func text(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }

    private func color(_ index: Int) -> String { CountPicture.colors[index % CountPicture.colors.count] }

    /// The corners of a stair over all columns, from the left or from the right.
    private func stair(_ number: (Int) -> Double, reversed: Bool = false) -> String {
      var corners: [String] = []
      for column in 0..<series.begins.count - 1 {
        if column > 0, column < series.begins.count - 2, number(column) == number(column - 1),
          number(column) == number(column + 1)
        {
          continue
        }
        let sides = [series.begins[column], series.begins[column + 1]]
        for side in sides { corners.append("\(x(side)),\(y(number(column)))") }
      }
      return (reversed ? corners.reversed() : corners).joined(separator: " ")
    }

    func area(_ index: Int) -> String {
      func sum(_ count: Int) -> (Int) -> Double {
        { column in series.series.prefix(count).reduce(0) { $0 + $1.numbers[column] } }
      }
      let (under, over) = (stair(sum(index), reversed: true), stair(sum(index + 1)))
      return "<polygon class=\"edge\" fill=\"\(color(index))\" points=\"\(over) \(under)\">"
        + "<title>\(CountPicture.escaped(series.series[index].name))</title></polygon>"
    }

    func line(_ index: Int) -> String {
      "<polyline fill=\"none\" stroke=\"\(color(index))\" stroke-width=\"2\" "
        + "points=\"\(stair { series.series[index].numbers[$0] })\">"
        + "<title>\(CountPicture.escaped(series.series[index].name))</title></polyline>"
    }

    func numberMark(_ number: Double) -> String {
      let right = Int(CountPicture.width - CountPicture.right)
      return "<path class=\"grid\" d=\"M\(Int(CountPicture.left)) \(y(number))H\(right)\"/>"
        + "<text class=\"quiet\" text-anchor=\"end\" x=\"\(Int(CountPicture.left) - 8)\" y=\"\(y(number))\" dy=\"4\">"
        + "\(CountPlot.text(number))</text>"
    }

    func timeMark(_ seconds: Double, _ text: String) -> String {
      let bottom = Int(CountPicture.height - CountPicture.bottom)
      return "<path class=\"axis\" d=\"M\(x(seconds)) \(bottom)v5\"/>"
        + "<text class=\"quiet\" text-anchor=\"middle\" x=\"\(x(seconds))\" y=\"\(bottom + 21)\">\(text)</text>"
    }

    /// What makes the step that is not over paler.
    var cut: String {
      let begin = series.begins[series.begins.count - 2]
      return
        "<path class=\"cut\" d=\"M\(x(begin)) \(Int(CountPicture.top))H\(Int(CountPicture.width - CountPicture.right))"
        + "V\(Int(CountPicture.height - CountPicture.bottom))H\(x(begin))Z\"/>"
    }

    var axes: String {
      "<path class=\"axis\" d=\"M\(Int(CountPicture.left)) \(Int(CountPicture.top))V\(y(low))"
        + "M\(Int(CountPicture.left)) \(y(max(low, 0)))H\(Int(CountPicture.width - CountPicture.right))\"/>"
    }

    func legend(_ index: Int, at line: Int) -> String {
      let (left, top) = (
        Int(CountPicture.width - CountPicture.right) + 20, Int(CountPicture.top) + 8 + line * 24
      )
      let number = CountPlot.text(series.series[index].numbers.last ?? 0)
      let name = PeopleText.shortened(series.series[index].name, to: 20)
      return
        "<rect fill=\"\(color(index))\" x=\"\(left)\" y=\"\(top - 7)\" width=\"14\" height=\"14\" rx=\"2\"/>"
        + "<text class=\"text\" x=\"\(left + 22)\" y=\"\(top + 5)\">\(CountPicture.escaped(name)) "
        + "<tspan class=\"quiet\">\(number)</tspan></text>"
    }
  }
}
