// Writers of several processes that take turns with one store.

import Foundation
import StrataBase
import StrataEvents
import StrataLog
import Testing

@Suite struct SharedStoreTests {
  private let folder = NSTemporaryDirectory() + "strata-\(UUID().uuidString)"

  @Test func `an open waits for the writer of another process, and goes on when that one ends`() async throws
  {
    let path = "\(folder)/store"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let (process, pipe) = try CrashWriter.start(path, round: 1, tasks: 1)
    _ = try pipe.fileHandleForReading.read(upToCount: 1)
    var options = StoreOptions()
    options.lockTimeout = .zero
    let id = process.processIdentifier
    await #expect {
      try await EventStore.open(at: path, options: options)
    } throws: { ConcurrencyTests.isLocked($0, path, by: id) }
    options.lockTimeout = .seconds(240)
    let (hasOpened, waiting) = (
      Lock(false), Task { [options] in try await EventStore.open(at: path, options: options) }
    )
    let blocked = Task { [options] in
      try await IOThreads(name: "test", threadCountMax: 1).result { () throws(StoreError) in
        let store = try EventStore.openBlocking(at: path, options: options)
        hasOpened.withLock { $0 = true }
        try store.closeBlocking()
      }.get()
    }
    // The writer goes on meanwhile: the two that wait disturb nothing.
    _ = try pipe.fileHandleForReading.read(upToCount: 2_000)
    #expect(!hasOpened.withLock { $0 })
    kill(id, SIGKILL)
    process.waitUntilExit()
    let store = try await waiting.value
    #expect(store.head.sequence > 0)
    try await store.close()
    try await blocked.value
    #expect(hasOpened.withLock { $0 })
  }

  @Test func `processes that open the store for each job get their turns, and lose nothing of each other`()
    async throws
  {
    let path = "\(folder)/store"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    var options = StoreOptions()
    options.lockTimeout = .seconds(240)
    let level = "\(Durability.buffered.rawValue)"
    let others = try (0..<2).map { _ in
      try CrashWriter.start([path, "pace", "40", "500", "1000000", level])
    }
    for _ in 0..<10 {
      let store = try await EventStore.open(at: path, options: options)
      try await store.append([NewEvent("job", in: "own/1", [:])])
      try await store.close()
    }
    for (process, pipe) in others {
      _ = try pipe.fileHandleForReading.readToEnd()
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
    let store = try await EventStore.open(at: path, .readOnly)
    #expect(store.head.sequence == 90)
    #expect(try await store.events(in: "own/1").count == 10)
    #expect(try await store.events(in: "pace/1").count == 80)
  }
}
