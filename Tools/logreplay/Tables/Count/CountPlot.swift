// A time axis as bars of blocks, for a terminal.

internal import LogreplayShell
internal import StrataEvents
internal import StrataLists

/// A line for each step, with a part for each group, in the order of the groups.
struct CountPlot {
  let report: CountReport

  /// Each group has a block of its own, so that the parts can be told apart without colours too.
  private static let blocks: [(block: Character, color: PeopleText.Color?)] = [
    ("█", .cyan), ("▒", .yellow), ("▓", .green), ("░", .red), ("▞", nil), ("=", .cyan), ("+", .yellow),
    ("·", .dim),
  ]
  private static let widthDefault = 100
  private static let barMin = 20

  func write(to writer: inout OutputWriter) throws {
    let series = CountSeries(report, seriesMax: Self.blocks.count)
    guard !series.hasNegative else {
      throw CommandFailure(
        ExitStatus.usage, "blocks cannot show sums below 0", at: "-o plot",
        next: "choose svg, which draws lines, or table")
    }
    let legend = series.series.enumerated().map { index, series in
      "\(block(index, 2)) \(PeopleText.printable(series.name))"
    }
    try writer.line(legend.joined(separator: "  "))
    let top = series.top(stacked: true)
    let labels = series.begins.dropLast().map { seconds in
      report.label(Timestamp(nanoseconds: Int64(seconds * 1e9)))
    }
    let totals = labels.indices.map { column in
      Self.text(series.series.reduce(0) { $0 + $1.numbers[column] })
    }
    let sides = (labels.map(\.count).max() ?? 0, totals.map(\.count).max() ?? 0)
    let width = max(Self.barMin, (Terminal.width ?? Self.widthDefault) - sides.0 - sides.1 - 4)
    for (column, label) in labels.enumerated() {
      var (bar, used, sum) = ("", 0, 0.0)
      for (index, series) in series.series.enumerated() {
        sum += series.numbers[column]
        let end = top > 0 ? Int((sum / top * Double(width)).rounded()) : 0
        if end > used { bar += block(index, end - used) }
        used = max(used, end)
      }
      let number = totals[column]
      let isCut = series.isCut && column == labels.count - 1
      try writer.line(
        "\(label)  \(PeopleText.padding(number, to: sides.1))\(number)  \(bar)" + (isCut ? " not over" : ""))
    }
  }

  private func block(_ index: Int, _ count: Int) -> String {
    let (block, color) = Self.blocks[min(index, Self.blocks.count - 1)]
    let text = String(repeating: block, count: count)
    return color.map { report.people.colored(text, $0) } ?? text
  }

  /// A number without the fraction that a bar cannot show.
  static func text(_ number: Double) -> String {
    if let whole = Int(exactly: number.rounded()), whole.magnitude >= 1000 || number == number.rounded() {
      return PeopleText.count(whole)
    }
    return "\((number * 1000).rounded() / 1000)"
  }
}
