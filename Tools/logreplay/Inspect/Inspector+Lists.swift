// A list at a point, the appends that change it, and what changed between two points.

internal import LogreplayShell
internal import LogreplayTables
internal import StrataBase
internal import StrataEvents
internal import StrataLog

extension Inspector {
  /// The lines of a list.
  ///
  /// `at` is the point. With `step=next` or `step=previous` it is the append after it, or before it, that changes the list;
  /// with `step=append` or `step=back`, the next or the last append whatever it changes. `since` is the sequence of the list that is shown, from
  /// which the changes are. `offset` and `count` say which lines.
  func list(_ parameters: InspectParameters) throws -> [UInt8] {
    let list = try browser(of: parameters)
    var point = try point(parameters, "at")
    if let inside = point.inside, parameters["whole"] != nil {
      point = try self.point(String(inside.upperBound))
    }
    var window = ListWindowRequest(
      offset: try parameters.number("offset", in: 0...Int(Int32.max), default: 0),
      count: try parameters.number("count", in: 0...InspectLimits.lineCountMax, default: 100))
    if let since = parameters["since"] { window.since = try self.point(since) }
    var ending = "here"
    if let step = parameters["step"] { (point, ending) = try self.step(step, from: point, list) }
    let before = list.origin.replayed
    var line = JSONLine.document()
    line.raw("list", try list.window(at: point, window))
    line.field("step", ending)
    line.raw("head", head)
    line.field("replayed", list.origin.replayed - before)
    line.field("history", list.origin.isFromHistory)
    return line.finish()
  }

  private func step(
    _ step: String, from point: ResolvedPoint, _ list: ListBrowser
  ) throws -> (ResolvedPoint, ending: String) {
    let found: ListStep
    switch step {
    case "next": found = try list.next(after: point)
    case "previous": found = try list.previous(before: point)
    case "append": found = try append(after: point)
    case "back": found = try append(before: point)
    default: throw InspectParameters.failure("a step is next, previous, append or back", "step")
    }
    switch found {
    case .found(let sequence): return (try self.point(String(sequence)), "found")
    case .paused(let sequence): return (try self.point(String(sequence)), "paused")
    case .end: return (point, "end")
    }
  }

  private func append(after point: ResolvedPoint) throws -> ListStep {
    guard point.sequence < log.mark.sequence else { return .end }
    let next = try failing { () throws(StoreError) in try log.append(holding: point.sequence + 1) }
    return next.map { .found($0.last) } ?? .end
  }

  private func append(before point: ResolvedPoint) throws -> ListStep {
    guard point.sequence >= log.mark.logBegin else { return .end }
    let append = try failing { () throws(StoreError) in try log.append(holding: point.sequence) }
    return append.map { .found($0.first - 1) } ?? .end
  }

  /// What changed between `from` and `to`.
  func diff(_ parameters: InspectParameters) throws -> [UInt8] {
    let (from, to) = (try point(parameters, "from"), try point(parameters, "to"))
    let limit = InspectLimits.changeCountMax
    let count = try parameters.number("count", in: 0...limit, default: limit)
    return try browser(of: parameters).changes(from: from, to: to, countMax: count)
  }

  /// How far the replay is that a request about the list waits for.
  func progress(_ parameters: InspectParameters) -> [UInt8] {
    var line = JSONLine.document()
    if let progress = known(parameters.listWords)?.progress {
      line.field("replayed", progress.replayed)
      line.field("of", progress.of)
    }
    return line.finish()
  }

  func row(_ parameters: InspectParameters) throws -> [UInt8] {
    guard let table = parameters["table"], let id = parameters["id"] else {
      throw InspectParameters.failure("a row is named by table and id", "the query")
    }
    return try browser.row(id, of: table)
  }

  func fields(_ parameters: InspectParameters) throws -> [UInt8] {
    guard let table = parameters["table"] else {
      throw InspectParameters.failure("no table is named", "table")
    }
    return try browser.fields(of: table)
  }

  /// The time axis of `logreplay count`.
  func counts(_ parameters: InspectParameters) throws -> [UInt8] {
    var words: [String] = []
    if let from = parameters["from"] { words.append(from) }
    if let to = parameters["to"] { words.append(to) }
    for (name, option) in [
      ("table", "--table"), ("by", "--by"), ("every", "--every"), ("sum", "--sum"), ("where", "--where"),
    ] {
      if let value = parameters[name] { words.append("\(option)=\(value)") }
    }
    return try browser.counts(words)
  }
}
