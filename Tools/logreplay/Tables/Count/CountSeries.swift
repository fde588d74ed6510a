// A time axis as a few series of numbers, which a picture can show.

internal import StrataDocuments
internal import StrataEvents
internal import StrataLists

/// The numbers of a time axis for each of the largest groups, and of all others together.
struct CountSeries {
  struct Series {
    var name: String
    var numbers: [Double]
  }

  /// The moments at which the columns begin, and at which the last one ends, in seconds since 1970.
  private(set) var begins: [Double]
  /// In the order of the groups; the others come last.
  private(set) var series: [Series]
  /// Whether the last column is a step that is not over.
  private(set) var isCut: Bool
  /// Whether a number is negative, so that series cannot be stacked.
  var hasNegative: Bool { series.contains { $0.numbers.contains { $0 < 0 } } }

  /// Steps are drawn one by one up to this count; of more, each column is the last of several.
  private static let columnCountMax = 1000

  /// - Parameter seriesMax: the most series, with that of the others.
  init(_ report: CountReport, seriesMax: Int) {
    let every = max(1, (report.axis.stepCount + Self.columnCountMax - 1) / Self.columnCountMax)
    var columns: [TimeAxis.Step] = []
    begins = []
    isCut = false
    var end = 0.0
    for (index, step) in report.axis.enumerated() {
      if index % every == 0 { begins.append(Self.seconds(step.begin)) }
      if (index + 1) % every == 0 || index == report.axis.stepCount - 1 { columns.append(step) }
      (end, isCut) = (Self.seconds(step.end), !step.isOver)
    }
    begins.append(end)
    var numbers: [[DocumentValue]: [Double]] = [:]
    for (column, step) in columns.enumerated() {
      for group in step.groups {
        numbers[group.values, default: [Double](repeating: 0, count: columns.count)][column] =
          report.sum == nil ? Double(group.count) : Self.number(group.sum)
      }
    }
    let order = report.axis.groupValues.filter { numbers[$0] != nil }
    let sizes = numbers.mapValues { $0.reduce(0) { $0 + abs($1) } }
    let largest = order.sorted { sizes[$0] ?? 0 > sizes[$1] ?? 0 }
    let kept = Set(largest.prefix(order.count > seriesMax ? seriesMax - 1 : seriesMax))
    series = order.filter { kept.contains($0) }.map {
      Series(name: report.name($0), numbers: numbers[$0] ?? [])
    }
    guard order.count > kept.count else { return }
    var others = [Double](repeating: 0, count: columns.count)
    for values in order where !kept.contains(values) {
      for (column, number) in (numbers[values] ?? []).enumerated() { others[column] += number }
    }
    series.append(Series(name: "\(order.count - kept.count) others", numbers: others))
  }

  private static func seconds(_ time: Timestamp) -> Double { Double(time.nanoseconds) / 1e9 }

  /// Within what a picture can add up without an overflow.
  private static func number(_ value: DocumentValue?) -> Double { max(-1e300, min(1e300, unbounded(value))) }

  private static func unbounded(_ value: DocumentValue?) -> Double {
    switch value {
    case .int(let value): Double(value)
    case .uint(let value): Double(value)
    case .double(let value): value.isNaN ? 0 : value
    case .bigInt(let value): Double(value.description) ?? 0
    default: 0
    }
  }

  /// The sums of all series in each column, or the greatest number if they are not stacked.
  func top(stacked: Bool) -> Double {
    (0..<begins.count - 1).map { column in
      let numbers = series.map { $0.numbers[column] }
      return stacked ? numbers.reduce(0, +) : numbers.max() ?? 0
    }.max() ?? 0
  }
}
