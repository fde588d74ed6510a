// The change feed: whole appends, from any place, old and new by one path.

internal import StrataBase
public import StrataLog

/// Where a feed begins.
public enum FeedStart: Sendable, Hashable {
  /// With the first append of the log.
  case beginning
  /// With the next append from now on. Of a store that is open for reading: behind the end that it last saw, which
  /// whoever reads at its head, waits or asks for a feed that ends brings up to date.
  case head
  /// Behind a sequence. It may lie in the future: nothing older is ever delivered.
  case after(UInt64)
  /// Behind a position that was read before. Where the log's events up to it are not the ones that were read,
  /// the feed throws `position`, diverged, instead of skipping anything.
  case position(LogPosition)
}

/// Which end a feed goes up to.
public enum FeedEnd: Sendable, Hashable {
  /// Waits for new appends, forever.
  case never
  /// Ends once it has delivered what was there when it was asked.
  case caughtUp
}

/// Whole appends in order, each once, from any place in the log.
///
/// A feed is a position that pulls: nothing is queued for it, however slow it is, and each iteration is a
/// position of its own. It ends with nil when its task is cancelled or the store is closed, and throws where
/// the log cannot go on. A feed that begins inside an append begins with that append, whole.
public struct ChangeFeed: AsyncSequence, Sendable {
  public typealias Element = RecordedAppend
  public typealias Failure = StoreError

  let store: EventStore
  let start: FeedStart
  let end: FeedEnd
  let isDurableOnly: Bool

  public func makeAsyncIterator() -> Iterator {
    Iterator(position: FeedPosition(store: store, start: start, end: end, isDurableOnly: isDurableOnly))
  }

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

    /// The appends that one block of the log holds, as one array: fewer suspensions for who takes many.
    public mutating func nextBatch() async throws(StoreError) -> [RecordedAppend]? {
      try await position.nextBatch()
    }
  }
}

extension EventStore {
  /// The appends of the log from a place on.
  ///
  /// - Parameters:
  ///   - isDurableOnly: stops at what is on disk where the store is written as `buffered`.
  public func feed(
    from start: FeedStart = .beginning, until end: FeedEnd = .never, durableOnly isDurableOnly: Bool = false
  ) -> ChangeFeed {
    ChangeFeed(store: self, start: start, end: end, isDurableOnly: isDurableOnly)
  }
}

/// One iteration's place in the log. Used by one task at a time, as iterators are.
final class FeedPosition: @unchecked Sendable {
  // Sendable so that the blocking part can run on an I/O thread while the one task that iterates waits.
  private let store: EventStore
  private let end: FeedEnd
  private let isDurableOnly: Bool
  private var start: FeedStart?
  private var cursor: LogCursor
  /// The last sequence delivered.
  private var delivered: UInt64 = 0
  private var limit: UInt64 = .max
  private var buffer: [RecordedAppend] = []
  private var place = 0
  private var isEnded = false

  init(store: EventStore, start: FeedStart, end: FeedEnd, isDurableOnly: Bool) {
    self.store = store
    self.start = start
    self.end = end
    self.isDurableOnly = isDurableOnly
    // The head is taken now, so that what is appended from here on is seen.
    delivered =
      switch start {
      case .beginning: 0
      case .head: store.log.mark.sequence
      case .after(let sequence): sequence
      case .position(let position): position.sequence
      }
    cursor = store.log.cursor(after: delivered, isDurableOnly: isDurableOnly)
  }

  func next() async throws(StoreError) -> RecordedAppend? {
    if place >= buffer.count {
      guard let batch = try await nextBatch() else { return nil }
      buffer = batch
      place = 0
    }
    defer { place += 1 }
    return buffer[place]
  }

  func nextBatch() async throws(StoreError) -> [RecordedAppend]? {
    if place < buffer.count {
      defer { place = buffer.count }
      return Array(buffer[place...])
    }
    var hasWaited = false
    while !isEnded {
      if Task.isCancelled { return nil }
      // Before the look, so that what was appended before the end is delivered before the end is told.
      let ending = store.log.tail.end
      let result = await store.machine.reads.result { [self] () throws(StoreError) in try pull() }
      do throws(StoreError) {
        if let batch = try result.get() { return batch }
      } catch {
        if error == .closed { return nil }
        guard case .damaged = error else { throw error }
        throw await reason(for: error)
      }
      if end == .caughtUp { break }
      if let ending {
        if ending == .closed { return nil }
        // What ended the following of a reader before this was asked may have passed, and it begins again.
        if hasWaited || !ending.isPassing { throw ending }
      }
      try store.log.follow()
      await store.log.tail.wait(beyond: delivered, durably: isDurableOnly)
      hasWaited = true
    }
    return nil
  }

  /// Why a feed cannot be read on. Where another writer lost what the one before had only buffered, other blocks may
  /// stand where this read on: that is no damage, but another history.
  private func reason(for error: StoreError) async -> StoreError {
    guard store.log.isReadOnly else { return error }
    let result = await store.machine.reads.result { [store] () throws(StoreError) in try store.log.refresh() }
    if case .failure(let newer) = result, newer.isDiverged { return newer }
    if let end = store.log.tail.end, end.isDiverged { return end }
    return error
  }

  /// The next block's appends, or nil at the end. Blocks.
  private func pull() throws(StoreError) -> [RecordedAppend]? {
    try begin()
    while delivered < limit {
      let after = delivered
      guard let block = try cursor.next() else {
        return nil
      }
      delivered = block.header.nextSequence - 1
      let batch: [RecordedAppend]
      do throws(ContentProblem) { batch = try RecordedAppend.appends(in: block, after: after) } catch {
        throw error.storeError(of: block.header, through: delivered)
      }
      if !batch.isEmpty { return batch }
    }
    return nil
  }

  /// Once: the limit of a feed that ends, and the check of a position that was read before.
  private func begin() throws(StoreError) {
    guard let start else { return }
    // Somebody may have read further than this reader has looked, and what is there now is what its writer appended.
    let isBehind =
      if case .position(let position) = start { position.sequence > store.log.mark.sequence } else { false }
    if isBehind || end == .caughtUp {
      try store.log.refresh()
    }
    let mark = store.log.mark
    if end == .caughtUp { limit = isDurableOnly ? mark.durable.sequence : mark.visible.sequence }
    if case .beginning = start, mark.logBegin > 1 {
      delivered = mark.logBegin - 1
      cursor = store.log.cursor(after: delivered, isDurableOnly: isDurableOnly)
    }
    if delivered < mark.logBegin - 1 { throw .trimmed(firstAvailable: mark.logBegin) }
    if case .position(let position) = start {
      let chain = try store.log.chain(after: position.sequence)
      guard chain == position.chain else { throw .diverged(sequence: position.sequence) }
    }
    self.start = nil
  }
}
