// Readers beside writers that roll, rewrite, lose what was buffered, and open and close while somebody looks.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct ReaderTests {
  private static let path = "/store"
  private static let layout = StoreLayout(root: path)

  private static func options(_ durability: Durability = .synced, segmentSize: Int = 1) -> StoreOptions {
    .still(durability, segmentSize: segmentSize)
  }

  private func append(_ log: Log, _ type: String) throws {
    _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: type)]).draft())
  }

  private func types(_ log: Log) throws -> [String] {
    try log.modelAppends().map { $0.append.events[0].type }
  }

  @Test
  func `fault 101: a thread that the system does not give ends the waits of all who left it to one call`()
    async throws
  {
    let disk = SimulatedDisk()
    let writer = try Log.openWriter(disk, path: Self.path, options: Self.options())
    let door = Gate((isStarting: false, mayFail: false))
    var options = Self.options()
    options.machine = StoreMachine(
      threads: ThreadStarter { (name, _) throws(FileSystemError) in
        door.withLock { $0.isStarting = true }
        door.signalAll()
        door.wait { $0.mayFail }
        throw FileSystemError("start thread", name, code: SystemErrorCode.inputOutput)
      })
    let reader = try Log.openReader(disk, path: Self.path, options: options)
    let failure = Lock<StoreError?>(nil)
    let first = try DedicatedThread(name: "first") {
      do throws(StoreError) { try reader.follow() } catch { failure.withLock { $0 = error } }
    }
    door.wait { $0.isStarting }
    try reader.follow()
    let second = Task { await reader.tail.wait(beyond: reader.mark.sequence) }
    while !reader.tail.hasWaiters { await Task.yield() }
    door.withLock { $0.mayFail = true }
    door.signalAll()
    first.join()
    await second.value
    #expect(failure.withLock { $0 } != nil && reader.tail.end != nil)
    try reader.close()
    try writer.close()
  }

  // MARK: Segments that are made while a folder is listed

  /// A store with a segment for each append, and a file system whose listings of `log/`, while it is armed, have the
  /// second of two segments that come while they are made, and not the first.
  private struct GappedListings {
    let memory = MemoryFileSystem()
    let isArmed = Lock(false)
    let writer = Lock<Log?>(nil)
    var hooked: HookedFileSystem

    init() throws {
      hooked = HookedFileSystem(base: memory) { _ in }
      let (memory, isArmed, writer) = (memory, isArmed, writer)
      try Self.append(to: writer, memory, 1)
      hooked.list = { path throws(StoreError) in
        let before = try memory.contents(ofDirectory: path)
        guard path == ReaderTests.layout.log, isArmed.withLock({ $0 }) else { return before }
        do { try Self.append(to: writer, memory, 2) } catch { Issue.record("\(error)") }
        let after = try memory.contents(ofDirectory: path)
        let first = after.first { !before.contains($0) }
        return after.filter { $0 != first }
      }
    }

    /// Opens the store for writing where it is not.
    static func append(to writer: Lock<Log?>, _ memory: MemoryFileSystem, _ count: Int) throws {
      let log =
        try writer.withLock { $0 }
        ?? Log.openWriter(memory, path: ReaderTests.path, options: ReaderTests.options())
      writer.withLock { $0 = log }
      for _ in 0..<count {
        _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: "t")]).draft())
      }
    }

    func append() throws { try Self.append(to: writer, memory, 1) }
    func close() throws { try writer.withLock { $0.take() }?.close() }
  }

  @Test(arguments: ["followed", "opened", "reopened"])
  func `a segment that comes while the folder is listed is never left out before a later one`(
    _ moment: String
  ) throws {
    let store = try GappedListings()
    if moment == "opened" { store.isArmed.withLock { $0 = true } }
    let reader = try Log.openReader(store.hooked, path: Self.path, options: Self.options())
    if moment == "followed" { try store.append() }
    if moment == "reopened" { try store.close() }
    store.isArmed.withLock { $0 = true }
    try reader.refresh()
    store.isArmed.withLock { $0 = false }
    try reader.refresh()
    let written = try #require(store.writer.withLock { $0 })
    #expect(reader.mark.sequence == written.mark.sequence && reader.mark.sequence > 2)
    #expect(try types(reader) == types(written))
    for sequence in 1...reader.mark.sequence {
      var cursor = reader.cursor(after: sequence - 1)
      #expect(try cursor.next()?.header.firstSequence == sequence)
    }
    try reader.close()
    try store.close()
  }

  // MARK: Segments that are rewritten

  /// A writer, and a file system for its readers on which the active segment is closed and rewritten right before
  /// its file is opened for the n-th time.
  private func rolling(
    at number: Int, more: Bool = true
  ) throws -> (MemoryFileSystem, Log, HookedFileSystem, Lock<Int>) {
    let memory = MemoryFileSystem()
    let log = try Log.openWriter(memory, path: Self.path, options: Self.options(segmentSize: 5_000))
    for number in 0..<5 { try append(log, "\(number)") }
    let active = log.mark.segment
    let opens = Lock(0)
    let hooked = HookedFileSystem(base: memory) { path in
      guard path == Self.layout.segment(active) else { return }
      let isDue = opens.withLock { opens in
        opens += 1
        return opens == number
      }
      guard isDue else { return }
      do {
        while log.mark.segment == active {
          _ = try log.appendBlocking(
            ModelAppend([ModelEvent(stream: "s", type: "more", payload: [UInt8](repeating: 1, count: 900))])
              .draft())
        }
        try forgeRewrite(memory, Self.layout, first: active)
      } catch { Issue.record("\(error)") }
    }
    return (memory, log, hooked, opens)
  }

  @Test func `a reader never uses HEAD's offset in a segment that was rewritten before it was opened`() throws
  {
    var reached = 0
    for number in 1...6 {
      let (_, log, hooked, opens) = try rolling(at: number)
      let reader = try Log.openReader(hooked, path: Self.path, options: Self.options())
      let seen = try types(reader)
      #expect(seen.prefix(5) == ["0", "1", "2", "3", "4"], "open \(number)")
      try reader.refresh()
      #expect(try types(reader) == types(log), "open \(number)")
      #expect(reader.mark.visible == log.mark.visible && reader.mark.appends == log.mark.appends)
      if opens.withLock({ $0 }) >= number { reached += 1 }
      try reader.close()
      try log.close()
    }
    #expect(reached >= 2, "the segment was not rewritten in between")
  }

  @Test func `a cursor whose segment is rewritten before it is opened again goes on`() throws {
    let (memory, log, _, _) = try rolling(at: 99)
    let reader = try Log.openReader(memory, path: Self.path, options: Self.options())
    // As a reader whose handle was dropped: the mark is in a segment that is closed and rewritten by now.
    let mark = reader.mark
    while log.mark.segment == mark.segment { try append(log, String(repeating: "x", count: 200)) }
    try forgeRewrite(memory, Self.layout, first: mark.segment)
    let names = try SegmentCatalog.names(memory, Self.layout)
    let catalog = SegmentCatalog(
      fileSystem: memory, layout: Self.layout, storeID: reader.storeID, names: names)
    for after in 0..<UInt64(5) {
      var cursor = LogCursor(LogSource(catalog: catalog, tail: VisibleTail(mark)), after: after)
      while cursor.nextSequence <= mark.sequence {
        let block = try #require(try cursor.next())
        try block.verifyContent()
      }
    }
    try reader.close()
    try log.close()
  }

  @Test func `a check beside a writer looks again where the segment that HEAD named was rewritten`() throws {
    let (_, log, hooked, opens) = try rolling(at: 1)
    var verifier = LogVerifier(hooked, path: Self.path)
    let report = try verifier.run()
    #expect(report.findings == [])
    // Its header before the rewrite and after it, and then its blocks.
    #expect(opens.withLock { $0 } == 3)
    #expect(
      report.end.sequence == log.mark.sequence, "the check is bounded by a HEAD that names a live segment")
    try log.close()
  }

  @Test
  func `a HEAD that goes on naming a rewritten segment with another end is an error and no endless wait`()
    throws
  {
    let memory = MemoryFileSystem()
    let log = try Log.openWriter(memory, path: Self.path, options: Self.options(segmentSize: 5_000))
    for number in 0..<3 { try append(log, "\(number)") }
    try log.close()
    var head = try #require(try HeadFile.read(memory, path: Self.layout.head))
    try forgeRewrite(memory, Self.layout, first: 1)
    let lock = try memory.open(Self.layout.lock, .readWrite)
    #expect(try lock.tryLock(.exclusive))
    #expect(throws: StoreError.damaged(head.finding)) {
      try Log.openReader(memory, path: Self.path, options: Self.options())
    }
    #expect(try memory.findings(inStore: Self.path) == [head.finding])
    // With the end of the rewritten file it is the HEAD of a writer that found the segment so.
    let header = try SegmentHandle.open(memory, Self.layout, first: 1, storeID: nil).header
    head.visible = LogMark(
      offset: header.rewrittenEnd, sequence: header.rewrittenLast, chain: header.rewrittenChain)
    head.durable = head.visible
    let file = try memory.open(Self.layout.head, .readWrite)
    for offset in HeadSlot.offsets { try file.write(head.encoded(), at: Int64(offset)) }
    let reader = try Log.openReader(memory, path: Self.path, options: Self.options())
    #expect(try types(reader) == ["0", "1", "2"])
    #expect(try memory.findings(inStore: Self.path) == [])
    lock.close()
  }

  // MARK: Other histories

  @Test
  func
    `a reader that saw what a failed sync lost is told that the log diverged, however far the next writer is`()
    throws
  {
    for more in [0, 1, 3, 12] {
      let disk = SimulatedDisk()
      let options = Self.options(.buffered, segmentSize: 1 << 20)
      var log = try Log.openWriter(disk, path: Self.path, options: options)
      try append(log, "kept")
      try log.close()
      log = try Log.openWriter(disk, path: Self.path, options: options)
      for number in 0..<3 { try append(log, "lost \(number)") }
      let reader = try Log.openReader(disk, path: Self.path, options: options)
      #expect(reader.mark.sequence == 4)
      // The sync of the close fails, and what it should have written is gone.
      disk.inject(SimulatedSyncFailure(keepsData: false, isReported: true))
      #expect(throws: StoreError.self) { try log.close() }
      let next = try Log.openWriter(disk, path: Self.path, options: options)
      #expect(next.mark.sequence == 1)
      for number in 0..<more { try append(next, "other \(number)") }
      if more < 12 { try next.close() }
      // Having said so once makes it no less so.
      for _ in 0..<2 {
        #expect(throws: StoreError.self, "\(more) appended") { try reader.refresh() }
      }
      guard reader.tail.end == .diverged(sequence: 4) else {
        Issue.record("\(more) appended: the reader ends with \(String(describing: reader.tail.end))")
        continue
      }
      if more == 12 { try next.close() }
      try reader.close()
    }
  }

  @Test func `another writer that goes on with the same log is no other history`() throws {
    let memory = MemoryFileSystem()
    let reader: Log
    do {
      let log = try Log.openWriter(memory, path: Self.path, options: Self.options())
      for number in 0..<3 { try append(log, "\(number)") }
      reader = try Log.openReader(memory, path: Self.path, options: Self.options())
      try log.close()
    }
    for round in 1...4 {
      let log = try Log.openWriter(memory, path: Self.path, options: Self.options())
      try append(log, "again")
      if round % 2 == 0 { try log.close() }
      try reader.refresh()
      #expect(reader.mark.sequence == 3 + UInt64(round))
      if round % 2 == 1 { try log.close() }
      try forgeRewrite(memory, Self.layout, first: SegmentName(UInt64(round)))
    }
    #expect(try types(reader).count == 7)
    try reader.close()
  }

  // MARK: When to look

  @Test func `a look waits longer while nothing is new, and longest where notices prove right`() {
    var pace = LookPace(hasNotices: true)
    #expect(pace.timeout == LookPace.pauseMin, "no notice was seen yet")
    for _ in 0..<10 { pace.looked(isNew: false, wasTold: false) }
    #expect(pace.timeout == LookPace.pauseMax)
    pace.looked(isNew: true, wasTold: true)
    #expect(pace.timeout == LookPace.toldPauseMax)
    pace.looked(isNew: false, wasTold: false)
    #expect(pace.timeout == LookPace.toldPauseMax)
    pace.looked(isNew: true, wasTold: false)
    #expect(pace.timeout == LookPace.pauseMin, "something was new, and nothing had been told")
    pace.looked(isNew: true, wasTold: true)
    pace.hasNotices = false
    #expect(pace.timeout == LookPace.pauseMin)
  }

  @Test
  func `fault 42: a follower that could not look goes on once somebody follows again`() async throws {
    let disk = SimulatedDisk()
    let log = try Log.openWriter(disk, path: Self.path, options: Self.options(segmentSize: 1_000_000))
    try append(log, "0")
    let reader = try Log.openReader(disk, path: Self.path, options: Self.options())
    for number in 1...5 {
      try reader.follow()
      try append(log, "\(number)")
      while reader.mark.sequence < log.mark.sequence { await reader.tail.wait(beyond: reader.mark.sequence) }
      // The process has no descriptors left, for as long as it takes to be noticed.
      disk.inject(SimulatedFailure(of: [.open, .read, .size, .kind], code: 24, isLasting: true))
      await reader.tail.wait(beyond: reader.mark.sequence)
      guard reader.tail.end?.reason == .system else {
        Issue.record("\(reader.tail.end as Any)")
        break
      }
      disk.clearFailures()
    }
    try reader.follow()
    #expect(reader.tail.end == nil)
    try append(log, "6")
    while reader.mark.sequence < log.mark.sequence { await reader.tail.wait(beyond: reader.mark.sequence) }
    #expect(try types(reader).count == 7)
    try reader.close()
    // What is over for good stays so.
    #expect(reader.tail.end == .closed)
    try? reader.follow()
    #expect(reader.tail.end == .closed)
    try log.close()
  }

  @Test
  func `a reader that is opened while a writer comes shows nothing that is not acknowledged`() throws {
    let disk = SimulatedDisk()
    let first = try Log.openWriter(disk, path: Self.path, options: Self.options(segmentSize: 1 << 20))
    try append(first, "0")
    // The process ends without a close.
    let store = disk.clone()
    let moment = Gate((isSyncing: false, goesOn: false, isDone: false))
    let hasLooked = Lock(false)
    let writer = Lock<Log?>(nil)
    let appending = Lock<DedicatedThread?>(nil)
    // The reader has found that there is no writer. As it opens the segment, somebody opens the store and appends, and
    // the sync of that takes its time.
    let hooked = HookedFileSystem(base: store) { path in
      if path == Self.layout.lock { hasLooked.withLock { $0 = true } }
      guard path == Self.layout.segment(1), hasLooked.withLock({ $0 }), writer.withLock({ $0 == nil }) else {
        return
      }
      do {
        let log = try Log.openWriter(store, path: Self.path, options: Self.options(segmentSize: 1 << 20))
        writer.withLock { $0 = log }
        store.onOperation { call in
          guard call.operation == .syncData else { return .proceed }
          moment.withLock { $0.isSyncing = true }
          moment.signalAll()
          moment.wait { $0.goesOn }
          return .proceed
        }
        let thread = try DedicatedThread(name: "append") {
          _ = try? log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: "1")]).draft())
          moment.withLock { $0.isDone = true }
          moment.signalAll()
        }
        appending.withLock { $0 = thread }
        moment.wait { $0.isSyncing }
      } catch { Issue.record("\(error)") }
    }
    let reader = try Log.openReader(hooked, path: Self.path, options: Self.options())
    #expect(writer.withLock { $0 != nil }, "nobody came")
    #expect(reader.mark.sequence == 1, "the second is not acknowledged")
    moment.withLock { $0.goesOn = true }
    moment.signalAll()
    moment.wait { $0.isDone }
    store.onOperation(nil)
    try reader.refresh()
    #expect(reader.mark.sequence == 2)
    appending.withLock { $0.take() }?.join()
    try reader.close()
    try writer.withLock { $0.take() }?.close()
    try first.close()
  }

  @Test
  func `a reader waits for a writer that has not looked through what a power cut left`() throws {
    let disk = SimulatedDisk()
    let log = try Log.openWriter(
      disk, path: Self.path, options: Self.options(.buffered, segmentSize: 1 << 20))
    try append(log, "0")
    // The writer before had only buffered what its HEAD, which reached the disk, says is visible.
    let path = Self.layout.head
    let right = try #require(disk.contents(path))
    var slot = try #require(try HeadFile.read(disk, path: path))
    slot.generation += 1
    slot.visible.offset += 4096
    slot.visible.sequence += 9
    var wrong = right
    wrong.replaceSubrange(HeadSlot.offsets[0]..<HeadSlot.offsets[0] + HeadSlot.length, with: slot.encoded())
    disk.replace(path, wrong)
    let thread = try DedicatedThread(name: "recovers") {
      pauseThread(nanoseconds: 10_000_000)
      disk.replace(path, right)
    }
    let reader = try Log.openReader(disk, path: Self.path, options: Self.options())
    #expect(reader.mark.sequence == 1)
    thread.join()
    // What stays wrong is an error, after a while.
    disk.replace(path, wrong)
    #expect(throws: StoreError.self) { try Log.openReader(disk, path: Self.path, options: Self.options()) }
    disk.replace(path, right)
    try reader.close()
    try log.close()
  }

  @Test
  func `a follower goes on where the file system promises notices and tells none`() async throws {
    let memory = MemoryFileSystem()
    let silent = SilentFileSystem(base: memory)
    let log = try Log.openWriter(memory, path: Self.path, options: Self.options())
    let reader = try Log.openReader(silent, path: Self.path, options: Self.options())
    try reader.follow()
    for number in 0..<20 {
      try append(log, "\(number)")
      while reader.mark.sequence < log.mark.sequence {
        await reader.tail.wait(beyond: reader.mark.sequence)
      }
    }
    #expect(try types(reader).count == 20)
    try log.close()
    try reader.close()
  }
}

extension HeadSlot {
  /// What is said of a HEAD whose segment was rewritten.
  fileprivate var finding: StoreFinding {
    StoreFinding(
      .stale, file: "HEAD", offset: 0, first: segment.firstSequence, last: visible.sequence,
      what: "HEAD names a segment that was rewritten and has another end now")
  }
}
