// The change feed: whole appends from any position, old and new ones by one code path.

internal import StrataBase
public import StrataLog

/// The point at which a feed ends.
public enum FeedEnd: Sendable, Hashable {
  /// The feed does not end: it waits for new appends.
  case never
  /// The feed ends once it has delivered everything that was in the log at its first read.
  case caughtUp
}

/// A sequence of appends in order, each once, from any position in the log.
///
/// A feed pulls from its position: nothing is queued for it, however slow it is. Each iteration has a position of its
/// own. It returns nil when its task is cancelled or the store is closed, and throws if the log cannot continue. A feed
/// that begins inside an append begins with that whole append. An append is delivered with those of its events that the
/// feed's selection contains, and not at all if there are none.
public struct ChangeFeed: AsyncSequence, Sendable {
  public typealias Element = RecordedAppend
  public typealias Failure = StoreError

  let store: EventStore
  let selection: EventSelection
  let start: LogPoint
  let end: FeedEnd
  let isDurableOnly: Bool

  public func makeAsyncIterator() -> Iterator { Iterator(position: FeedPosition(self)) }

  public struct Iterator: AsyncIteratorProtocol {
    let position: FeedPosition

    public mutating func next() async throws(StoreError) -> RecordedAppend? {
      try await position.next()
    }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(StoreError) -> RecordedAppend? {
      try await position.next()
    }

    /// Returns the next appends, all from one block of the log, in one array. This suspends less often than `next()`.
    public mutating func nextBatch() async throws(StoreError) -> [RecordedAppend]? {
      try await position.nextBatch()
    }
  }
}

extension EventStore {
  /// Returns a feed of the log's appends from a position on.
  ///
  /// - Parameters:
  ///   - selection: which events to deliver. By default, every event of the application: those of streams whose names
  ///     begin with `$` are left out.
  ///   - isDurableOnly: delivers only what is synced to disk. This makes a difference if the store is written as
  ///     `buffered`.
  public func feed(
    of selection: EventSelection = .all, from start: LogPoint = .beginning, until end: FeedEnd = .never,
    durableOnly isDurableOnly: Bool = false
  ) -> ChangeFeed {
    ChangeFeed(store: self, selection: selection, start: start, end: end, isDurableOnly: isDurableOnly)
  }
}

/// The position of one iteration in the log. Like any iterator, it is used by one task at a time.
final class FeedPosition: @unchecked Sendable {
  // Sendable, so that the blocking part can run on an I/O thread while the iterating task waits.
  private let store: EventStore
  private let end: FeedEnd
  private let isDurableOnly: Bool
  private let selection: EventSelection
  private var start: LogPoint?
  private var cursor: FeedCursor
  /// Whether the cursor is known to begin with a whole append: see `beginWithWholeAppend`.
  private var isAtAppend = false
  /// The last sequence delivered.
  private var delivered: UInt64 = 0
  private var limit: UInt64 = .max
  private var buffer: [RecordedAppend] = []
  private var nextIndex = 0
  private var isEnded = false
  /// Further appends that `nextBatch(gathering:)` has pulled, and the error that ended its pull.
  private var gathered: [RecordedAppend] = []
  private var heldFailure: StoreError?

  init(_ feed: ChangeFeed) {
    let store = feed.store
    self.store = store
    selection = feed.selection
    start = feed.start
    end = feed.end
    isDurableOnly = feed.isDurableOnly
    // Read the head now, so that the feed delivers everything that is appended after this call.
    delivered =
      switch feed.start {
      case .beginning: 0
      case .head: store.log.mark.sequence
      case .sequence(let sequence): sequence
      case .position(let position): position.sequence
      // Found at the first pull, since that reads the disk.
      case .time: 0
      }
    cursor = FeedCursor(store.log, selection, after: delivered, isDurableOnly: isDurableOnly)
  }

  func next() async throws(StoreError) -> RecordedAppend? {
    if nextIndex >= buffer.count {
      guard let batch = try await nextBatch() else { return nil }
      buffer = batch
      nextIndex = 0
    }
    defer { nextIndex += 1 }
    return buffer[nextIndex]
  }

  func nextBatch() async throws(StoreError) -> [RecordedAppend]? {
    if nextIndex < buffer.count {
      defer { nextIndex = buffer.count }
      return Array(buffer[nextIndex...])
    }
    var hasWaited = false
    while !isEnded {
      if Task.isCancelled { return nil }
      // Read the end before pulling, so that everything appended before the end is delivered before it is reported.
      let ending = store.log.tail.end
      do throws(StoreError) {
        let batch = try await store.lookingUp { [self] builds throws(StoreError) in try pull(builds: builds) }
        if let batch { return batch }
      } catch {
        if error == .closed { return nil }
        guard case .damaged = error else { throw error }
        throw await reason(for: error)
      }
      if end == .caughtUp { break }
      if let ending {
        if ending == .closed { return nil }
        // An error that stopped this reader from following the log earlier may be over: follow it again once.
        if hasWaited || !ending.isPassing { throw ending }
      }
      try store.log.follow()
      await store.log.tail.wait(beyond: delivered, durably: isDurableOnly)
      hasWaited = true
    }
    return nil
  }

  /// Returns the next appends, at least those of one block. If these are fewer than `count`, those of further blocks are
  /// added as long as the log has them: only the first one is waited for. O(appends) memory, and no further block is read
  /// past `gatheredSizeMax`.
  func nextBatch(gathering count: Int) async throws(StoreError) -> [RecordedAppend]? {
    guard let first = try await nextBatch() else { return nil }
    guard first.count < count else { return first }
    gathered = first
    do throws(StoreError) {
      try await store.lookingUp { [self] builds throws(StoreError) in try gather(count, builds: builds) }
    } catch {
      // Thrown by the next pull, once these were handled.
      heldFailure = error
    }
    defer { gathered = [] }
    return gathered
  }

  /// How many bytes of payloads are gathered before no further block is read.
  private static let gatheredSizeMax = 4 << 20

  /// Adds further blocks to those that were gathered. Blocks.
  private func gather(_ count: Int, builds: Bool) throws(StoreError) {
    var size = 0
    while gathered.count < count, size < Self.gatheredSizeMax, let more = try pull(builds: builds) {
      gathered += more
      for append in more { for event in append.events { size += event.payload.bytes.count } }
    }
  }

  /// Returns the error with which a feed stops at damage.
  ///
  /// If a writer crashed and lost what it had only buffered, the next writer may have written other blocks at the
  /// offset where this feed reads on. In that case the log has diverged, and is not damaged.
  private func reason(for error: StoreError) async -> StoreError {
    guard store.log.isReadOnly else { return error }
    let result = await store.machine.reads.result { [store] () throws(StoreError) in try store.log.refresh() }
    if case .failure(let newer) = result, newer.isDiverged { return newer }
    if let end = store.log.tail.end, end.isDiverged { return end }
    return error
  }

  /// Returns the next block's appends, or nil at the end. Blocks.
  private func pull(builds: Bool) throws(StoreError) -> [RecordedAppend]? {
    if let failure = heldFailure {
      heldFailure = nil
      throw failure
    }
    try begin(builds: builds)
    try beginWithWholeAppend()
    while delivered < limit {
      let after = delivered
      guard let block = try cursor.next(builds: builds) else {
        // What an index has left out counts as delivered.
        delivered = max(delivered, cursor.lastSequence)
        return nil
      }
      delivered = block.header.nextSequence - 1
      let batch: [RecordedAppend]
      do throws(ContentProblem) {
        batch = try RecordedAppend.appends(in: block, after: after, selecting: selection)
      } catch {
        throw error.storeError(of: block.header, through: delivered)
      }
      if !batch.isEmpty { return batch }
    }
    return nil
  }

  /// A feed that begins inside an append delivers all of it, and the index finds nothing of it if only events before
  /// the start are selected: so it is asked from the append's beginning on, as soon as the log has the append.
  private func beginWithWholeAppend() throws(StoreError) {
    guard !isAtAppend, selection.indexedNames != nil, store.log.mark.sequence > delivered else { return }
    if let append = try store.log.append(holding: delivered + 1), append.first <= delivered {
      cursor = FeedCursor(store.log, selection, after: append.first - 1, isDurableOnly: isDurableOnly)
    }
    isAtAppend = true
  }

  /// Before the first read: sets the limit of a feed that ends, and checks a position that was read before.
  private func begin(builds: Bool) throws(StoreError) {
    guard let start else { return }
    // The position may have been read by another reader, past the end that this reader has seen so far.
    let isBehind =
      if case .position(let position) = start { position.sequence > store.log.mark.sequence } else { false }
    if isBehind || end == .caughtUp {
      try store.log.refresh()
    }
    if case .time(let time) = start {
      try store.log.refresh()
      delivered = try store.positionBlocking(at: time, builds: builds)
      cursor = FeedCursor(store.log, selection, after: delivered, isDurableOnly: isDurableOnly)
    }
    let mark = store.log.mark
    if end == .caughtUp { limit = isDurableOnly ? mark.durable.sequence : mark.visible.sequence }
    if case .beginning = start, mark.logBegin > 1 {
      delivered = mark.logBegin - 1
      cursor = FeedCursor(store.log, selection, after: delivered, isDurableOnly: isDurableOnly)
    }
    if delivered < mark.logBegin - 1 { throw .trimmed(firstAvailable: mark.logBegin) }
    if case .position(let position) = start {
      let chain = try store.log.chain(after: position.sequence)
      guard chain == position.chain else { throw .diverged(sequence: position.sequence) }
    }
    self.start = nil
  }
}
