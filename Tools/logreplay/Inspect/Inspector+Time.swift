// Points, and how the events are spread over time.

internal import LogreplayShell
internal import StrataBase
internal import StrataEvents
internal import StrataLog

extension Inspector {
  /// The point that `at` names.
  func point(_ parameters: InspectParameters) throws -> [UInt8] {
    var line = JSONLine.document()
    line.raw("point", json(try point(parameters, "at")))
    return line.finish()
  }

  var head: [UInt8] {
    var line = JSONLine()
    let mark = log.mark
    line.field("sequence", mark.sequence)
    let append = mark.sequence < mark.logBegin ? nil : try? log.append(holding: mark.sequence)
    line.field("time", append.map { Timestamp(nanoseconds: $0.ownTime).description })
    line.field("appends", mark.appends)
    return line.finish()
  }

  /// How many events there are in each of some equal spans of time, from the times of the index: a search each, O(log n),
  /// without a block being decoded.
  ///
  /// `{"first":{…},"last":{…},"columns":[{"time":…,"sequence":…},…]}`: the time at which each column ends, and the last
  /// sequence that is not later. `after` and `through` are the range; the first column begins with the event after `after`.
  func histogram(_ parameters: InspectParameters) throws -> [UInt8] {
    try failing { () throws(StoreError) in try log.refresh() }
    let mark = log.mark
    let begin = max(mark.logBegin, try parameters.sequence("after").map { $0 &+ 1 } ?? 0)
    let end = min(mark.sequence, try parameters.sequence("through") ?? .max)
    let count = try parameters.number("columns", in: 1...InspectLimits.columnCountMax, default: 200)
    var line = JSONLine.document()
    line.raw("head", head)
    line.field("begin", mark.logBegin - 1)
    guard begin <= end,
      let first = try failing({ () throws(StoreError) in try log.append(holding: begin) }),
      let last = try failing({ () throws(StoreError) in try log.append(holding: end) })
    else {
      line.array("columns", [])
      return line.finish()
    }
    // Where clocks ran backward, the end may have an earlier time than the begin.
    let (low, high) = (min(first.ownTime, last.ownTime), max(first.ownTime, last.ownTime))
    line.field("after", begin - 1)
    line.field("time", Timestamp(nanoseconds: low).description)
    let span = Int128(high) - Int128(low)
    var columns: [[UInt8]] = []
    var before = begin - 1
    // All at one moment is one column.
    for index in 1...(span == 0 ? 1 : count) {
      let time = Int64(clamping: Int128(low) + span * Int128(index) / Int128(count))
      var sequence = end
      if index < count, span > 0 {
        var search = TimeSearch(log, notAfter: time)
        let found = try failing { () throws(StoreError) in try search.last() }
        sequence = min(end, max(before, found?.last ?? 0))
      }
      var column = JSONLine()
      column.field("time", Timestamp(nanoseconds: time).description)
      column.field("sequence", sequence)
      columns.append(column.finish())
      before = sequence
    }
    line.array("columns", columns)
    return line.finish()
  }

  /// How many events of each type there are after `after`, up to `through`: of many, those that were read.
  func types(_ parameters: InspectParameters) throws -> [UInt8] {
    let after = max(log.mark.logBegin - 1, try parameters.sequence("after") ?? 0)
    let through = min(log.mark.sequence, try parameters.sequence("through") ?? .max)
    let last = min(through, after.addingSaturated(InspectLimits.readCountMax))
    var counts: [[UInt8]: UInt64] = [:]
    var reached = after
    var cursor = log.cursor(after: after)
    while reached < last, let block = try failing({ () throws(StoreError) in try cursor.next() }) {
      do throws(ContentProblem) {
        try block.forEachEvent { event, _, sequence throws(ContentProblem) in
          guard sequence > after, sequence <= last else { return }
          counts[Array(event.type), default: 0] += 1
        }
      } catch { throw opened.failure(error.storeError(of: block.header)) }
      reached = min(last, block.header.nextSequence - 1)
    }
    let sorted = counts.sorted { a, b in
      a.value != b.value ? a.value > b.value : a.key.lexicographicallyPrecedes(b.key)
    }
    var line = JSONLine.document()
    line.field("after", after)
    line.field("through", reached)
    line.field("whole", reached >= through)
    line.array(
      "types",
      sorted.prefix(50).map { type, count in
        var line = JSONLine()
        line.field("type", String(decoding: type, as: UTF8.self))
        line.field("events", count)
        return line.finish()
      })
    line.field("typeCount", counts.count)
    return line.finish()
  }
}
