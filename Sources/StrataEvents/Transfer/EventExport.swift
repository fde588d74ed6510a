// The events of a store as lines of JSON, in the order of the log: an asynchronous sequence that pulls.

internal import StrataBase
package import StrataLog

/// The events of a range of the log as lines, in pieces: each is whole lines, of about one block of the log.
///
/// The form is described by <doc:EventLines>. The sequence pulls: the log is read when a piece is asked for, on a thread
/// of the store, and nothing is kept for a consumer that is slow. It ends with a last line that says how many events
/// there were. If its task is cancelled it throws
/// `CancellationError`, so that a part is not taken for the whole.
///
/// ```swift
/// func copy(_ store: EventStore, to other: EventStore) async throws -> ImportedEvents {
///   try await other.importEvents(from: store.export())
/// }
/// ```
public struct EventExport: AsyncSequence, Sendable {
  public typealias Element = [UInt8]

  let store: EventStore
  let selection: ExportSelection?
  let start: LogPoint
  let end: LogPoint

  public func makeAsyncIterator() -> Iterator {
    Iterator(reader: EventExportReader(store, selection, from: start, to: end))
  }

  /// The position of one reader of the lines.
  public struct Iterator: AsyncIteratorProtocol {
    let reader: EventExportReader

    /// Returns the next lines; nil after the last one.
    public mutating func next() async throws -> [UInt8]? {
      try Task.checkCancellation()
      let reader = reader
      let result = await reader.store.machine.reads.result { () throws(StoreError) in try reader.next() }
      return try result.get()
    }
  }
}

extension EventStore {
  /// Returns the events of a range as lines of JSON, from which `importEvents` makes the same events again.
  ///
  /// - Parameters:
  ///   - selection: which events are exported. Nil means all events of the range, also those of Strata's own streams:
  ///     only such an export, from the beginning of the log, gives an empty store the same chain.
  ///   - start: the point after which the export begins.
  ///   - end: the point at which it ends. `head` is the end of the log when the first piece is read. Both must be between
  ///     two appends.
  /// - Throws: while it is read: `damaged` where the log is, and `position` or `invalid` for points that the log does not
  ///   have, or that are inside of an append.
  public func export(
    _ selection: EventSelection? = nil, from start: LogPoint = .beginning, to end: LogPoint = .head
  ) -> EventExport {
    EventExport(store: self, selection: selection.map { ExportSelection($0) }, start: start, end: end)
  }
}

/// Reads the log and writes its lines. Used by one thread at a time.
package final class EventExportReader: @unchecked Sendable {
  // Sendable, so that the blocking part can run on another thread while a task waits for it.
  let store: EventStore
  private let selection: ExportSelection?
  private let start: LogPoint
  private let end: LogPoint
  private var cursor: FeedCursor?
  private var writer: EventLineWriter
  private var after: UInt64 = 0
  /// The last sequence of the export.
  package private(set) var through: UInt64 = 0
  /// The last sequence that was looked at.
  package private(set) var position: UInt64 = 0
  private var isEnded = false

  package init(
    _ store: EventStore, _ selection: ExportSelection? = nil, from start: LogPoint = .beginning,
    to end: LogPoint = .head
  ) {
    self.store = store
    self.selection = selection
    self.start = start
    self.end = end
    writer = EventLineWriter(selection, chain: 0)
  }

  package var eventCount: UInt64 { writer.eventCount }
  package var appendCount: UInt64 { writer.appendCount }

  /// The next lines as an array, nil after the last one. Blocks.
  package func next() throws(StoreError) -> [UInt8]? {
    guard try fill() else { return nil }
    defer { writer.text.removeAll() }
    return Array(writer.text.bytes)
  }

  /// Lends the next lines, which are valid in the body. False after the last one. Blocks.
  package func lendNext(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
    guard try fill() else { return false }
    defer { writer.text.removeAll() }
    try body(writer.text.bytes)
    return true
  }

  /// Writes lines until there are some. False after the last one.
  private func fill() throws(StoreError) -> Bool {
    guard !isEnded else { return false }
    if cursor == nil { try begin() }
    while position < through, let block = try cursor?.next(builds: true) {
      position = min(block.header.nextSequence &- 1, through)
      do throws(ContentProblem) { try writer.write(block, after: after, through: through) } catch {
        throw error.storeError(of: block.header)
      }
      if writer.text.count >= Self.pieceSize { return true }
    }
    // An index says that nothing is left; the whole log has no end before the range's.
    assert(position == through || selection != nil, "an export ends at the end of its range")
    position = through
    writer.end()
    isEnded = true
    return true
  }

  /// Lines are lent in pieces of about this size.
  private static let pieceSize = 256 << 10

  private func begin() throws(StoreError) {
    after = try store.sequenceBlocking(of: start)
    through = try store.sequenceBlocking(of: end)
    guard after <= through else {
      throw .invalid(what: "the export would begin after \(after), and end before that, at \(through)")
    }
    for sequence in [after, through] { try checkBoundary(sequence) }
    position = after
    guard let chain = try store.log.chain(after: after) else {
      throw .position(.beyondEnd(sequence: after, last: store.log.mark.sequence))
    }
    writer = EventLineWriter(selection, chain: chain)
    writer.begin(store: store.id, after: after, through: through)
    cursor = FeedCursor(
      store.log, selection?.indexed ?? .all.includingInternal(), after: after, isDurableOnly: false)
  }

  /// Throws if a sequence is inside of an append.
  private func checkBoundary(_ sequence: UInt64) throws(StoreError) {
    guard sequence >= store.log.mark.logBegin, let append = try store.log.append(holding: sequence),
      append.last != sequence
    else { return }
    throw .invalid(
      what:
        "sequence \(sequence) is inside the append \(append.first)…\(append.last), which is exported as a whole",
      next: "give \(append.first - 1) or \(append.last)")
  }
}
