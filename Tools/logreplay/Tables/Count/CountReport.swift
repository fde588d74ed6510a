// A time axis with what is said of it: the fields, the steps, the zone.

internal import ArgumentParser
internal import LogreplayPoints
internal import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// What `count` found, for each of its formats.
struct CountReport {
  var table: String
  var by: [FieldPath]
  var sum: FieldPath?
  var step: CalendarStep
  var filter: RowFilter?
  var zone: Zone
  /// The name of the zone as it was given.
  var zoneName: String?
  var axis: TimeAxis
  var from: ResolvedPoint
  var to: ResolvedPoint
  var people: PeopleText

  func write(as format: CountFormat, to writer: inout OutputWriter) throws {
    switch format {
    case .json: try CountJSON(report: self).write(to: &writer)
    case .jsonl: try CountJSON(report: self).writeLines(to: &writer)
    case .csv: try writeCSV(to: &writer)
    case .short: try CountText(report: self).writeLines(to: &writer)
    case .table: try CountText(report: self).writeTable(to: &writer)
    case .plot: try CountPlot(report: self).write(to: &writer)
    case .svg: try CountPicture(report: self).write(to: &writer)
    }
  }

  /// `time,FIELD…,count[,sum]`, a line for each group of each step. Strings are as they are, other values as JSON, null is
  /// empty, as in the CSV of lists.
  private func writeCSV(to writer: inout OutputWriter) throws {
    let titles = ["time"] + by.map(\.description) + ["count"] + (sum == nil ? [] : ["sum"])
    for (index, title) in titles.enumerated() {
      if index > 0 { writer.bytes.append(UInt8(ascii: ",")) }
      CSVText.commas.append(title, to: &writer.bytes)
    }
    writer.bytes.append(UInt8(ascii: "\n"))
    for step in axis {
      let time = Self.local(step.begin, zone)
      for group in step.groups {
        writer.bytes += time.utf8
        for value in group.values {
          writer.bytes.append(UInt8(ascii: ","))
          CSVText.commas.append(Self.csv(value), to: &writer.bytes)
        }
        writer.bytes += ",\(group.count)".utf8
        if sum != nil { writer.bytes += ",\(group.sum.map(Self.csv) ?? "")".utf8 }
        writer.bytes.append(UInt8(ascii: "\n"))
        try writer.flushIfLarge()
      }
    }
  }

  private static func csv(_ value: DocumentValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): text
    default: value.json()
    }
  }

  /// `2026-10-25T00:00:00+02:00`.
  static func local(_ time: Timestamp, _ zone: Zone) -> String {
    let (civil, offset) = clock(time, zone)
    let minutes = abs(offset) / 60
    return "\(date(civil))T\(pad(civil.hour)):\(pad(civil.minute)):\(pad(civil.second))"
      + "\(offset < 0 ? "-" : "+")\(pad(minutes / 60)):\(pad(minutes % 60))"
  }

  /// A step for people: its date, for hours with the time and the offset, which tell two hours of one name apart.
  func label(_ time: Timestamp) -> String {
    let (civil, offset) = Self.clock(time, zone)
    guard step == .hour else { return Self.date(civil) }
    let minutes = abs(offset) / 60
    return "\(Self.date(civil)) \(Self.pad(civil.hour)):\(Self.pad(civil.minute))"
      + "\(offset < 0 ? "-" : "+")\(Self.pad(minutes / 60)):\(Self.pad(minutes % 60))"
  }

  static func clock(_ time: Timestamp, _ zone: Zone) -> (civil: CivilTime, offset: Int) {
    let seconds = time.nanoseconds.seconds
    let offset = zone.offset(at: seconds)
    return (CivilTime(seconds: seconds + Int64(offset)), offset)
  }

  private static func date(_ civil: CivilTime) -> String {
    "\(PeopleText.padded(civil.year, 4))-\(pad(civil.month))-\(pad(civil.day))"
  }

  private static func pad(_ number: Int) -> String { PeopleText.padded(number, 2) }

  // MARK: Notes

  /// A group for people: `Queued`, or `Queued · High`.
  func name(_ values: [DocumentValue]) -> String {
    values.isEmpty ? "all" : values.map { PeopleText.heading($0) }.joined(separator: " · ")
  }

  /// Says what the numbers do not: that the last step is not over, and names that no row has.
  func noteEnd(_ opened: OpenedStore) throws {
    var last: TimeAxis.Step?
    var (isEmpty, hasNumbers) = (true, false)
    var lacking = by
    for step in axis {
      last = step
      if !step.groups.isEmpty { isEmpty = false }
      if lacking.isEmpty, hasNumbers || sum == nil { continue }
      for group in step.groups {
        lacking = lacking.filter { path in by.firstIndex(of: path).map { group.values[$0] == .null } ?? false
        }
        if group.notNumberCount > 0 || group.sum != .int(0) { hasNumbers = true }
      }
    }
    if let last, !last.isOver, !isEmpty {
      Terminal.note(
        "the last step, \(label(last.begin)), is not over: its numbers are those at seq \(last.sequence)")
    }
    guard isEmpty ? filter != nil : !lacking.isEmpty || (sum != nil && !hasNumbers) else { return }
    var words = ["--table", table] + by.flatMap { ["--sort", $0.description] }
    if let sum { words += ["--sort", sum.description] }
    if let filter { words += ["--where=\(filter)"] }
    let query = try ListQuery(ListOptions.parse(words), times: TimeText(zone: zone))
    UnknownFields.report(query, try ListReplay(opened, query, from: to.sequence).state(at: to))
  }

  /// Reports the values and rows that are in no number, at the step that lacks the most of them. Returns whether there are
  /// any.
  func reportProblems() -> Bool {
    var (leftOut, notNumbers, notFinite) = (0, 0, 0)
    for step in axis {
      leftOut = max(leftOut, step.leftOutCount)
      guard sum != nil else { continue }
      notNumbers = max(notNumbers, step.groups.reduce(0) { $0 + $1.notNumberCount })
      notFinite = max(notFinite, step.groups.reduce(0) { $0 + $1.notFiniteCount })
    }
    let name = sum?.description ?? ""
    for (count, what) in [
      (
        leftOut,
        "rows are in no group: their last event cannot be applied, or the field is an array or an object"
      ),
      (notNumbers, "values of \(name) are no number, and not in the sum"),
      (notFinite, "values of \(name) are infinite or NaN, and not in the sum"),
    ] where count > 0 {
      Terminal.note("logreplay: warning: up to \(PeopleText.count(count)) \(PeopleText.printable(what))")
    }
    return leftOut + notNumbers + notFinite > 0
  }
}
