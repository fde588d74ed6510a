// Reads event lines and appends their events: those of an export as they were, and those made by hand.

internal import StrataBase
internal import StrataDocuments
package import StrataLog

/// Imports the lines of one input into a store.
///
/// Lines are read one after another. The appends of an export wait until a line says what the chain after them is, so that
/// nothing is appended that is not what was exported. Appending is pipelined: `take` blocks only while too much waits for
/// the disk. If it throws, what was appended before stays, and importing the same lines again goes on after it.
///
/// How the appends of an export are appended is decided for each of them, in their order:
///
///     the store has one that ends there, with the same chain   known
///     all before it are known or exact, the store ends there   exact: with both of its times, and every event
///     otherwise, and from then on                              added: with an id, its own time, and without the events
///                                                              of Strata's own streams and those that were erased
package final class EventImporter: @unchecked Sendable {
  // Sendable, so that the blocking part can run on another thread while a task waits for it. One thread at a time.
  enum Phase {
    case beginning
    case byHand
    case export(EventExportHeader)
    case ended(EventExportHeader)
  }

  enum Relation { case known, exact, added }

  let store: EventStore
  /// The name by which appends without an id are known again; nil if they are not.
  let source: String?
  let run: AppendRun
  package internal(set) var report = ImportedEvents()
  /// The number of the last line that was taken, from 1.
  package private(set) var lineNumber: UInt64 = 0
  private(set) var phase = Phase.beginning
  var relation: Relation
  var history: KnownHistory
  /// The end of the store before the import.
  let headBefore: UInt64
  /// The number of open orders to erase, of those that were read.
  var openOrders = 0

  /// What was taken of a line that is not complete yet.
  private var partial: [UInt8] = []
  private var transcoder = CBORTranscoder()
  private var openAppend: ImportedAppend?
  /// Appends whose chain is not known yet, with the chain after each, and the bytes of their events.
  private var waiting: [(append: ImportedAppend, chain: UInt64)] = []
  private var waitingByteCount = 0
  /// The chain and the sequence of the last append that was read.
  private(set) var chain: UInt64 = 0
  private(set) var lastSequence: UInt64 = 0

  /// - Parameter source: a name for lines made by hand: an append without an id gets one from it and its line's number.
  package init(into store: EventStore, source: String?) throws(StoreError) {
    self.store = store
    self.source = source
    run = try store.log.run()
    let mark = store.log.mark
    headBefore = mark.sequence
    // The chain of a log that was trimmed does not begin at its first event.
    relation = mark.sequence == 0 ? .exact : mark.logBegin == 1 ? .known : .added
    history = KnownHistory(store.log)
    if let source, !(1...Self.sourceLengthMax).contains(source.utf8.count) {
      throw .outsideFormat(
        what: "the name of the source", actual: source.utf8.count, limit: Self.sourceLengthMax)
    }
  }

  /// The longest name of a source: an id has room for it, a sign and a line's number.
  package static let sourceLengthMax = FormatLimits.appendIDLengthMax - 21

  /// Takes the next bytes of the input, of any number of lines.
  package func take(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    var rest = bytes
    while let end = rest.firstLineFeed {
      let piece = UnsafeRawBufferPointer(rebasing: rest[..<end])
      rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
      if partial.isEmpty {
        try line(piece)
      } else {
        partial += piece
        try takePartial()
      }
    }
    partial += rest
    guard partial.count <= EventLineFormat.lineLengthMax else {
      throw failure(
        "line \(lineNumber + 1) has more than \(EventLineFormat.lineLengthMax) bytes",
        next: "check that it is a line of events")
    }
  }

  private func takePartial() throws(StoreError) {
    let whole = partial
    partial.removeAll(keepingCapacity: whole.count <= 1 << 20)
    try whole.lendBytes { bytes throws(StoreError) in try line(bytes) }
  }

  /// Ends the import: appends what was read, checks that it is complete, and carries out orders to erase.
  package func finish() throws(StoreError) -> ImportedEvents {
    // What follows the last whole line of an export that is cut off is no line.
    if !isExport || partial.starts(with: EventLineFormat.closing.utf8) {
      if !partial.isEmpty { try takePartial() }
    }
    switch phase {
    case .beginning: break
    case .byHand:
      if let append = openAppend {
        throw failure(
          "the append that begins on line \(append.line) lacks \(append.remaining) of its events: the input ends before",
          next: "import the whole input")
      }
    case .export:
      throw failure(
        "the export is cut off: it ends after line \(lineNumber) without its last line",
        next: "get the whole export, and import it; what was appended stays, and is not appended again")
    case .ended: break
    }
    try drain()
    try store.log.syncBuffered()
    if case .ended(let header) = phase, relation != .added, header.isFromBeginning { try finishSame() }
    return report
  }

  /// Waits for what was submitted, for a caller that gives up.
  package func abandon() { run.drain() }

  /// Adds up what was appended. Throws the error of the first append that failed.
  private func drain() throws(StoreError) {
    let progress = run.drain()
    report.appended = progress.appended
    report.known += progress.known
    if relation == .added { report.raised = progress.raised }
    if let first = progress.first, let last = progress.last { report.sequences = first...last }
    if let failure = progress.failure { throw failure.error }
  }

  /// The line of the first append that was refused; nil if none was.
  package var failedLine: UInt64? { run.progress.failure?.label }

  // MARK: Lines

  private func line(_ bytes: UnsafeRawBufferPointer) throws(StoreError) {
    lineNumber += 1
    guard !bytes.allSatisfy(\.isJSONSpace) else { return }
    do throws(EventLineProblem) {
      if EventLineFormat.isExport(bytes) || bytes.starts(with: EventLineFormat.closing.utf8) {
        guard bytes.count <= EventLineFormat.frameLengthMax else {
          throw refused("the line has more than \(EventLineFormat.frameLengthMax) bytes")
        }
      }
      switch phase {
      case .beginning:
        if EventLineFormat.isExport(bytes) {
          let header = try EventExportHeader(bytes)
          phase = .export(header)
          (chain, lastSequence) = (header.chain, header.after)
          if !header.isFromBeginning { relation = .added }
          return
        }
        phase = .byHand
        relation = .added
      case .byHand:
        guard !EventLineFormat.isExport(bytes), !bytes.starts(with: EventLineFormat.closing.utf8) else {
          throw EventLineProblem(column: 1, why: "an export begins or ends inside of the input")
        }
      case .export(let header):
        if bytes.starts(with: EventLineFormat.closing.utf8) {
          let end = try EventExportEnd(bytes)
          return try self.end(end, header)
        }
      case .ended: throw EventLineProblem(column: 1, why: "a line after the last line of the export")
      }
      try event(try EventLine(bytes, &transcoder))
    } catch { throw failure(error) }
  }

  private func event(_ event: borrowing EventLine) throws(EventLineProblem) {
    var append: ImportedAppend
    var last = lastSequence
    if let open = openAppend.take() {
      append = open
      last = open.last
      guard !event.beginsAppend else {
        throw refused(
          "an append begins here, but the one that begins on line \(append.line) has \(append.remaining) more"
        )
      }
      guard event.time == nil || event.time == append.time else {
        throw refused("the time is not that of the append, which begins on line \(append.line)")
      }
    } else {
      append = try begin(event)
    }
    try checkPlace(event, after: last)
    try checkNames(event)
    append.isChecked = relation == .added
    append.add(event)
    guard append.draft.byteCount <= FormatLimits.rawLengthMax else {
      throw refused(
        "the append that begins on line \(append.line) has more than \(FormatLimits.rawLengthMax) bytes")
    }
    guard append.remaining == 0 else {
      guard event.chain == nil || !isExport else { throw refused("a chain inside of an append") }
      openAppend = append
      return
    }
    report.appendsRead += 1
    report.eventsRead += UInt64(append.draft.eventCount)
    lastSequence = append.last
    guard isExport else { return try release(append, chain: 0) }
    chain = append.chain(after: chain)
    waiting.append((append, chain))
    waitingByteCount += append.draft.byteCount + 256
    if let written = event.chain {
      try releaseWaiting(chain: written)
    } else if waitingByteCount > EventLineFormat.uncheckedLengthMax {
      throw refused("no line since line \(waiting[0].append.line) says what the chain is")
    }
  }

  private func begin(_ event: borrowing EventLine) throws(EventLineProblem) -> ImportedAppend {
    if case .export(let header) = phase {
      guard event.append != nil else {
        throw refused("an append is missing its first line: \"append\" is not there")
      }
      guard event.time != nil else { throw refused("\"time\" is missing") }
      return ImportedAppend(
        event, line: lineNumber, sequence: event.sequence ?? 0, hasGaps: header.isSelection)
    }
    return ImportedAppend(event, line: lineNumber, sequence: lastSequence &+ 1, hasGaps: false)
  }

  /// Checks that a line of an export is the next one.
  private func checkPlace(_ event: borrowing EventLine, after last: UInt64) throws(EventLineProblem) {
    guard case .export(let header) = phase else { return }
    guard let sequence = event.sequence, event.revision != nil else {
      throw refused("\"sequence\" or \"revision\" is missing")
    }
    let isNext = header.isSelection ? sequence > last : sequence == last + 1
    guard isNext, sequence <= header.through else {
      throw refused("sequence \(sequence) follows \(last): lines are missing, repeated or in another order")
    }
  }

  private var isExport: Bool { if case .export = phase { true } else { false } }

  /// Checks the chain after the appends that wait for it, and appends them.
  private func releaseWaiting(chain written: UInt64) throws(EventLineProblem) {
    guard written == chain else {
      let first = waiting.first?.append.line ?? lineNumber
      throw refused(
        "lines \(first) to \(lineNumber) are not those that were exported: their chain is another one")
    }
    for (append, chain) in waiting { try release(append, chain: chain) }
    waiting.removeAll(keepingCapacity: true)
    waitingByteCount = 0
  }

  private func end(_ end: EventExportEnd, _ header: EventExportHeader) throws(EventLineProblem) {
    guard openAppend == nil, end.events == report.eventsRead, end.appends == report.appendsRead,
      header.isSelection || lastSequence == header.through
    else {
      throw refused(
        "the export had \(end.events) events in \(end.appends) appends, and \(report.eventsRead) in \(report.appendsRead) are here: lines are missing"
      )
    }
    try releaseWaiting(chain: end.chain)
    phase = .ended(header)
  }

  // MARK: Failures

  /// A problem of the current line.
  func refused(_ why: String) -> EventLineProblem { EventLineProblem(column: 1, why: why) }

  private func failure(_ problem: EventLineProblem) -> StoreError {
    if let error = submitError {
      submitError = nil
      return error
    }
    var next =
      "correct the line, and import the lines again; what was appended stays, and is not appended again"
    if isExport {
      next =
        "get the export again; to import lines that were changed, remove its first line and its last, and \"append\" "
        + "from lines of which others are missing"
    }
    return .invalid(what: "line \(lineNumber), column \(problem.column): \(problem.why)", next: next)
  }

  private func failure(_ what: String, next: String) -> StoreError { .invalid(what: what, next: next) }

  /// The error of the store that is thrown in place of the next problem.
  var submitError: StoreError?
}
