// Faults 28 to 31: other writers, and readers and checks beside a writer at work, on the machine's file system.

import Foundation
import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct NeighbourFaultTests {
  private let folder: TemporaryFolder
  private var path: String { folder.file("store") }
  private let posix = PosixFileSystem()

  init() throws { folder = try TemporaryFolder() }

  private static func options(_ durability: Durability = .buffered) -> StoreOptions {
    FaultStore.options(durability, segmentSizeTarget: 20_000) {
      $0.headSyncInterval = .milliseconds(5)
      $0.writesInStep = false
      $0.sealsInBackground = true
      $0.preallocationStep = 8_192
    }
  }

  /// Opens, appends and closes on a thread of its own, several times over, and meanwhile calls the body again and
  /// again with what had been acknowledged before the call and what was handed over by its end.
  private func besideWriter(
    lives: Int = 3, appends: Int = 150, _ body: (_ acknowledged: Int, _ made: () -> LogModel) throws -> Void
  ) throws {
    // There is a store from the first look on.
    try Log.openWriter(posix, path: path, options: Self.options()).close()
    let progress = Lock((model: LogModel(), acknowledged: 0, isDone: false, failure: String?.none))
    let seed = SeededGenerator.testSeed()
    let writer = try DedicatedThread(name: "strata-writer") { [path, posix] in
      var source = RandomAppends(seed: seed, sizeTypical: 300, sizeMax: 3_000)
      do {
        for life in 0..<lives {
          let log = try Log.openWriter(
            posix, path: path, options: Self.options(Durability.allCases[life % Durability.allCases.count]))
          for _ in 0..<appends {
            let append = source.append()
            progress.withLock { $0.model.add(append, time: nil) }
            _ = try log.appendBlocking(append.draft())
            progress.withLock { $0.acknowledged += 1 }
          }
          try log.close()
        }
      } catch {
        progress.withLock { $0.failure = "\(error)" }
      }
      progress.withLock { $0.isDone = true }
    }
    while true {
      let (acknowledged, isDone) = progress.withLock { ($0.acknowledged, $0.isDone) }
      try body(acknowledged) { progress.withLock { $0.model } }
      if isDone { break }
    }
    writer.join()
    let failure = progress.withLock { $0.failure }
    #expect(failure == nil)
  }

  @Test func `fault 28: a second writer is told that the store is locked, and changes nothing of it`() throws
  {
    let log = try Log.openWriter(posix, path: path, options: Self.options(.synced))
    _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: "t")]).draft())
    let files = try contents()
    for _ in 0..<3 {
      do throws(StoreError) {
        try Log.openWriter(posix, path: path, options: Self.options()).close()
        Issue.record("there are two writers")
      } catch {
        guard case .locked(_, let holder) = error else { throw error }
        #expect(holder?.hasPrefix("process \(processID()) since 20") == true)
      }
      #expect(try contents() == files)
      // A reader takes no lock, and gives none away.
      try Log.openReader(posix, path: path, options: Self.options()).close()
    }
    try log.close()
    try Log.openWriter(posix, path: path, options: Self.options()).close()
  }

  @Test func `fault 28: a writer whose LOCK was removed or replaced writes nothing more, not even HEAD`()
    throws
  {
    for isReplaced in [true, false] {
      let log = try Log.openWriter(posix, path: path, options: Self.options(.synced))
      let append = ModelAppend([ModelEvent(stream: "s", type: "t")])
      _ = try log.appendBlocking(append.draft())
      try posix.remove("\(path)/LOCK")
      if isReplaced { try posix.put("", at: "\(path)/LOCK").close() }
      let files = try contents()
      for _ in 0..<2 {
        do throws(StoreError) {
          _ = try log.appendBlocking(append.draft())
          Issue.record("the writer goes on")
        } catch { guard error.reason == .poisoned else { throw error } }
      }
      #expect(throws: StoreError.self) { try log.close() }
      #expect(try contents() == files)
    }
  }

  /// HEAD and the segments.
  private func contents() throws -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in ["HEAD"] + (try posix.contents(ofDirectory: "\(path)/log")).map({ "log/\($0)" }) {
      files[name] = try posix.open("\(path)/\(name)", .read).bytes()
    }
    return files
  }

  @Test func `fault 29: who reads beside a writer sees what was acknowledged, a prefix, and never an error`()
    throws
  {
    var (looks, last, growths) = (0, 0, 0)
    try besideWriter { acknowledged, made in
      let reader = try Log.openReader(posix, path: path, options: Self.options())
      defer { try? reader.close() }
      let found = try reader.modelAppends()
      let difference = made().difference(from: reader, holding: found, countMin: acknowledged)
      #expect(difference == nil, "look \(looks)")
      if found.count > last { growths += 1 }
      #expect(found.count >= last, "look \(looks): the log became shorter")
      last = found.count
      looks += 1
    }
    #expect(last == 450 && growths > 5, "\(looks) looks")
  }

  @Test func `fault 30: a check beside a writer that opens, rolls and closes finds nothing`() throws {
    var (checks, events) = (0, UInt64(0))
    try besideWriter { _, _ in
      var verifier = LogVerifier(posix, path: path)
      let report = try verifier.run()
      #expect(report.findings == [], "check \(checks)")
      #expect(report.end.sequence >= events, "check \(checks)")
      events = report.end.sequence
      checks += 1
    }
    #expect(checks > 5 && events > 400)
  }

  @Test func `fault 31: who follows a writer across rolls and lives gets every append once, in order`() throws
  {
    try Log.openWriter(posix, path: path, options: Self.options()).close()
    let reader = try Log.openReader(posix, path: path, options: Self.options())
    try reader.follow()
    var next: UInt64 = 1
    var model = LogModel()
    var cursor = reader.cursor(after: 0)
    func drain() throws {
      while let block = try cursor.next() {
        #expect(block.header.firstSequence == next, "a gap or a repetition")
        next = block.header.nextSequence
      }
    }
    try besideWriter { _, made in
      model = made()
      // A reader that looks again sees what the thread that follows has moved to.
      try drain()
    }
    let deadline = MonotonicTime.now().advanced(by: .seconds(10))
    while next <= model.head, MonotonicTime.now() < deadline {
      try drain()
      pauseThread(nanoseconds: 1_000_000)
    }
    #expect(next == model.head + 1)
    try reader.close()
  }

  @Test func `fault 31: a position that was trimmed is an error with the first sequence that is there`()
    throws
  {
    let store = try FaultStore(SimulatedDisk(), FaultStore.options(segmentSizeTarget: 5_000))
    try store.append(14)
    try store.close()
    let names = try SegmentCatalog.names(store.disk, FaultStore.layout)
    let begin = names[1].firstSequence
    // As a trim leaves it: the first segment is gone, and HEAD says that the log begins later.
    store.disk.delete(FaultStore.layout.segment(1))
    FaultStore.expectCorrupt(store.disk, store.options, "without HEAD's word it is a loss")
    var head = try #require(try HeadFile.read(store.disk, path: FaultStore.layout.head))
    head.logBegin = begin
    var bytes = store.disk.contents(FaultStore.layout.head)!
    for offset in HeadSlot.offsets {
      bytes.replaceSubrange(offset..<offset + HeadSlot.length, with: head.encoded())
    }
    store.disk.replace(FaultStore.layout.head, bytes)
    for isWriter in [false, true] {
      let log =
        isWriter
        ? try Log.openWriter(store.disk, path: FaultStore.root, options: store.options)
        : try Log.openReader(store.disk, path: FaultStore.root, options: store.options)
      for position in 0..<begin - 1 {
        var cursor = log.cursor(after: position)
        do throws(StoreError) {
          _ = try cursor.next()
          Issue.record("something older is delivered after \(position)")
        } catch { #expect(error == .trimmed(firstAvailable: begin), "after \(position)") }
      }
      #expect(try log.modelAppends(after: begin - 1).first?.append.first == begin)
      try log.close()
    }
  }

  @Test
  func `fault 30: a group that is written in part just now is no finding, and the check ends before it`()
    throws
  {
    let store = try FaultStore()
    try store.append(2)
    let segment = store.active
    let seen = Lock<[VerifyReport?]>([])
    store.disk.onOperation { [disk = store.disk] call in
      guard call.operation == .syncData, call.path == segment else { return .proceed }
      // Nine bytes of the group are not there yet.
      let bytes = disk.contents(segment)!
      disk.replace(segment, Array(bytes.dropLast(9)))
      var verifier = LogVerifier(disk, path: FaultStore.root)
      let report = try? verifier.run()
      disk.replace(segment, bytes)
      seen.withLock { $0.append(report) }
      return .proceed
    }
    try store.append(3)
    store.disk.onOperation(nil)
    let reports = seen.withLock { $0 }
    #expect(reports.count == 3)
    for (number, report) in reports.enumerated() {
      #expect(report?.findings == [], "check \(number)")
      #expect(report?.end.sequence == store.model.appends[number + 1].last, "check \(number)")
    }
    try store.close()
  }

  @Test func `fault 33: a cursor in the future gets nothing until its event is there, and then no older one`()
    throws
  {
    let store = try FaultStore()
    try store.append(3)
    let future = store.model.head + 4
    var cursor = store.log.cursor(after: future - 1)
    var found: DecodedBlock?
    while store.model.head < future {
      let early = try cursor.next()
      #expect(early == nil, "it is told of something older at \(store.model.head)")
      try store.append()
    }
    found = try cursor.next()
    let block = try #require(found)
    #expect(block.header.firstSequence <= future && future < block.header.nextSequence)
    try store.close()
  }
}
