// Stores that are given out of hand and taken back: by the object that has them, with others in between.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct SuspendTests {
  private static let path = "/store"
  private static let layout = StoreLayout(root: path)

  private static func options(
    _ durability: Durability = .synced, segmentSize: Int = 5_000
  ) -> StoreOptions {
    .still(durability, segmentSize: segmentSize, blockSize: 300)
  }

  private func writer(_ fileSystem: any FileSystem, _ options: StoreOptions = options()) throws -> Log {
    try Log.openWriter(fileSystem, path: Self.path, options: options)
  }

  @discardableResult
  private func append(_ log: Log, _ model: inout LogModel, _ source: inout RandomAppends) throws
    -> AppendOutcome
  {
    let append = source.append()
    let outcome = try log.appendBlocking(append.draft())
    model.add(append, time: outcome.time)
    return outcome
  }

  @Test(arguments: Durability.allCases)
  func `a suspended store is on the disk, closed cleanly, and anybody may have it`(durability: Durability)
    throws
  {
    let disk = SimulatedDisk()
    var model = LogModel()
    var source = RandomAppends(seed: 1, sizeTypical: 200, sizeMax: 900)
    let log = try writer(disk, Self.options(durability))
    for _ in 0..<20 { try append(log, &model, &source) }
    try log.suspend()
    let cut = disk.crash(seed: 1, model: .dropAll)
    #expect(try HeadFile.read(cut, path: Self.layout.head)?.isClean == true)
    let reader = try Log.openReader(cut, path: Self.path, options: Self.options())
    #expect(model.difference(from: reader, countMin: 20) == nil)
    #expect(model.difference(from: log, countMin: 20) == nil, "reading goes on")
    #expect(log.tail.end == nil, "whoever waits goes on waiting")
    try writer(disk).close()
    try log.suspend()
    try log.resume()
    try append(log, &model, &source)
    #expect(model.difference(from: log, countMin: 21) == nil)
    try log.close()
  }

  @Test(arguments: 1...4)
  func `what another writer appended in between is there after the resume, in order and in every index`(
    segments: Int
  ) throws {
    let memory = MemoryFileSystem()
    var model = LogModel()
    var source = RandomAppends(seed: UInt64(segments), sizeTypical: 200, sizeMax: 900, streamCount: 5)
    let log = try writer(memory)
    for _ in 0..<9 { try append(log, &model, &source) }
    var behind = log.cursor(after: 0)
    _ = try behind.next()
    for round in 0..<3 {
      try log.suspend()
      let other = try writer(memory)
      #expect {
        try log.resume()
      } throws: { error in
        guard case StoreError.locked(Self.path, let holder?) = error else { return false }
        return holder.hasPrefix("process \(processID()) since ")
      }
      let last = other.mark.segment
      while try SegmentCatalog.names(memory, Self.layout).filter({ $0 > last }).count < segments - 1 {
        try append(other, &model, &source)
      }
      try append(other, &model, &source)
      #expect(throws: StoreError.suspended) { try log.appendBlocking(source.append().draft()) }
      try other.close()
      if round == 1 { try forgeRewrite(memory, Self.layout, first: 1) }
      try log.resume()
      #expect(model.difference(from: log, countMin: model.appends.count) == nil)
      for (stream, places) in model.streams {
        #expect(try log.index.revision(of: Array(stream.utf8)) == UInt64(places.count), "\(stream)")
        let parts = try log.index.parts(of: Array(stream.utf8), after: 0)
        #expect(parts.flatMap(\.sequences) == places)
      }
      for (id, place) in model.ids {
        #expect(try log.index.first(ofID: Array(id.utf8)) == model.appends[place].first)
      }
      for _ in 0..<3 { try append(log, &model, &source) }
    }
    var seen = behind.nextSequence - 1
    while let block = try behind.next() {
      #expect(block.header.firstSequence == seen + 1)
      seen = block.header.nextSequence - 1
    }
    #expect(seen == model.head)
    try log.close()
    #expect(try memory.findings(inStore: Self.path) == [])
  }

  @Test func `a store that is closed while it is suspended is closed`() throws {
    let memory = MemoryFileSystem()
    let log = try writer(memory)
    try log.suspend()
    try log.close()
    #expect(log.tail.end == .closed)
    let draft = ModelAppend([ModelEvent(stream: "s", type: "t")]).draft()
    #expect(throws: StoreError.closed) { try log.appendBlocking(draft) }
    #expect(throws: StoreError.closed) { try log.resume() }
    #expect(throws: StoreError.closed) { try log.suspend() }
    try writer(memory).close()
  }

  @Test
  func `appends from many threads are in the log or were refused, whenever it is suspended`() async throws {
    let memory = MemoryFileSystem()
    let log = try writer(memory, Self.options(segmentSize: 20_000))
    let isDone = Lock(false)
    let accepted = Lock<[String]>([])
    let threads = try (0..<4).map { thread in
      try DedicatedThread(name: "appends") {
        var number = 0
        while !isDone.withLock({ $0 }) {
          let type = "\(thread)-\(number)"
          do throws(StoreError) {
            _ = try log.appendBlocking(ModelAppend([ModelEvent(stream: "s", type: type)]).draft())
            accepted.withLock { $0.append(type) }
          } catch { #expect(error == .suspended) }
          number += 1
        }
      }
    }
    for _ in 0..<30 {
      let before = log.mark.sequence
      while log.mark.sequence < before + 20 { await Task.yield() }
      try log.suspend()
      let end = log.mark.sequence
      #expect(try Log.openReader(memory, path: Self.path, options: Self.options()).mark.sequence == end)
      try log.resume()
    }
    isDone.withLock { $0 = true }
    for thread in threads { thread.join() }
    let types = try log.modelAppends().map { $0.append.events[0].type }
    #expect(types.sorted() == accepted.withLock { $0 }.sorted())
    try log.close()
  }

  @Test func `a failed sync while suspending closes the store, and says so`() throws {
    let disk = SimulatedDisk()
    var model = LogModel()
    var source = RandomAppends(seed: 1)
    let log = try writer(disk, Self.options(.buffered))
    try append(log, &model, &source)
    disk.inject(SimulatedSyncFailure(keepsData: true, isReported: true))
    #expect(throws: StoreError.self) { try log.suspend() }
    guard log.tail.end?.reason == .poisoned else {
      Issue.record("the log ends with \(String(describing: log.tail.end))")
      return
    }
    #expect(throws: StoreError.self) { try log.appendBlocking(source.append().draft()) }
    #expect(throws: StoreError.closed) { try log.resume() }
    try writer(disk).close()
  }

  @Test func `a resume that fails at any call leaves a suspended store that can be resumed`() throws {
    let disk = SimulatedDisk()
    var model = LogModel()
    var source = RandomAppends(seed: 7)
    let log = try writer(disk)
    for _ in 0..<5 { try append(log, &model, &source) }
    var failed = 0
    for number in 1...60 {
      try log.suspend()
      disk.inject(SimulatedFailure(number: number))
      do throws(StoreError) { try log.resume() } catch {
        failed += 1
        #expect(throws: StoreError.suspended, "call \(number)") {
          try log.appendBlocking(source.append().draft())
        }
        disk.clearFailures()
        try writer(disk).close()
        try log.resume()
      }
      disk.clearFailures()
      try append(log, &model, &source)
      #expect(model.difference(from: log, countMin: model.appends.count) == nil, "call \(number)")
    }
    #expect(failed > 10 && failed < 60)
    try log.close()
  }

  @Test func `a log that is not the one that was left is refused, and feeds are told`() throws {
    let disk = SimulatedDisk()
    var model = LogModel()
    var source = RandomAppends(seed: 3)
    let log = try writer(disk)
    let kept = disk.clone()
    for _ in 0..<5 { try append(log, &model, &source) }
    try log.suspend()
    // As after a restore from an older copy, to which others appended.
    let other = try writer(kept)
    for _ in 0..<9 { _ = try other.appendBlocking(source.append().draft()) }
    try other.close()
    for path in kept.paths { disk.add(path, kept.contents(path)!) }
    for path in disk.paths where kept.contents(path) == nil { disk.delete(path) }
    let end = log.mark.sequence
    #expect(throws: StoreError.self) { try log.resume() }
    guard log.tail.end == .diverged(sequence: end) else {
      Issue.record("the log ends with \(String(describing: log.tail.end))")
      return
    }
    try writer(disk).close()
  }

  @Test
  func `a reader that cannot be resumed yet ends nobody who waits`() async throws {
    let disk = SimulatedDisk()
    var model = LogModel()
    var source = RandomAppends(seed: 5)
    let log = try writer(disk)
    let reader = try Log.openReader(disk, path: Self.path, options: Self.options())
    for _ in 0..<20 {
      try reader.follow()
      try reader.suspend()
      // The device is still locked.
      disk.inject(SimulatedFailure(of: [.open, .read, .size, .kind], isLasting: true))
      for _ in 0..<3 { #expect(throws: StoreError.self) { try reader.resume() } }
      pauseThread(nanoseconds: 1_000_000)
      #expect(reader.tail.end == nil)
      disk.clearFailures()
      try reader.resume()
      try append(log, &model, &source)
      while reader.mark.sequence < model.head, reader.tail.end == nil {
        await reader.tail.wait(beyond: reader.mark.sequence)
      }
      #expect(reader.mark.sequence == model.head && reader.tail.end == nil)
    }
    try reader.close()
    try log.close()
  }

  @Test
  func `a suspended reader touches no file, and sees what is new when it is resumed`() async throws {
    let disk = SimulatedDisk()
    var model = LogModel()
    var source = RandomAppends(seed: 3)
    let log = try writer(disk)
    let reader = try Log.openReader(disk, path: Self.path, options: Self.options())
    try reader.follow()
    try append(log, &model, &source)
    while reader.mark.sequence < model.head { await reader.tail.wait(beyond: reader.mark.sequence) }
    try reader.suspend()
    try append(log, &model, &source)
    try log.close()
    let calls = disk.operationCount
    pauseThread(nanoseconds: 50_000_000)
    try reader.refresh()
    #expect(disk.operationCount == calls)
    try reader.resume()
    #expect(reader.mark.sequence == model.head)
    try reader.close()
  }

  @Test func `what a suspension ended says that it was one`() throws {
    let memory = MemoryFileSystem()
    var model = LogModel()
    var source = RandomAppends(seed: 3, sizeTypical: 200, sizeMax: 900)
    let log = try writer(memory)
    for _ in 0..<9 { try append(log, &model, &source) }
    try log.roll()
    let closed = log.closedSegments
    #expect(!closed.isEmpty)
    try log.suspend()
    #expect(throws: StoreError.suspended) { try log.erase(in: closed) { _, _ in true } }
    try log.close()
  }

  @Test func `a log whose resume found no thread is closed as often as somebody asks`() throws {
    let memory = MemoryFileSystem()
    let isRefused = Lock(false)
    var options = Self.options()
    options.machine = StoreMachine(
      threads: ThreadStarter { (name, body) throws(FileSystemError) in
        if name == "strata-commit", isRefused.withLock({ $0 }) {
          throw FileSystemError("start thread", name, code: SystemErrorCode.inputOutput)
        }
        return try ThreadStarter.system.start(name, body)
      })
    let log = try writer(memory, options)
    try log.suspend()
    isRefused.withLock { $0 = true }
    #expect(throws: StoreError.self) { try log.resume() }
    try log.close()
    try log.close()
  }
}
