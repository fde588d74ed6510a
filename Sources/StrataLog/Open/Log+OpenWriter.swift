// Opens a store for writing: one lock, one scan of the active segment, one HEAD.

internal import StrataBase

extension Log {
  /// Opens a store for writing, and creates it if there is none. Blocks.
  ///
  /// - Parameters:
  ///   - lockTimeout: how long to wait for the lock, if not as long as the options say.
  ///   - part: decides by the part that a store has among its copies elsewhere, and by whether it holds anything: refuses
  ///     it, or returns the part that it gets before it is created. Only what follows for a store opens a follower.
  package static func openWriter(
    _ fileSystem: any FileSystem, path: String, options: StoreOptions, storeID: StoreID? = nil,
    lockTimeout: Duration? = nil,
    part decide: (ReplicaMark?, _ isEmpty: Bool) throws(StoreError) -> ReplicaMark? = {
      part, _ throws(StoreError) in
      if let refusal = part?.refusal { throw refusal }
      return nil
    }
  ) throws(StoreError) -> Log {
    if let problem = options.problem { throw .invalid(what: problem) }
    let layout = StoreLayout(root: fileSystem.absolutePath(path))
    try checkPlace(fileSystem, layout)
    let lock = try makeAndLock(fileSystem, layout, path, timeout: lockTimeout ?? options.lockTimeout)
    do throws(StoreError) {
      var part = try ReplicaMark.read(fileSystem, layout)
      if let fresh = try decide(part, try isEmpty(fileSystem, layout)) {
        try fileSystem.createDirectory(layout.log)
        try fresh.write(fileSystem, layout)
        part = fresh
      }
      return try open(fileSystem, layout, options, lock, newStoreID: storeID ?? .random(), part)
    } catch {
      lock.release()
      throw error
    }
  }

  /// The limit of attempts to make the folder, if it is removed each time before it is locked.
  private static let foldersMax = 8

  /// Makes the folder if there is none, and locks it. The holder that is waited for may remove the store with its folder,
  /// as an import does that made it and failed: then the folder is made again.
  private static func makeAndLock(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ path: String, timeout: Duration
  ) throws(StoreError) -> StoreLock {
    let deadline = MonotonicTime.now().advanced(by: timeout)
    var tries = 1
    while true {
      do throws(StoreError) { try fileSystem.createDirectory(layout.root) } catch {
        throw error.asCreation(of: path)
      }
      let rest = max(0, deadline.nanoseconds - MonotonicTime.now().nanoseconds)
      do throws(StoreError) {
        return try StoreLock.acquire(fileSystem, layout, timeout: .nanoseconds(rest))
      } catch {
        guard error.systemCode == SystemErrorCode.notFound, tries < foldersMax else { throw error }
      }
      tries += 1
    }
  }

  /// Refuses a path that holds something other than a store. A file name that stores use too proves nothing: a bare git
  /// repository has a `HEAD`, LevelDB a `LOCK`, and many folders a `log`.
  static func checkPlace(_ fileSystem: any FileSystem, _ layout: StoreLayout) throws(StoreError) {
    try layout.checkRoot()
    let kind = try fileSystem.kind(of: layout.root)
    let names = kind == .directory ? try fileSystem.contents(ofDirectory: layout.root) : []
    if let kind, kind != .directory {
      throw .notAStore(path: layout.root, what: "a file is at that path, and a store is a folder")
    }
    try layout.checkLinks(fileSystem)
    if names.allSatisfy({ ownNames.contains($0) }) { return }
    if try isEmpty(fileSystem, layout) {
      throw .notAStore(path: layout.root, what: "the folder holds other files and no store")
    }
  }

  /// Whether there is neither a segment nor a HEAD.
  private static func isEmpty(_ fileSystem: any FileSystem, _ layout: StoreLayout) throws(StoreError) -> Bool
  {
    guard try SegmentCatalog.names(fileSystem, layout).isEmpty else { return false }
    return try HeadFile.read(fileSystem, path: layout.head) == nil
  }

  /// All names that a store uses in its folder.
  package static let ownNames = [
    StoreLayout.headName, StoreLayout.lockName, StoreLayout.logName, StoreLayout.derivedName,
    StoreLayout.quarantineName, StoreLayout.replicaName,
  ]

  private static func open(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ options: StoreOptions, _ lock: StoreLock,
    newStoreID: StoreID, _ part: ReplicaMark?
  ) throws(StoreError) -> Log {
    for folder in [layout.log, layout.derived, layout.quarantine] { try fileSystem.createDirectory(folder) }
    try SegmentFiles.removeTemporary(fileSystem, layout)
    let isEmpty = try isEmpty(fileSystem, layout)
    if isEmpty { try create(fileSystem, layout, options, lock, storeID: newStoreID) }
    let found = try assess(fileSystem, layout, lock, isNew: isEmpty)
    if let part, part.storeID != found.chain.storeID {
      throw .damaged(
        StoreFinding(
          .misplaced, file: StoreLayout.replicaName, offset: 0, first: 0, last: 0,
          what: "the file is of the store \(part.storeID)"))
    }
    let catalog = SegmentCatalog(
      fileSystem: fileSystem, layout: layout, storeID: found.chain.storeID,
      names: found.chain.headers.map(\.segment), cacheSize: options.pageCacheSize)
    catalog.add(found.active)
    let source = LogSource(catalog: catalog, tail: VisibleTail(found.mark))
    let index = StoreIndex(
      source, isWriter: true, isInStep: options.writesInStep, savesAfter: options.savedIndexEventsMin,
      on: options.machine)
    // A finding of the index refuses the writer before HEAD is changed.
    try index.catchUp()
    try index.checkEnds(with: found.mark)
    let claim = try claim(found, fileSystem, layout, options, lock)
    do throws(StoreError) {
      let queue = CommitQueue(bytesMax: options.pendingBytesMax)
      let observation = StoreObservation(options)
      observation.noteTail(found.recovery)
      let sealer = Sealer(source: source, options: options, lock: lock, observation: observation)
      let committer = Committer(
        WriterState(found, claim, options, lock), options: options, source: source, index: index,
        queue: queue, sealer: sealer, observation: observation)
      try options.machine.start("strata-commit") { committer.run() }
      if options.sealsByItself { sealer.add(found.unsealed) }
      return Log(
        options: options, layout: layout, source: source, index: index,
        tornBytes: found.assessment.tornBytes, part: part, observation: observation,
        role: .writer(queue: queue, committer: committer, sealer: sealer))
    } catch {
      claim.head.close()
      throw error
    }
  }

  /// What a writer finds in a store whose lock it holds. Finding it changed nothing.
  struct Found {
    var chain: SegmentChain
    var active: SegmentHandle
    var head: HeadSlot?
    var assessment: TailAssessment
    /// Whether no earlier writer can write to the active segment, even one that was stopped and resumes.
    var isSettled = true

    /// Closed segments that were never rewritten.
    var unsealed: [SegmentName] { chain.headers.dropLast().filter { !$0.isRewritten }.map(\.segment) }

    /// The torn tail; nil if there is none.
    var recovery: TailRecovery? {
      let byteCount = assessment.tornBytes
      guard byteCount > 0 else { return nil }
      return TailRecovery(
        file: active.header.segment.path, offset: assessment.link.offset, byteCount: byteCount)
    }

    var logBegin: UInt64 { chain.headers.first?.firstSequence ?? active.header.firstSequence }

    /// The visible end, all of it on disk.
    var mark: VisibleMark {
      let link = assessment.link
      return VisibleMark(
        segment: active.header.segment, revision: active.header.revision, visible: link.mark,
        durable: link.mark, time: link.lastTime, appends: link.appends, logBegin: logBegin)
    }
  }

  /// Assesses a store for its next writer. The resulting active segment is a file that no earlier writer has open for
  /// writing.
  ///
  /// - Parameter isNew: whether this writer has just created the store.
  static func assess(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ lock: StoreLock, isNew: Bool = false
  ) throws(StoreError) -> Found {
    let (names, head) = try (
      SegmentCatalog.names(fileSystem, layout), HeadFile.read(fileSystem, path: layout.head)
    )
    let chain = try SegmentChain(fileSystem, layout, names: names, head: head)
    if let feature = chain.readOnlyFeature {
      throw .unsupported(
        StoreFinding(
          .unsupported, file: names[0].path, offset: 0, first: names[0].firstSequence,
          last: names[0].lastBefore, what: feature))
    }
    guard let last = names.last else {
      throw .damaged(
        StoreFinding(
          .missing, file: (head?.segment ?? 1).path, offset: 0, first: 1,
          last: head?.durable.sequence ?? 0, what: "HEAD names a segment, but there is none"))
    }
    let active = try SegmentHandle.open(
      fileSystem, layout, first: last, storeID: chain.storeID, mode: .readWrite)
    // A writer that closed cleanly writes nothing more, and neither does one that has ended.
    let isEnded =
      isNew || (head?.isClean == true && head?.segment == last)
      || head.map { lock.isSettled($0.epoch) } ?? false
    if !isEnded, let found = try assessDetached(active, chain, head, fileSystem, layout, lock) {
      return found
    }
    let assessment = try TailRule.assessActive(active, head: head, isWriter: true)
    try cutExtension(of: active, head)
    return Found(chain: chain, active: active, head: head, assessment: assessment, isSettled: isEnded)
  }

  /// Cuts off what an unfinished backup has added to the active segment. This writer's HEAD would not say any longer that
  /// it does not count.
  private static func cutExtension(of active: SegmentHandle, _ head: HeadSlot?) throws(StoreError) {
    let size = UInt64(try active.file.size())
    guard let length = head?.length(of: active.header, fileSize: size), length < size else { return }
    try active.file.truncate(to: Int64(clamping: length))
    try active.file.sync()
  }

  /// Assesses a copy of the active segment, and gives it the segment's name if there is no finding. Nil if there is no
  /// room for a copy.
  private static func assessDetached(
    _ active: SegmentHandle, _ chain: SegmentChain, _ head: HeadSlot?, _ fileSystem: any FileSystem,
    _ layout: StoreLayout, _ lock: StoreLock
  ) throws(StoreError) -> Found? {
    let path = layout.segment(active.header.segment)
    let copied = try SegmentFiles.detach(active, head, fileSystem, layout, lock)
    guard let copied else { return nil }
    let copy = SegmentHandle(header: active.header, file: copied)
    do throws(StoreError) {
      let assessment = try TailRule.assessActive(copy, head: head, isWriter: true)
      try lock.check()
      try fileSystem.rename(copied.path, to: path)
      try fileSystem.syncDirectory(layout.log)
      let named = SegmentHandle(
        header: active.header, file: try SegmentFiles.reopen(path, copied.identity, fileSystem))
      named.adopt(copy.places, end: assessment.link.offset)
      return Found(chain: chain, active: named, head: head, assessment: assessment)
    } catch {
      try? fileSystem.remove(copied.path)
      throw error
    }
  }

  /// What a holder of the lock needs to be the writer.
  struct Claim {
    var head: HeadFile
    var epoch: UInt64
    /// Whether an erasure may be unfinished.
    var isErasing: Bool
  }

  /// The epoch of the writer that creates a store: that of its first segment is lower by one.
  package static let firstEpoch: UInt64 = 2

  /// Claims a store for this writer: a new epoch, and a HEAD on disk that records it.
  static func claim(
    _ found: Found, _ fileSystem: any FileSystem, _ layout: StoreLayout, _ options: StoreOptions,
    _ lock: StoreLock
  ) throws(StoreError) -> Claim {
    let link = found.assessment.link
    let epochs = found.chain.headers.map(\.epoch) + [found.head?.epoch ?? 0, link.epoch]
    let generation = found.head?.generation ?? 0
    guard let last = epochs.max(), last < .max, generation < HeadSlot.generationLimit else {
      throw .damaged(
        StoreFinding(
          .stale, file: StoreLayout.headName, offset: 0, first: link.nextSequence, last: link.lastSequence,
          what: "the epochs or generations of writers are used up"))
    }
    let epoch = last + 1
    // Without a HEAD, the log has to be searched.
    let isErasing = found.head?.isErasing ?? (link.nextSequence > 1)
    // A process that was killed during a roll, or during the creation, may have left the active segment with a name
    // that is not on disk. HEAD is about to name it, so a power cut must not lose it after that.
    try fileSystem.syncDirectory(layout.log)
    let file = try HeadFile.replace(
      fileSystem, layout, lock,
      with: HeadSlot(
        storeID: found.chain.storeID, generation: 0, segment: found.active.header.segment,
        epoch: epoch, isClean: false, durability: options.durability.rawValue, visible: link.mark,
        durable: link.mark, lastTime: link.lastTime, logBegin: found.logBegin, isErasing: isErasing))
    try fileSystem.syncDirectory(layout.root)
    assert(file.slot?.epoch == epoch && file.slot?.isClean == false, "HEAD names the writer before it writes")
    if found.isSettled { lock.settle(epoch) }
    return Claim(head: file, epoch: epoch, isErasing: isErasing)
  }

  /// Creates the first segment of a new store. HEAD follows when the store is opened.
  private static func create(
    _ fileSystem: any FileSystem, _ layout: StoreLayout, _ options: StoreOptions, _ lock: StoreLock,
    storeID: StoreID
  ) throws(StoreError) {
    do throws(StoreError) {
      // A creation may be completed by another process than the one that created the folder.
      try fileSystem.syncDirectory(layout.parent)
      try fileSystem.syncDirectory(layout.root)
      let header = SegmentHeader(storeID: storeID, firstSequence: 1, epoch: 1, created: options.clock.now())
      let handle = try SegmentFiles.create(header, fileSystem, layout, lock)
      withExtendedLifetime(handle) {}
    } catch {
      if case .full = error { throw .full(path: layout.root) }
      throw error.reason == .system ? error.asCreation(of: layout.root) : error
    }
  }
}
