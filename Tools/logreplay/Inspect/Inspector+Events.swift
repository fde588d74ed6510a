// The log: its events, searched from the newest or from a place, and one of them in full.

internal import ArgumentParser
internal import LogreplayEvents
internal import LogreplayShell
internal import LogreplayTables
internal import StrataBase
internal import StrataDocuments
internal import StrataEvents
internal import StrataLog

extension Inspector {
  /// The events that pass the filters, the newest first, from `before` on.
  ///
  /// `{"events":[…],"next":N}`: `next` is where to go on, and missing at the begin of the log. At most some hundred thousand
  /// events are read for one answer, so it may hold fewer events than were asked for, or none.
  func events(_ parameters: InspectParameters) throws -> [UInt8] {
    try failing { () throws(StoreError) in try log.refresh() }
    let limit = InspectLimits.eventCountMax
    let count = try parameters.number("count", in: 1...limit, default: 100)
    let filter = try filter(parameters)
    var next = min(log.mark.sequence, try parameters.sequence("before").map { $0 &- 1 } ?? .max)
    let last = next - min(next, InspectLimits.readCountMax)
    var found: [[UInt8]] = []
    var json = EventJSON()
    while next >= log.mark.logBegin, next > last, found.count < count {
      guard let block = try failing({ () throws(StoreError) in try log.block(holding: next) }) else { break }
      let appends: [RecordedAppend]
      do throws(ContentProblem) {
        appends = try RecordedAppend.appends(in: block, after: block.header.firstSequence - 1)
      } catch { throw opened.failure(error.storeError(of: block.header)) }
      var reached = block.header.firstSequence - 1
      events: for append in appends.reversed() {
        for event in append.events.reversed() where event.sequence <= next && filter.passes(event, of: append)
        {
          found.append(Self.json(event, of: append, &json))
          if found.count == count {
            reached = event.sequence - 1
            break events
          }
        }
      }
      next = reached
    }
    var line = JSONLine.document()
    line.array("events", found)
    if next >= log.mark.logBegin { line.field("next", next + 1) }
    line.raw("head", head)
    return line.finish()
  }

  private func filter(_ parameters: InspectParameters) throws -> EventFilter {
    var words =
      parameters.all("stream").map { "--stream=\($0)" } + parameters.all("type").map { "--type=\($0)" }
    words += parameters.all("meta").map { "--meta=\($0)" }
    if let category = parameters["category"] { words.append("--stream=\(category)/*") }
    if let grep = parameters["grep"] { words.append("--grep=\(grep)") }
    let options: EventFilterOptions
    do { options = try EventFilterOptions.parse(words) } catch {
      throw InspectParameters.failure(EventFilterOptions.message(for: error), "the filter")
    }
    var filter = try EventFilter(options)
    if let condition = parameters["where"] { filter.condition = try browser.condition(condition) }
    return filter
  }

  /// The most bytes of a payload that a line of the log has.
  private static let payloadSizeMax = 600

  /// The object that `log` prints, without a payload that is long: `beginning` is the begin of its JSON then.
  private static func json(_ event: RecordedEvent, of append: RecordedAppend, _ json: inout EventJSON)
    -> [UInt8]
  {
    var bytes: [UInt8] = []
    json.append(event, of: append, to: &bytes)
    guard bytes.count > 2 * payloadSizeMax else { return bytes }
    var line = JSONLine.document()
    line.field("sequence", event.sequence)
    line.raw("append", "[\(append.sequences.lowerBound),\(append.sequences.upperBound)]".utf8)
    line.field("time", append.time.description)
    line.field("stream", event.stream.text)
    line.field("version", event.revision)
    line.field("type", event.type)
    line.field("id", append.id)
    let text = (try? event.document().json()) ?? ""
    line.field("beginning", String(decoding: text.utf8.prefix(payloadSizeMax), as: UTF8.self))
    return line.finish()
  }

  /// One event in full, as `show` prints it.
  func event(_ parameters: InspectParameters) throws -> [UInt8] {
    let point = try point(parameters, "at")
    guard point.sequence >= log.mark.logBegin,
      let append = try failing({ () throws(StoreError) in
        try opened.store.appendBlocking(holding: point.sequence)
      }), let event = append.events.first(where: { $0.sequence == point.sequence })
    else {
      throw CommandFailure(
        ExitStatus.notFound, "there is no event at seq \(point.sequence)", at: opened.path,
        next: "choose another sequence")
    }
    var bytes: [UInt8] = []
    var json = EventJSON()
    json.append(event, of: append, isPartial: point.inside != nil, to: &bytes)
    return bytes
  }
}
