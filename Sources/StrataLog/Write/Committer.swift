// The one that writes: it frames groups, syncs once for each, and tells everybody.

internal import StrataBase

/// The writer's state, used by whoever has the turn: the committer's thread, or a thread that blocks for its own
/// append while nobody else is at it.
///
/// Sendable without the compiler's proof: the turn is handed on under the queue's lock, so one thread at a time
/// touches this, after the one before it is done.
final class Committer: @unchecked Sendable {
  private let layout: StoreLayout
  private let fileSystem: any FileSystem
  private let options: StoreOptions
  private var lock: StoreLock
  private let source: LogSource
  private let index: StoreIndex
  private let queue: CommitQueue
  private let sealer: Sealer
  private let lookups: LookupThread

  private var head: HeadFile
  private var active: SegmentHandle
  /// The end of the log as written.
  private var link: BlockLink
  /// The end of the log as known to be on disk.
  private var durable: LogMark
  private var preallocation: Preallocation
  private var epoch: UInt64
  private var isTorn: Bool
  /// A tail that was cut off, and whose RECOVERY block could not be written yet.
  private var recovery: RecoveryNote?
  private var logBegin: UInt64
  /// What HEAD says of erasures.
  private(set) var isErasing: Bool
  private var isSettled: Bool
  private var frame: GroupFrame
  private var isHeadUnsynced = false
  private var lastHeadSync = MonotonicTime.now()
  /// Why the writer accepts nothing any more.
  private var failure: StoreError?
  /// Ids of the group at hand: first and last sequence, and whose they are.
  private var groupIDs: [[UInt8]: (outcome: AppendOutcome, draft: AppendDraft)] = [:]

  init(_ start: Start, source: LogSource, index: StoreIndex, queue: CommitQueue, sealer: Sealer) {
    layout = start.layout
    fileSystem = start.fileSystem
    options = start.options
    lock = start.lock
    head = start.head
    active = start.active
    link = start.link
    durable = start.link.mark
    preallocation = Preallocation(start.options, end: start.fileSize)
    epoch = start.epoch
    isTorn = start.isTorn
    logBegin = start.logBegin
    isErasing = start.isErasing
    isSettled = start.isSettled
    self.sealer = sealer
    self.source = source
    self.index = index
    self.queue = queue
    lookups = LookupThread(index: index, queue: queue)
    frame = Self.frame(start)
  }

  private static func frame(_ start: Start) -> GroupFrame {
    GroupFrame(
      context: .init(
        segment: start.active.header.firstSequence, storeID: start.active.header.storeID, epoch: start.epoch,
        blockSizeTarget: start.options.blockSizeTarget, padsToPages: start.options.padsGroupsToPages),
      link: start.link)
  }

  /// Takes over what an open found after a suspension, before a thread runs this again.
  func reopen(_ start: Start) {
    lock = start.lock
    head = start.head
    active = start.active
    link = start.link
    durable = start.link.mark
    preallocation = Preallocation(start.options, end: start.fileSize)
    epoch = start.epoch
    isTorn = start.isTorn
    recovery = nil
    logBegin = start.logBegin
    isErasing = start.isErasing
    isSettled = start.isSettled
    frame = Self.frame(start)
    isHeadUnsynced = false
    lastHeadSync = .now()
    groupIDs = [:]
    lookups.reopen()
    ending.withLock { $0 = nil }
  }

  /// The thread's life: groups until the queue is closed and drained, then the end of the store.
  func run() {
    var lastCount = 0
    while true {
      if !options.writesInStep, preallocation.isDue(at: link.offset), queue.isAtRest { preallocate() }
      switch queue.take(bytesMax: options.groupSizeMax, after: lastCount, timeout: nextTimeout) {
      case .group(let group):
        lastCount = group.count
        commit(group)
      case .idle:
        lastCount = 0
        settle()
      case .closing:
        close()
        return
      }
    }
  }

  /// Commits a group for a thread that has the turn. True where HEAD, or what is buffered, is still to be synced.
  func commitInTurn(_ group: [PendingAppend]) -> Bool {
    commit(group)
    return nextTimeout != nil
  }

  /// How long the committer may sleep before HEAD, or what is only buffered, must be synced.
  private var nextTimeout: Duration? {
    guard isHeadUnsynced, failure == nil else { return nil }
    return max(.zero, options.headSyncInterval - lastHeadSync.elapsed)
  }

  // MARK: A group

  private func commit(_ group: [PendingAppend]) {
    if let failure { return refuse(group, failure) }
    do throws(StoreError) { try lock.check() } catch {
      poison(error)
      return refuse(group, failure ?? error)
    }
    do throws(StoreError) {
      // Before a roll: a segment is closed only when nothing stands behind its last block.
      try recoverIfTorn()
    } catch {
      return refuse(group, failure ?? error)
    }
    do throws(StoreError) {
      if isRollDue { _ = try roll() }
    } catch {
      poison(error)
      return refuse(group, failure ?? error)
    }
    // One without events cannot be closed, and nothing may follow its FOOTER.
    if active.header.isRewritten {
      return refuse(
        group, .invalid(what: "the last segment was rewritten and holds no event to go on behind"))
    }
    write(group)
  }

  /// A segment without events is never closed: the next one would have its name.
  private var isRollDue: Bool {
    guard link.nextSequence > active.header.firstSequence else { return false }
    return active.header.isRewritten || link.offset >= UInt64(options.segmentSizeTarget)
  }

  private func refuse(_ group: [PendingAppend], _ error: StoreError) {
    for append in group { append.finish(.failure(error)) }
  }

  /// Nothing is accepted any more; what waits is refused.
  private func poison(_ error: StoreError) {
    guard failure == nil else { return }
    let reason: StoreError =
      if error.reason == .poisoned { error } else { .poisoned(String(describing: error)) }
    failure = reason
    queue.end(reason, refusingPending: true)
    sealer.stop()
    source.tail.finish(reason)
  }

  private func write(_ group: [PendingAppend]) {
    frame.begin(at: link, syncedThrough: durable.offset)
    groupIDs.removeAll(keepingCapacity: true)
    /// What became of each; nil where it is set aside.
    var results: [AppendResult?] = []
    results.reserveCapacity(group.count)
    var aside: [PendingAppend] = []
    for append in group {
      if let refusal = append.refusal {
        results.append(.failure(refusal))
        continue
      }
      if !aside.isEmpty, let order = append.order, aside.contains(where: { $0.order == order }) {
        aside.append(append)
        results.append(nil)
        continue
      }
      do throws(StoreError) {
        let builds = append.isLookedUp || options.writesInStep
        results.append(.success(try place(append.draft, builds: builds)))
      } catch {
        if error.reason == .indexMissing {
          aside.append(append)
          results.append(nil)
        } else {
          append.refuseFollowers(error)
          results.append(.failure(error))
        }
      }
    }
    frame.finish()
    if frame.output.count > 0 {
      do throws(StoreError) { try writeFrame() } catch {
        results = results.map { $0 == nil ? nil : .failure(error) }
      }
    }
    for (append, result) in zip(group, results) {
      if let result { append.finish(result) }
    }
    setAside(aside)
  }

  /// Others go on while an index is built that these need.
  private func setAside(_ appends: [PendingAppend]) {
    guard !appends.isEmpty else { return }
    if let failure { return refuse(appends, failure) }
    queue.setAside(appends)
    lookups.start()
  }

  /// Decides everything about one append, or why it cannot be. What is thrown leaves nothing of it behind.
  ///
  /// - Parameter builds: whether an index may be built that is missing, which keeps everybody waiting; where it may
  ///   not, `indexMissing` is thrown.
  private func place(_ draft: AppendDraft, builds: Bool) throws(StoreError) -> AppendOutcome {
    if !draft.id.isEmpty, let known = try known(draft, builds: builds) { return known }
    guard frame.hasRoom(for: draft.eventCount) else {
      throw .invalid(what: "the sequences of the log are used up")
    }
    let first = frame.next
    let activeFirst = active.header.firstSequence
    try index.withActive { tables throws(StoreError) in
      for expectation in draft.expectations { try check(expectation, tables, activeFirst, builds) }
      var framed = 0
      do throws(StoreError) {
        for mark in draft.marks {
          let stream = draft.stream(of: mark)
          let revision = try tables.append(to: stream, hash: mark.streamHash) { () throws(StoreError) in
            try index.closedRevision(of: stream, before: activeFirst, builds: builds)
          }
          framed += 1
          // After 2⁶⁴ − 1 comes 0, which is malformed.
          guard revision > 0 else {
            throw .invalid(what: "the revisions of \(String(decoding: stream, as: UTF8.self)) are used up")
          }
          draft.setRevision(revision, of: mark)
        }
      } catch {
        tables.undo(framed)
        throw error
      }
    }
    let given = draft.given ?? max(options.clock.now(), FormatLimits.noTime + 1)
    let time = frame.commitTime(given: given)
    frame.add(draft, commitTime: time, given: given)
    let outcome = AppendOutcome(
      first: first, last: first + UInt64(draft.eventCount) - 1, time: time, isKnown: false)
    if !draft.id.isEmpty { groupIDs[draft.id] = (outcome, draft) }
    return outcome
  }

  private func check(
    _ expectation: AppendDraft.Expectation, _ tables: SegmentIndex, _ activeFirst: UInt64, _ builds: Bool
  ) throws(StoreError) {
    let actual = try expectation.stream.lendBytes { name throws(StoreError) in
      if let revision = tables.revision(of: name, hash: XXH64.of(name)) { return revision }
      return try index.closedRevision(of: name, before: activeFirst, builds: builds)
    }
    guard expectation.version.isMet(by: actual) else {
      throw .conflict(
        stream: String(decoding: expectation.stream, as: UTF8.self), expected: expectation.version,
        actual: actual)
    }
  }

  /// The outcome of the append that has this id already, or nil.
  private func known(_ draft: AppendDraft, builds: Bool) throws(StoreError) -> AppendOutcome? {
    if let (outcome, earlier) = groupIDs[draft.id] {
      guard earlier.hasSameContent(as: draft) else {
        throw .idReused(
          id: String(decoding: draft.id, as: UTF8.self), sequences: outcome.first...outcome.last)
      }
      var known = outcome
      known.isKnown = true
      return known
    }
    guard let first = try index.first(ofID: draft.id, builds: builds) else { return nil }
    let recorded = try RepeatedAppend(of: draft, source, first: first)
    guard recorded.isSame else {
      throw .idReused(id: String(decoding: draft.id, as: UTF8.self), sequences: first...recorded.last)
    }
    return AppendOutcome(first: first, last: recorded.last, time: recorded.time, isKnown: true)
  }

  // MARK: To the disk

  private func writeFrame() throws(StoreError) {
    do throws(StoreError) {
      try active.file.write(frame.output.bytes, at: Int64(link.offset))
    } catch {
      throw takeBack(after: error)
    }
    let length = frame.output.count
    preallocation.follow(groupEnd: link.offset + UInt64(length), length: length, in: active.file)
    if options.durability != .buffered {
      do throws(StoreError) { try active.file.syncData() } catch {
        poison(.poisoned("a sync failed, so what is on disk is not known: \(error)"))
        throw failure ?? error
      }
    }
    // The next writer has this group only if it took the store over later, and nobody is told of it before that is
    // known.
    do throws(StoreError) { try lock.check() } catch {
      poison(error)
      throw failure ?? error
    }
    advance()
    do throws(StoreError) {
      try writeHead(isClean: false, syncs: options.durability == .paranoid)
    } catch {
      poison(.poisoned("HEAD cannot be written: \(error)"))
      throw failure ?? error
    }
    publish()
  }

  /// A write failed: the file is cut back to the end of the last group, and the store goes on.
  private func takeBack(after error: StoreError) -> StoreError {
    index.withActive { $0.undo(frame.eventCount) }
    do throws(StoreError) {
      try active.file.truncate(to: Int64(link.offset))
      preallocation.isCut(to: link.offset)
      try active.file.sync()
    } catch let second {
      poison(.poisoned("a write failed (\(error)), and it could not be taken back (\(second))"))
      return failure ?? error
    }
    return error
  }

  /// The frame is written: the end of the log moves behind it.
  private func advance() {
    var offset = link.offset
    link = frame.link
    for (number, place) in frame.places.enumerated() {
      let isLast = number == frame.places.count - 1
      offset = isLast ? link.offset : frame.places[number + 1].offset
      active.add(place, end: offset)
    }
    if options.durability != .buffered { durable = link.mark }
    if !groupIDs.isEmpty {
      index.withActive { tables in
        for (id, entry) in groupIDs { id.withUnsafeBytes { tables.addID($0, first: entry.outcome.first) } }
      }
    }
  }

  private func publish() {
    source.tail.publish(
      VisibleMark(
        segment: active.header.firstSequence, revision: active.header.revision, visible: link.mark,
        durable: durable, time: link.lastTime, appends: link.appends, logBegin: logBegin))
  }

  private func writeHead(isClean: Bool, syncs: Bool) throws(StoreError) {
    try head.write(
      HeadSlot(
        storeID: active.header.storeID, generation: 0, segment: active.header.firstSequence, epoch: epoch,
        isClean: isClean, durability: options.durability.rawValue, visible: link.mark, durable: durable,
        lastTime: link.lastTime, logBegin: logBegin, isErasing: isErasing))
    isHeadUnsynced = true
    if syncs || lastHeadSync.elapsed >= options.headSyncInterval { try syncHead() }
  }

  /// Syncs what is buffered, and HEAD behind it.
  private func syncHead() throws(StoreError) {
    if durable != link.mark {
      try active.file.syncData()
      durable = link.mark
      guard let slot = head.slot else { return }
      var next = slot
      next.durable = durable
      try head.write(next)
    }
    try head.sync()
    isHeadUnsynced = false
    lastHeadSync = .now()
  }

  /// Nothing to commit: syncs HEAD if it is time. It may not be, where a thread that committed its own append only
  /// wants the committer to wait no longer than that.
  private func settle() {
    guard isHeadUnsynced, failure == nil, lastHeadSync.elapsed >= options.headSyncInterval else { return }
    let before = durable
    do throws(StoreError) { try lock.check() } catch { return poison(error) }
    do throws(StoreError) {
      try syncHead()
      if durable != before { publish() }
    } catch {
      poison(.poisoned("a sync failed, so what is on disk is not known: \(error)"))
    }
  }

  /// Nothing to commit just now: writes zeros for the groups to come, and syncs them.
  private func preallocate() {
    guard failure == nil, !isTorn else { return }
    do throws(StoreError) { try lock.check() } catch { return poison(error) }
    let before = preallocation.end
    preallocation.extend(active.file, behind: link.offset)
    guard preallocation.end > before else { return }
    do throws(StoreError) { try active.file.sync() } catch {
      poison(.poisoned("a sync failed, so what is on disk is not known: \(error)"))
    }
  }

  // MARK: Recovery, roll, close

  private func recoverIfTorn() throws(StoreError) {
    if isTorn { recovery = try cutTail() }
    guard let note = recovery else { return }
    frame.begin(at: link, syncedThrough: durable.offset)
    frame.addControl(kind: BlockKind.recovery, payload: note.encoded(), time: note.time)
    frame.finish()
    try writeFrame()
    recovery = nil
  }

  /// Keeps the torn tail in quarantine and cuts it off. An error before the cut leaves everything as it was.
  private func cutTail() throws(StoreError) -> RecoveryNote {
    let note: RecoveryNote
    note = try Quarantine.keepTail(
      of: active.file, segment: active.header.firstSequence, at: link.offset, epoch: epoch,
      time: max(options.clock.now(), FormatLimits.noTime + 1), fileSystem, layout)
    try active.file.truncate(to: Int64(link.offset))
    isTorn = false
    preallocation.isCut(to: link.offset)
    do throws(StoreError) { try active.file.sync() } catch {
      poison(.poisoned("a sync failed, so what is on disk is not known: \(error)"))
      throw failure ?? error
    }
    return note
  }

  /// Closes the active segment and begins the next. Failing to make the next one is no loss: the active one
  /// goes on beyond its target, and the reason is returned.
  private func roll() throws(StoreError) -> StoreError? {
    do throws(StoreError) {
      if durable != link.mark { try syncHead() }
      try active.file.sync()
      // Zeros behind the end, written ahead or left by a power cut, would be damage in a closed segment.
      if try active.file.size() > Int64(link.offset) {
        try active.file.truncate(to: Int64(link.offset))
        preallocation.isCut(to: link.offset)
        try active.file.sync()
      }
    } catch {
      throw .poisoned("a sync failed, so what is on disk is not known: \(error)")
    }
    var header = SegmentHeader(
      storeID: active.header.storeID, firstSequence: link.nextSequence, epoch: epoch,
      created: options.clock.now())
    header.previousFirst = active.header.firstSequence
    header.previousLast = link.lastSequence
    header.previousChain = link.chain
    header.previousTime = link.lastTime
    header.appendsBefore = link.appends
    let next: SegmentHandle
    do throws(StoreError) {
      next = try SegmentFiles.create(header, behind: active, fileSystem, layout, lock)
    } catch {
      if error.reason == .poisoned { throw error }
      if try fileSystem.kind(of: layout.segment(header.firstSequence)) == nil {
        return error
      }
      throw .poisoned("the next segment has its name but could not be opened: \(error)")
    }
    let chain = link.chain
    active = next
    isSettled = true
    link = BlockLink(header)
    preallocation.beginSegment(end: link.offset)
    durable = link.mark
    frame.context.segment = header.firstSequence
    source.catalog.add(next)
    do throws(StoreError) {
      try writeHead(isClean: false, syncs: true)
    } catch {
      throw .poisoned("HEAD cannot be written: \(error)")
    }
    let closed = header.previousFirst
    index.roll(to: header.firstSequence, chain: chain)
    publish()
    if options.sealsByItself { sealer.add([closed]) }
    return nil
  }

  /// Begins a new segment where the active one holds events, so that everything in the log until now can be
  /// rewritten. With the turn.
  func rollNow() throws(StoreError) {
    if let failure { throw failure }
    do throws(StoreError) { try lock.check() } catch {
      poison(error)
      throw failure ?? error
    }
    try recoverIfTorn()
    guard link.nextSequence > active.header.firstSequence else { return }
    let refusal: StoreError?
    do throws(StoreError) { refusal = try roll() } catch {
      poison(error)
      throw failure ?? error
    }
    if let refusal { throw refusal }
  }

  /// Says in HEAD, on disk and in both slots, whether an erasure may be unfinished. With the turn.
  func setErasing(_ isErasing: Bool) throws(StoreError) {
    if let failure { throw failure }
    guard self.isErasing != isErasing else { return }
    self.isErasing = isErasing
    do throws(StoreError) { try lock.check() } catch {
      poison(error)
      throw failure ?? error
    }
    do throws(StoreError) {
      for _ in HeadSlot.offsets { try writeHead(isClean: false, syncs: true) }
    } catch {
      poison(.poisoned("HEAD cannot be written: \(error)"))
      throw failure ?? error
    }
  }

  /// The last act, or the last before a suspension: everything on disk, HEAD clean, the lock given back.
  private func close() {
    sealer.stop()
    do throws(StoreError) { try lock.check() } catch { failure = failure ?? error }
    if failure == nil {
      do throws(StoreError) {
        if durable != link.mark {
          try syncHead()
          // Who waits for what is durable gets the rest before the end is told.
          publish()
        }
        let end = UInt64(try active.file.size())
        let isZero = try active.file.isZero(from: durable.offset, to: end)
        if !isTorn, isZero, end > durable.offset {
          try active.file.truncate(to: Int64(durable.offset))
          try active.file.sync()
        }
        // A writer before this one that was stopped and has the same file may still write to it.
        let isClean = !isTorn && isZero && isSettled
        try writeHead(isClean: isClean, syncs: true)
      } catch {
        failure = .poisoned("the store could not be closed cleanly: \(error)")
      }
    }
    lookups.finish()
    index.finishWriting()
    sealer.finish()
    head.close()
    lock.release()
    if failure != nil || queue.failure != .suspended {
      if let failure { queue.changeEnd(to: failure) }
      source.tail.finish(failure ?? .closed)
    }
    ending.withLock { $0 = Ending(failure: failure) }
    ending.signalAll()
  }

  /// How the thread left the store; nil until it has.
  let ending = Gate<Ending?>(nil)

  /// The end of a writer: why it was not a clean one, if it was not.
  struct Ending {
    var failure: StoreError?
  }
}
