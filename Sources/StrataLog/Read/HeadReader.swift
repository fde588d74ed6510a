// The visible end of a store for readers: what HEAD says, or the rule of the tail.

internal import StrataBase

/// What a reader can see of a store, read again each time.
struct HeadReader {
  let catalog: SegmentCatalog
  let readsDamaged: Bool
  /// The highest epoch of the HEADs used so far.
  var epoch: UInt64 = 0
  /// The HEAD after whose mark everything was read while no writer was alive.
  var settledHead: HeadSlot?
  /// The time since which every check has had a finding.
  var wrongSince: MonotonicTime?

  init(catalog: SegmentCatalog, readsDamaged: Bool) {
    self.catalog = catalog
    self.readsDamaged = readsDamaged
  }

  struct Sight {
    var mark: VisibleMark
    var tornBytes: UInt64
    /// The damage at which the mark ends, if the reader continues up to damage.
    var damage: StoreFinding?
  }

  /// How often a check runs at most: it starts again if a writer opens the store meanwhile.
  private static let looksMax = 8
  /// The current visible end: HEAD's mark while a writer is alive, otherwise X.
  ///
  /// Without a writer HEAD is read before the segment, and a writer may open the store in between: what it appends then
  /// follows a HEAD that said "closed cleanly", and may not be on disk yet. So the result counts only if HEAD is still
  /// the same and there is still no writer.
  ///
  /// With a writer, HEAD may still be the previous writer's until the running one has read through the log, and after a
  /// power cut the marks of a HEAD may be wrong if its writer only buffered. So a finding counts only after a while.
  ///
  /// - Parameter patience: how long a finding must persist.
  mutating func look(patience: Duration = .zero) throws(StoreError) -> Sight {
    var wait = PatientWait(patience)
    var looks = 1
    while looks < Self.looksMax {
      let (isAlive, head) = try state()
      if isAlive, let head {
        do throws(StoreError) { return Sight(mark: try sight(of: head), tornBytes: 0) } catch {
          guard case .damaged = error, let pause = wait.next() else { throw error }
          pauseThread(nanoseconds: pause)
          continue
        }
      }
      looks += 1
      let sight = Result { () throws(StoreError) in try assessed(head) }
      let after = try state()
      if !after.isAlive, after.head == head {
        let seen = try sight.get()
        settledHead = head
        return seen
      }
      // A writer may undo what it was writing meanwhile, and write something else there.
      if let last = catalog.names.last { catalog.forget(last) }
    }
    return try assessed(try state().head)
  }

  func head() throws(StoreError) -> HeadSlot? {
    try HeadFile.read(catalog.fileSystem, path: catalog.layout.head)
  }

  func state() throws(StoreError) -> (isAlive: Bool, head: HeadSlot?) {
    let isAlive = try StoreLock.isHeld(catalog.fileSystem, catalog.layout)
    return (isAlive, try HeadFile.read(catalog.fileSystem, path: catalog.layout.head))
  }

  private mutating func assessed(_ head: HeadSlot?) throws(StoreError) -> Sight {
    if let head, head.epoch > epoch {
      catalog.forget(head.segment)
      epoch = head.epoch
    }
    try catalog.refresh()
    guard let last = catalog.names.last else {
      throw .notFound(path: catalog.layout.root, what: "the store's segments are missing")
    }
    return try assessed(last, head)
  }

  /// The end before damage in the headers: the catalog has the segments before the damage.
  func sight(upTo damage: StoreFinding) throws(StoreError) -> Sight {
    guard let last = catalog.names.last else {
      throw .notFound(path: catalog.layout.root, what: "the store has no segment before the damage")
    }
    var sight = try assessed(last, nil)
    sight.damage = damage
    sight.tornBytes = 0
    return sight
  }

  private func assessed(_ last: SegmentName, _ head: HeadSlot?) throws(StoreError) -> Sight {
    let active = try catalog.segment(last)
    let assessment = try TailRule.assessActive(active, head: head, readsDamaged: readsDamaged)
    let link = assessment.link
    let begin = catalog.names.first ?? last
    let mark = VisibleMark(
      segment: last, revision: active.header.revision, visible: link.mark, durable: link.mark,
      time: link.lastTime, appends: link.appends,
      logBegin: begin.firstSequence)
    switch assessment.state {
    case .torn:
      return Sight(mark: mark, tornBytes: assessment.fileSize - link.offset, damage: assessment.staleHead)
    case .corrupt(let finding): return Sight(mark: mark, tornBytes: 0, damage: finding)
    case .clean, .unsupported: return Sight(mark: mark, tornBytes: 0, damage: assessment.staleHead)
    }
  }

  /// The mark that HEAD describes.
  ///
  /// HEAD is read before the segment that it names is opened, and in between that segment may have been closed and
  /// rewritten, so that HEAD's offsets mean nothing in it. A segment is rewritten only after HEAD names a later one, so
  /// HEAD is read again; this happens only a few times, because a writer would have to roll and rewrite each time in
  /// between. The same applies if another writer opened the store in between, and overwrote what the previous one had
  /// only buffered.
  mutating func sight(of head: HeadSlot) throws(StoreError) -> VisibleMark {
    var head = head
    var wrong = head.rewritten
    for _ in 1..<Self.looksMax {
      switch try mark(of: head) {
      case .success(let mark): return mark
      case .failure(let finding): wrong = finding
      }
      if let next = try self.head() { head = next }
    }
    throw .damaged(wrong)
  }

  /// HEAD's mark, completed by the number of appends, which the last block counts. A finding if the segment was
  /// rewritten meanwhile, or does not end where HEAD says.
  private mutating func mark(of head: HeadSlot) throws(StoreError) -> Result<VisibleMark, StoreFinding> {
    if !catalog.names.contains(head.segment) { try catalog.refresh(through: head.segment) }
    guard catalog.names.contains(head.segment) else {
      return .failure(SegmentChain.missing(head.segment, before: head.visible.sequence &+ 1))
    }
    // The known blocks were found while another writer had the store, and may no longer exist.
    if head.epoch > epoch { catalog.forget(head.segment) }
    let handle = try catalog.segment(head.segment)
    guard head.isOf(handle.header) else { return .failure(head.rewritten) }
    try handle.extend(to: head.visible.offset)
    var appends = handle.header.appendsBefore
    var last = (sequence: handle.header.previousLast, chain: handle.header.previousChain)
    if let place = handle.places.last(where: { $0.offset < head.visible.offset }) {
      var source = BlockSource(file: handle.file, segment: handle.header, step: 4096)
      let found = try source.header(at: place.offset, limit: head.visible.offset)
      if case .success(let block) = found {
        appends = block.appendsBefore + UInt64(block.appendCount)
        last = (block.nextSequence &- 1, block.chainAfter)
      }
    }
    // A valid checksum does not make the numbers right, and all readers rely on these conditions: the last sequence is
    // that of a block, so less than 2⁶⁴ − 1; nothing durable is invisible; and the log does not begin past its end.
    guard head.visible.sequence == last.sequence, head.visible.chain == last.chain,
      head.durable.sequence <= last.sequence, head.durable.offset <= head.visible.offset,
      head.logBegin <= last.sequence &+ 1
    else { return .failure(head.disagreeing(with: handle.name)) }
    epoch = max(epoch, head.epoch)
    return .success(
      VisibleMark(
        segment: head.segment, revision: handle.header.revision, visible: head.visible, durable: head.durable,
        time: head.lastTime, appends: appends, logBegin: max(1, head.logBegin)))
  }
}

extension HeadSlot {
  /// Whether the offsets of the marks can belong to this file: it was never rewritten, or HEAD was written after the
  /// rewrite, by a writer that found it as the last segment and has not appended.
  package func isOf(_ header: SegmentHeader) -> Bool {
    guard header.isRewritten else { return true }
    return visible
      == LogMark(
        offset: header.rewrittenEnd, sequence: header.rewrittenLast, chain: header.rewrittenChain)
  }

  /// The finding if HEAD still names a rewritten segment as the active one.
  static func rewritten(_ segment: SegmentName, through last: UInt64) -> StoreFinding {
    StoreFinding(
      .stale, file: StoreLayout.headName, offset: 0, first: segment.firstSequence,
      last: max(last, segment.lastBefore),
      what: "HEAD names a segment that was rewritten and has another end now")
  }

  var rewritten: StoreFinding { Self.rewritten(segment, through: lastSequence) }

  /// The finding if the marks are not ends of blocks in the segment that they name.
  func disagreeing(with name: String) -> StoreFinding {
    StoreFinding(
      .stale, file: StoreLayout.headName, offset: 0, first: segment.firstSequence,
      last: max(lastSequence, segment.lastBefore),
      what: "HEAD's marks are not the end of a block of \(name) with that sequence and chain")
  }
}

/// The pauses between repeated checks.
struct PatientWait {
  private let begin = MonotonicTime.now()
  private let patience: Duration
  /// In nanoseconds.
  private var pause = 1_000_000
  private static let pauseMax = 50_000_000

  init(_ patience: Duration) { self.patience = patience }

  /// The number of nanoseconds to pause before the next check, or nil if the time is over.
  mutating func next() -> Int? {
    guard begin.elapsed < patience else { return nil }
    defer { pause = min(2 * pause, Self.pauseMax) }
    return pause
  }
}
