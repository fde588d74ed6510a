// The log: opened once, appended to by one process, read by many.

internal import StrataBase

/// An open log. Writers append through it; all readers read from it.
///
/// Dropping the last reference without `close` loses nothing that was acknowledged: what was accepted is still
/// committed, and the lock is released.
package final class Log: Sendable {
  package let options: StoreOptions
  package let layout: StoreLayout
  package let source: LogSource
  package let index: StoreIndex
  /// The length in bytes of the torn tail that the open found after the end.
  package let tornBytes: UInt64
  /// The damage that a reader found at the open and before which it ends.
  package let damage: StoreFinding?
  /// The events that folds of this log have decoded. A fold that stops inside a block and goes on there decodes each of its
  /// events once.
  package let foldedEvents = EventTally()
  let role: Role
  let phase = Gate(Phase.open)
  /// What the store did since it was opened.
  package let observation: StoreObservation
  /// The part of the store among its copies elsewhere.
  let part: ReplicaPart

  enum Role: Sendable {
    case writer(queue: CommitQueue, committer: Committer, sealer: Sealer)
    case reader(HeadWatcher)
  }

  init(
    options: StoreOptions, layout: StoreLayout, source: LogSource, index: StoreIndex, tornBytes: UInt64,
    damage: StoreFinding? = nil, part: ReplicaMark? = nil, observation: StoreObservation, role: Role
  ) {
    self.part = ReplicaPart(part)
    self.observation = observation
    self.options = options
    self.layout = layout
    self.source = source
    self.index = index
    self.tornBytes = tornBytes
    self.damage = damage
    self.role = role
    assert(damage == nil || isReadOnly, "a writer does not open a damaged log")
  }

  deinit {
    observation.end()
    switch role {
    case .writer(let queue, _, _): queue.end(.closed, refusingPending: false)
    case .reader(let watcher): watcher.stop()
    }
  }

  package var storeID: StoreID { source.catalog.storeID }
  package var tail: VisibleTail { source.tail }
  package var mark: VisibleMark { source.tail.mark }
  /// The room of derived files; nil for a reader, which has none to give.
  package var derivedSpace: DerivedSpace? {
    if case .writer(_, let committer, _) = role { committer.derivedSpace } else { nil }
  }
  package var isReadOnly: Bool {
    if case .reader = role { return true }
    return false
  }

  // MARK: Appending

  /// Appends, and returns when the append is as durable as the store's options require. Throws `CancellationError` if
  /// the task was cancelled before a group had the append.
  package func append(_ draft: AppendDraft) async throws -> AppendOutcome {
    guard case .writer(let queue, _, _) = role else { throw StoreError.readOnly }
    try part.check()
    try Self.check(draft, options)
    guard let result = await queue.submit(draft) else { throw CancellationError() }
    return try result.get()
  }

  /// The same for a thread that may block. Never call it on the cooperative pool.
  package func appendBlocking(_ draft: AppendDraft) throws(StoreError) -> AppendOutcome {
    guard case .writer(let queue, let committer, _) = role else { throw .readOnly }
    try part.check()
    try Self.check(draft, options)
    return try queue.submitBlocking(draft, commit: committer.commitInTurn).get()
  }

  /// Submits several appends in one step and waits for all, as an import does. Each is accepted or refused on its own;
  /// they are framed in this order, with no other append of the same thread in between. Never call it on the
  /// cooperative pool.
  package func appendBlocking(_ drafts: [AppendDraft]) throws(StoreError) -> [AppendResult] {
    guard case .writer(let queue, _, _) = role else { throw .readOnly }
    try part.check()
    for draft in drafts { try Self.check(draft, options) }
    return queue.submitBlocking(drafts)
  }

  /// A run of appends in order. `drain` it before the log is closed.
  package func run() throws(StoreError) -> AppendRun {
    try part.check()
    guard case .writer(let queue, _, _) = role else { throw .readOnly }
    return AppendRun(queue: queue) { [options] draft throws(StoreError) in try Log.check(draft, options) }
  }

  /// The same for what another member appended, which is all that a follower takes. What that member's options allowed,
  /// this one's need not.
  package func followingRun() throws(StoreError) -> AppendRun {
    guard case .writer(let queue, _, _) = role else { throw .readOnly }
    return AppendRun(queue: queue) { draft throws(StoreError) in
      guard draft.eventCount > 0, draft.byteCount <= FormatLimits.rawLengthMax else {
        throw .tooLarge(what: "the append", actual: draft.byteCount, limit: FormatLimits.rawLengthMax)
      }
    }
  }

  /// Puts on disk what was acknowledged and is only buffered. Blocks. A failure poisons the writer, as that of any sync.
  package func syncBuffered() throws(StoreError) {
    guard case .writer(let queue, let committer, _) = role else { throw .readOnly }
    let mark = mark
    guard mark.durable.sequence < mark.sequence else { return }
    try queue.withTurn { () throws(StoreError) in try committer.syncBuffered() }
  }

  /// The bytes of appends that were submitted and that no group has taken yet.
  package var pendingBytes: Int {
    guard case .writer(let queue, _, _) = role else { return 0 }
    return queue.pendingBytes
  }

  /// What the log has now. O(segments + files in `derived/`). Blocks.
  package func gauges() throws(StoreError) -> StoreGauges {
    let fileSystem = source.catalog.fileSystem
    var bytes: UInt64 = 0
    let names = source.catalog.names
    for name in names { bytes = bytes.addingSaturated(UInt64(try source.catalog.segment(name).file.size())) }
    var pending = (count: 0, bytes: 0)
    if case .writer(let queue, _, _) = role { pending = queue.pendingCounts }
    return StoreGauges(
      pendingAppendCount: pending.count, pendingByteCount: pending.bytes, segmentCount: names.count,
      logByteCount: bytes, derivedByteCount: try layout.derivedBytes(fileSystem))
  }

  /// The torn tails that recoveries of this store cut off and kept, by their files' names. O(files in `quarantine/`). Blocks.
  package func keptTails() throws(StoreError) -> [TailRecovery] {
    let fileSystem = source.catalog.fileSystem
    guard try fileSystem.kind(of: layout.quarantine) == .directory else { return [] }
    var tails: [TailRecovery] = []
    for name in try fileSystem.contents(ofDirectory: layout.quarantine).sorted() {
      guard let (segment, offset) = StoreLayout.tail(named: name),
        let file = try? fileSystem.open("\(layout.quarantine)/\(name)", .read)
      else { continue }
      defer { file.close() }
      tails.append(
        TailRecovery(
          file: segment.path, offset: offset, byteCount: UInt64(max(0, (try? file.size()) ?? 0)),
          keptPath: "\(StoreLayout.quarantineName)/\(name)"))
    }
    return tails
  }

  static func check(_ draft: AppendDraft, _ options: StoreOptions) throws(StoreError) {
    guard draft.eventCount > 0 else { throw .invalid(what: "an append needs at least one event") }
    guard draft.eventCount <= options.appendEventsMax else {
      throw .tooLarge(
        what: "the append's events", actual: draft.eventCount, limit: options.appendEventsMax)
    }
    guard draft.encodedLengthMax <= options.appendSizeMax else {
      throw .tooLarge(what: "the append", actual: draft.encodedLengthMax, limit: options.appendSizeMax)
    }
    guard draft.id.count <= FormatLimits.appendIDLengthMax else {
      throw .outsideFormat(
        what: "the append's id", actual: draft.id.count, limit: FormatLimits.appendIDLengthMax)
    }
    guard draft.given != FormatLimits.noTime else {
      throw .invalid(what: "the append's time is outside 1677-09-21 to 2262-04-11")
    }
  }

  // MARK: Closing

  /// Commits what was accepted, refuses new appends, and marks the store as closed cleanly. Blocks.
  ///
  /// Throws if buffered data could not be synced, or HEAD could not be written.
  package func close() throws(StoreError) {
    let before = phase.wait { phase -> Phase? in
      guard phase != .changing else { return nil }
      defer { phase = .closed }
      return phase
    }
    defer { observation.end() }
    switch role {
    case .writer(let queue, _, _) where before == .suspended:
      // The suspension has done all of this already.
      queue.changeEnd(to: .closed)
      source.tail.finish(.closed)
    case .writer(let queue, let committer, _):
      queue.end(.closed, refusingPending: false)
      if let failure = committer.ending.wait(for: { $0 }).failure { throw failure }
    case .reader(let watcher):
      watcher.stop()
      source.tail.finish(.closed)
    }
  }

  // MARK: Reading

  /// A cursor that begins after a sequence.
  package func cursor(after sequence: UInt64, isDurableOnly: Bool = false) -> LogCursor {
    LogCursor(source, after: sequence, isDurableOnly: isDurableOnly)
  }

  /// The same for long work, which may be read on another thread.
  package func blocksAhead(after sequence: UInt64) -> BlocksAhead {
    BlocksAhead(cursor(after: sequence), options.readAhead)
  }

  /// The visible block that holds a sequence, or nil if the log does not have it.
  package func block(holding sequence: UInt64) throws(StoreError) -> DecodedBlock? {
    try source.block(holding: sequence)
  }

  /// Some visible events, among them the one with a sequence, or nil if the log does not have it. Asks the cache first.
  ///
  /// - Parameter lastWanted: given the first sequence after a block, returns the last event before it that is wanted too.
  package func part(
    holding sequence: UInt64, lastWanted: ((_ end: UInt64) -> UInt64)? = nil
  ) throws(StoreError) -> EventPart? {
    try source.part(holding: sequence, lastWanted: lastWanted)
  }

  /// The same if it is in memory: reads nothing.
  package func partInMemory(holding sequence: UInt64) -> EventPart? { source.partInMemory(holding: sequence) }

  /// Asks the disk for what reads of these events, which ascend, will need of it, and does not wait for it.
  package func willRead(_ sequences: some Sequence<UInt64>) { source.willRead(sequences) }

  /// The chain after a sequence. Sequence 0 is before all events.
  package func chain(after sequence: UInt64) throws(StoreError) -> UInt64? {
    try source.chain(after: sequence)
  }
}

extension Log {
  /// Ensures that the visible mark moves while callers wait: a reader polls the writer's HEAD.
  package func follow() throws(StoreError) {
    if case .reader(let watcher) = role { try watcher.start() }
  }

  /// Checks now whether the log extends past the visible mark: a caller may know of another process's append before
  /// this reader does. Blocks. A writer's mark is always current, and a reader that ends before damage stays there.
  package func refresh() throws(StoreError) {
    if case .reader(let watcher) = role, damage == nil { try watcher.refresh() }
  }
}
