// A part of a list as JSON: the lines that a screen shows, and what changed since the list that it showed before.

package import LogreplayShell
internal import StrataDocuments
internal import StrataEvents
internal import StrataLists
internal import StrataTables

/// Which lines of a list are asked for. A line is the heading of a section, or an item.
package struct ListWindowRequest: Sendable {
  package var offset: Int
  package var count: Int
  /// The list that the changes begin with; nil if none are asked for.
  package var since: ResolvedPoint?

  package init(offset: Int, count: Int, since: ResolvedPoint? = nil) {
    (self.offset, self.count, self.since) = (offset, count, since)
  }
}

extension ListBrowser {
  /// The most sections that are listed beside the lines.
  private static var outlineMax: Int { 500 }
  /// The most changes that are listed.
  private static var changeCountMax: Int { 1000 }
  /// Between points that are farther apart, changes are not looked for.
  private static var changeDistanceMax: UInt64 { 100_000 }
  /// The most bytes of a value of a field, as text, that a line has.
  private static var valueSizeMax: Int { 400 }
  private static var fieldCountMax: Int { 64 }
  /// The most bytes of an answer.
  private static var answerSizeMax: Int { 8 << 20 }

  /// `{"schema":1,"table":…,"sequence":…,"time":…,"chain":…,"count":…,"lines":…,"outline":[…],"offset":…,"window":[…]}`.
  package func window(at point: ResolvedPoint, _ request: ListWindowRequest) throws -> [UInt8] {
    var points = [point]
    if let since = request.since, since.sequence.distance(to: point.sequence) <= Self.changeDistanceMax {
      points.insert(since, at: 0)
    }
    return try withStates(at: points) { lists, _ in
      let state = lists[lists.count - 1]
      var line = JSONLine.document()
      line.field("table", state.table)
      ListJSON.addPoint(of: state, to: &line)
      let starts = Self.starts(state.version)
      line.field("sections", state.version.isSectioned ? state.version.sectionCount : 0)
      line.field("lines", starts.last ?? 0)
      line.array("outline", Self.outline(state, starts))
      let offset = min(max(0, request.offset), starts.last ?? 0)
      line.field("offset", offset)
      line.array(
        "window", try lines(of: state, starts, offset..<min(starts.last ?? 0, offset + request.count)))
      let problems = ProblemCounts(state.version)
      if problems.leftOut > 0 { line.field("leftOut", problems.leftOut) }
      if lists.count == 2 { line.raw("changes", changes(ListComparison(from: lists[0], to: state))) }
      return line.finish()
    }
  }

  /// The line at which each section begins, and the number of lines. O(sections).
  private static func starts(_ version: ListVersion) -> [Int] {
    var starts = [0]
    let heading = version.isSectioned ? 1 : 0
    for place in 0..<version.sectionCount {
      starts.append(starts[place] + heading + version.shownCount(ofSectionAt: place))
    }
    return starts
  }

  private static func outline(_ state: ListState, _ starts: [Int]) -> [[UInt8]] {
    guard state.version.isSectioned else { return [] }
    return (0..<min(outlineMax, state.version.sectionCount)).map { place in
      var line = JSONLine()
      line.field("section", Self.shortened(state.section(at: place)).value)
      line.field("count", state.version.withSection(at: place) { _, count, _ in count })
      line.field("line", starts[place])
      return line.finish()
    }
  }

  private func lines(of state: ListState, _ starts: [Int], _ range: Range<Int>) throws -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var next = range.lowerBound
    let heading = state.version.isSectioned ? 1 : 0
    // The section that holds the first line.
    var (low, high) = (0, starts.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if starts[middle] <= next { low = middle } else { high = middle - 1 }
    }
    var place = low
    while next < range.upperBound, place < state.version.sectionCount {
      if heading == 1, next == starts[place] {
        var line = JSONLine()
        line.field("section", Self.shortened(state.section(at: place)).value)
        line.field("count", state.version.withSection(at: place) { _, count, _ in count })
        lines.append(line.finish())
        next += 1
      }
      let begin = starts[place] + heading
      let items = next - begin..<min(range.upperBound, starts[place + 1]) - begin
      if !items.isEmpty {
        try state.forEachRow(inSectionAt: place, items) { row in lines.append(line(of: row)) }
        next = begin + items.upperBound
      }
      place += 1
    }
    return lines
  }

  /// `{"id":…,"revision":…,"fields":{…}}`. A value that is too long is cut, and its field named under `cut`.
  private func line(of row: RowView) -> [UInt8] {
    var line = JSONLine()
    line.field("id", row.idText)
    line.field("revision", row.revision)
    line.field("time", Timestamp(nanoseconds: row.time).description)
    var fields = DocumentObject()
    var cut: [[UInt8]] = []
    for (name, value) in query.fields.fields(of: row).prefix(Self.fieldCountMax) {
      let short = Self.shortened(value)
      fields[name] = short.value
      if short.isCut { cut.append(Array(DocumentValue.string(name).json().utf8)) }
    }
    line.field("fields", .object(fields))
    if !cut.isEmpty { line.array("cut", cut) }
    return line.finish()
  }

  /// A value of at most some hundred bytes: the beginning of a string, or of the JSON of anything else.
  private static func shortened(_ value: DocumentValue) -> (value: DocumentValue, isCut: Bool) {
    switch value {
    case .null, .bool, .int, .uint, .double: return (value, false)
    case .string(let text):
      guard text.utf8.count > valueSizeMax else { return (value, false) }
      return (.string(prefix(of: text)), true)
    default:
      let text = value.json()
      guard text.utf8.count > valueSizeMax else { return (value, false) }
      return (.string(prefix(of: text)), true)
    }
  }

  private static func prefix(of text: String) -> String {
    String(decoding: text.utf8.prefix(valueSizeMax), as: UTF8.self)
  }

  // MARK: Changes

  /// `{"from":A,"inserted":n,"deleted":n,"moved":n,"updated":n,"diff":{…}}`; `diff` as `logreplay diff -o json` prints it,
  /// with the rows that were deleted, if it has no more than a thousand changes and fits an answer.
  private func changes(_ comparison: ListComparison) -> [UInt8] {
    var line = Self.counts(comparison)
    if comparison.batch.count <= Self.changeCountMax,
      let diff = try? Self.json(comparison, query.fields, Self.changeCountMax)
    {
      line.raw("diff", diff)
    }
    return line.finish()
  }

  private static func counts(_ comparison: ListComparison) -> JSONLine {
    let batch = comparison.batch
    var line = JSONLine()
    line.field("from", comparison.old.sequence)
    line.field("inserted", batch.insertions.count)
    line.field("deleted", batch.deletions.count)
    line.field("moved", batch.moves.count)
    line.field("updated", batch.updates.count)
    return line
  }

  private static func json(
    _ comparison: ListComparison, _ fields: ShownFields, _ countMax: Int
  ) throws -> [UInt8] {
    var writer = OutputWriter(keepingAtMost: answerSizeMax)
    try DiffJSON(diff: comparison, fields: fields, countMax: countMax, hasDeletedRows: true).write(
      to: &writer)
    try writer.flush()
    return writer.bytes
  }

  /// What `logreplay diff -o json` prints of two points, with the rows that were deleted: of many changes as many of the first as fit an answer; and the
  /// numbers of all of them.
  package func changes(from: ResolvedPoint, to: ResolvedPoint, countMax: Int) throws -> [UInt8] {
    try withStates(at: [from, to]) { lists, _ in
      let comparison = ListComparison(from: lists[0], to: lists[1])
      var shown = min(countMax, comparison.batch.count)
      var diff = try? Self.json(comparison, query.fields, shown)
      while diff == nil, shown > 0 {
        shown /= 4
        diff = try? Self.json(comparison, query.fields, shown)
      }
      var line = Self.counts(comparison)
      line.field("changes", comparison.batch.count)
      line.field("shown", shown)
      if let diff { line.raw("diff", diff) }
      return line.finish()
    }
  }
}

extension UInt64 {
  /// How far apart two sequences are.
  fileprivate func distance(to other: UInt64) -> UInt64 { self < other ? other - self : self - other }
}
