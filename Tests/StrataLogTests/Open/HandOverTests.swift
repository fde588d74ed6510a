// Appends on their way to the committer: taken back, waiting for room, refused, and none of them forgotten.

import StrataBase
import StrataLog
import StrataSimulation
import Testing

@Suite struct HandOverTests {
  @Test(arguments: [1, 2_000, 1 << 20])
  func `an append that is cancelled at any moment is in the log if its caller is told so, and only then`(
    pendingBytesMax: Int
  ) async throws {
    var options = StoreOptions()
    options.pendingBytesMax = pendingBytesMax
    options.groupSizeMax = 3_000
    let log = try Log.openWriter(MemoryFileSystem(), path: "/store", options: options)
    let seed = SeededGenerator.testSeed()
    var random = SeededGenerator(seed: seed)
    var acknowledged: [UInt64: String] = [:]
    var cancelled = 0
    for round in 0..<40 {
      let tasks = (0..<32).map { number -> (type: String, append: Task<AppendOutcome, any Error>) in
        let type = "\(round)-\(number)"
        let payload = [UInt8](repeating: 1, count: number * 9)
        let event = ModelEvent(stream: "s/\(number % 3)", type: type, payload: payload)
        return (type, Task { try await log.append(ModelAppend([event]).draft()) })
      }
      for task in tasks where Bool.random(using: &random) {
        if Bool.random(using: &random) { await Task.yield() }
        task.append.cancel()
      }
      for task in tasks {
        switch await task.append.result {
        case .success(let outcome): acknowledged[outcome.first] = task.type
        case .failure(is CancellationError): cancelled += 1
        case .failure(let error): Issue.record("\(error)")
        }
      }
    }
    #expect(log.pendingBytes == 0)
    let found = try log.modelAppends()
    #expect(found.map { $0.append.events[0].type } == acknowledged.sorted { $0.key < $1.key }.map(\.value))
    #expect(found.count + cancelled == 40 * 32 && cancelled > 0 && !found.isEmpty)
    try log.close()
  }

  @Test
  func `an append is committed after any pause: while the committer looks for it, and as it falls asleep`()
    async throws
  {
    let log = try Log.openWriter(MemoryFileSystem(), path: "/store", options: StoreOptions())
    var random = SeededGenerator(seed: SeededGenerator.testSeed())
    var count = 0
    for _ in 0..<300 {
      // Some at once, so that the committer looks for the next one.
      for pause in [0, 0, Int.random(in: 0...300, using: &random)] {
        let end = MonotonicTime.now().advanced(by: .microseconds(pause))
        while MonotonicTime.now() < end {}
        let event = ModelEvent(stream: "s", type: "\(count)", payload: [])
        switch Int.random(in: 0..<4, using: &random) {
        case 0: _ = try log.appendBlocking(ModelAppend([event]).draft())
        case 1:
          let drafts = [ModelAppend([event]).draft(), ModelAppend([event]).draft()]
          for result in try log.appendBlocking(drafts) { _ = try result.get() }
          count += 1
        default: _ = try await log.append(ModelAppend([event]).draft())
        }
        count += 1
      }
    }
    #expect(log.mark.visible.sequence == UInt64(count))
    try log.close()
  }
}

extension HandOverTests {
  /// Several times, because the committer looks while the visitor still counts in some of them only.
  @Test(arguments: 0..<16)
  func `a writer whose sync failed gives the store back, also where somebody waited for a turn`(_: Int)
    async throws
  {
    let disk = SimulatedDisk()
    let log = try Log.openWriter(disk, path: "/store", options: StoreOptions())
    let moment = Gate((isSyncing: false, goesOn: false))
    disk.onOperation { call in
      guard call.operation == .syncData else { return .proceed }
      moment.withLock { $0.isSyncing = true }
      moment.signalAll()
      moment.wait { $0.goesOn }
      return .fail(SystemErrorCode.inputOutput)
    }
    let append = Task {
      try await log.append(ModelAppend([ModelEvent(stream: "s", type: "t")]).draft())
    }
    let visitor = try DedicatedThread(name: "visitor") {
      moment.wait { $0.isSyncing }
      #expect(throws: StoreError.self) { try log.roll() }
    }
    let release = try DedicatedThread(name: "release") {
      moment.wait { $0.isSyncing }
      // So that the visitor waits.
      pauseThread(nanoseconds: 20_000_000)
      moment.withLock { $0.goesOn = true }
      moment.signalAll()
    }
    await #expect(throws: StoreError.self) { try await append.value }
    visitor.join()
    release.join()
    disk.onOperation(nil)
    // Nobody has closed the failed one: what says that it must be opened again must not keep that from being done.
    let again = try Log.openWriter(disk, path: "/store", options: StoreOptions())
    try again.close()
    try? log.close()
  }
}
