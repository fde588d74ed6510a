// Reads a range of the log, forward or backward, and prints the events that pass; may follow new appends.

package import LogreplayShell
package import StrataBase
package import StrataEvents
internal import StrataLog

/// The range of events that a run reads, and when it ends.
package struct EventRange {
  /// The run begins after this sequence.
  package var after: UInt64 = 0
  /// The last sequence of the run; nil for the head at the start of the run, or for no end if the run follows.
  package var through: UInt64?
  /// The own times of the appends whose events are printed: appends in between may have others.
  package var since: Int64?
  package var until: Int64?
  /// The most events to print.
  package var countMax: Int?
  /// How many of the last events that pass are printed; nil for all.
  package var last: Int?
  package var isReversed = false
  /// Whether the run continues with new appends.
  package var follows = false
  /// The time at which the run gives up.
  package var deadline: MonotonicTime?
  package var cursorFile: CursorFile?
  /// Whether its beginning or its end depends on where the log ends.
  package var dependsOnEnd = false

  package init(
    after: UInt64 = 0, through: UInt64? = nil, since: Int64? = nil, until: Int64? = nil, countMax: Int? = nil,
    last: Int? = nil, isReversed: Bool = false, follows: Bool = false, deadline: MonotonicTime? = nil,
    cursorFile: CursorFile? = nil, dependsOnEnd: Bool = false
  ) {
    self.after = after
    self.through = through
    self.since = since
    self.until = until
    self.countMax = countMax
    self.last = last
    self.isReversed = isReversed
    self.follows = follows
    self.deadline = deadline
    self.cursorFile = cursorFile
    self.dependsOnEnd = dependsOnEnd
  }

  /// Whether the own time of an event's append is one of those to print.
  package func hasTime(of event: RecordedEvent) -> Bool {
    let time = event.time.nanoseconds
    return time >= since ?? .min && time <= until ?? .max
  }
}

/// One pass over a range. Blocks; belongs to one thread.
package final class EventRun {
  private let opened: OpenedStore
  private let range: EventRange
  private let filter: EventFilter
  private let wait: AppendWait
  private var printer: EventPrinter
  private var output = OutputWriter()
  private var printed = 0
  private var scratch: [UInt8] = []
  private var scratchJSON = EventJSON()
  /// The position after the last event that was read, if the cursor file has to be written.
  private var position: LogPosition?

  private var log: Log { opened.log }
  private var isFull: Bool { range.countMax.map { printed >= $0 } ?? false }

  package init(_ opened: OpenedStore, _ range: EventRange, filter: EventFilter, output: OutputOptions) {
    self.opened = opened
    self.range = range
    self.filter = filter
    wait = AppendWait(opened: opened, deadline: range.deadline)
    printer = EventPrinter(output, isEndless: range.follows)
  }

  /// Prints the events and returns at the end of the range. Events printed before an error are written out.
  package func run() throws {
    printer.begin(to: &output.bytes)
    do {
      if range.isReversed {
        try runBackward(through: range.through ?? log.mark.sequence, limit: range.last ?? .max) {
          event, append in
          try print(event, append)
        }
      } else {
        try runForward()
      }
    } catch let error where !(error is BrokenPipe) {
      printer.end(to: &output.bytes)
      try flush()
      throw error
    }
    printer.end(to: &output.bytes)
    try flush()
    if range.dependsOnEnd || isOfEnd { try opened.reportEnd() }
    // An empty request, and events that may still arrive, do not indicate a mistyped name.
    if printed == 0, !range.follows, range.countMax != 0, range.last != 0 {
      UnknownNames.report(filter, opened)
    }
  }

  /// Whether the run reached the visible end, or counted from there.
  private var isOfEnd: Bool {
    range.through ?? .max >= log.mark.sequence && (!isFull || range.isReversed || range.last != nil)
  }

  // MARK: Forward

  private func runForward() throws {
    let limit = range.through ?? (range.follows ? UInt64.max : log.mark.sequence)
    var after = range.after
    if let last = range.last {
      let end = min(limit, log.mark.sequence)
      if filter.isEmpty, range.since == nil, range.until == nil {
        after = max(after, end - min(end, UInt64(last)))
      } else {
        try printLast(last, through: end)
        after = max(after, end)
      }
    }
    try startCursor(at: after)
    var cursor = log.cursor(after: after)
    while true {
      try drain(&cursor, limit: limit)
      guard range.follows, !isFull, cursor.nextSequence <= limit else { return }
      printer.settle(to: &output.bytes)
      try flush()
      try opened.throwDamage()
      try wait.wait(beyond: cursor.lastSequence, writing: output)
    }
  }

  /// Prints everything that is visible, up to `limit`.
  private func drain(_ cursor: inout LogCursor, limit: UInt64) throws {
    while !isFull, cursor.nextSequence <= limit {
      let after = cursor.lastSequence
      guard let block = try failing({ () throws(StoreError) in try cursor.next() }) else { return }
      try wait.checkTime()
      var last = after
      for append in try appends(in: block, after: after) {
        for event in append.events where event.sequence > after && event.sequence <= limit && !isFull {
          if passes(event, append) { try print(event, append) }
          last = event.sequence
        }
      }
      guard range.cursorFile != nil else { continue }
      position = LogPosition(sequence: last, chain: try chain(after: last, in: block))
      if output.bytes.count >= OutputWriter.pieceSize { try flush() }
    }
  }

  /// Creates a missing cursor file with the position where the run begins, so that the next run misses nothing.
  private func startCursor(at sequence: UInt64) throws {
    guard let file = range.cursorFile, try file.read() == nil,
      let chain = try failing({ () throws(StoreError) in try log.chain(after: sequence) })
    else { return }
    try file.write(LogPosition(sequence: sequence, chain: chain))
  }

  // MARK: Backward

  /// Calls the body with at most `limit` events that pass, newest first.
  private func runBackward(
    through: UInt64, limit: Int, _ body: (RecordedEvent, RecordedAppend) throws -> Void
  ) throws {
    var next = through
    var left = limit
    while next > range.after, left > 0, !isFull {
      try wait.checkTime()
      guard let block = try failing({ () throws(StoreError) in try log.block(holding: next) }) else { return }
      for append in try appends(in: block, after: range.after).reversed() {
        for event in append.events.reversed() where event.sequence > range.after && event.sequence <= next {
          guard left > 0, !isFull, passes(event, append) else { continue }
          left -= 1
          try body(event, append)
        }
      }
      next = block.header.firstSequence - 1
    }
  }

  private func printLast(_ count: Int, through: UInt64) throws {
    var found: [(RecordedEvent, RecordedAppend)] = []
    try runBackward(through: through, limit: count) { event, append in
      // Printing needs only the append's range, id and times.
      var head = append
      head.events = [append.events[0], append.events[append.events.count - 1]]
      found.append((event, head))
    }
    for (event, append) in found.reversed() where !isFull { try print(event, append) }
  }

  // MARK: Both

  private func passes(_ event: RecordedEvent, _ append: RecordedAppend) -> Bool {
    guard range.hasTime(of: event) else { return false }
    if filter.isEmpty { return true }
    return filter.passes(event) { passes in
      scratch.removeAll(keepingCapacity: true)
      scratchJSON.append(event, of: append, to: &scratch)
      return scratch.withUnsafeBytes { passes($0) }
    }
  }

  private func print(_ event: RecordedEvent, _ append: RecordedAppend) throws {
    printer.add(event, of: append, to: &output.bytes)
    printed += 1
    // With a cursor file, or when following, whole appends are written at once, so that a reader can continue after
    // them.
    if range.cursorFile == nil, !range.follows { try output.flushIfLarge() }
  }

  private func flush() throws {
    try output.flush()
    guard let position, let file = range.cursorFile else { return }
    try file.write(position)
    self.position = nil
  }

  private func appends(in block: DecodedBlock, after sequence: UInt64) throws -> [RecordedAppend] {
    try decoding(block) { () throws(ContentProblem) in try RecordedAppend.appends(in: block, after: sequence)
    }
  }

  private func chain(after sequence: UInt64, in block: DecodedBlock) throws -> UInt64 {
    try decoding(block) { () throws(ContentProblem) in try block.chain(after: sequence) }
  }

  private func decoding<Result>(
    _ block: DecodedBlock, _ body: () throws(ContentProblem) -> Result
  ) throws -> Result {
    do throws(ContentProblem) { return try body() } catch {
      throw opened.failure(
        error.storeError(of: block.header))
    }
  }

  private func failing<Result>(_ body: () throws(StoreError) -> Result) throws -> Result {
    do throws(StoreError) { return try body() } catch { throw opened.failure(error) }
  }
}
