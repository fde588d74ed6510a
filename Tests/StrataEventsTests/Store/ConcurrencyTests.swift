// Many tasks, two writers, callers that give up: what each of them is promised.

import Foundation
import StrataBase
import StrataEvents
import StrataLog
import StrataSimulation
import Testing

private func event(_ stream: String, _ number: Int, size: Int = 10) -> NewEvent {
  NewEvent(
    "t", in: StreamName(stream), payload: .opaque(Array("\(number) ".utf8) + Array(repeating: 7, count: size))
  )
}

/// Holds the committer up at a call of the disk until it is let go.
private final class Stall: Sendable {
  private let gate = Gate((isClosed: false, isWaiting: false))

  init(_ disk: SimulatedDisk, at operation: SimulatedOperation, path suffix: String) {
    disk.onOperation { [gate] call in
      if call.operation == operation, call.path.hasSuffix(suffix) {
        gate.wait { state in
          state.isWaiting = state.isClosed
          if state.isClosed { gate.signalAll() }
          return !state.isClosed
        }
      }
      return .proceed
    }
  }

  func close() { gate.withLock { $0.isClosed = true } }

  func open() {
    gate.withLock { $0.isClosed = false }
    gate.signalAll()
  }

  /// Waits until the committer stands at the call.
  func waitUntilReached() { gate.wait { $0.isWaiting } }
}

@Suite struct ConcurrencyTests {
  private func folder() -> String { NSTemporaryDirectory() + "strata-\(UUID().uuidString)" }

  private func stalledStore(_ options: StoreOptions) throws -> (EventStore, Stall) {
    let disk = SimulatedDisk()
    let store = try EventStore.open(disk, path: "/store", .readWrite, options: options)
    return (store, Stall(disk, at: .syncData, path: ".seg"))
  }

  /// Whether an error says that a process has a store, and since when.
  static func isLocked(_ error: any Error, _ path: String, by process: Int32) -> Bool {
    guard case StoreError.locked(path, let holder?) = error else { return false }
    let time = holder.dropFirst("process \(process) since ".count)
    return holder.hasPrefix("process \(process) since ") && Timestamp(String(time)) != nil
  }

  @Test func `fault 28: a second writer is told that the store is locked, and by which process`() async throws
  {
    let path = folder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    let store = try EventStore.openBlocking(at: path)
    let own = ProcessInfo.processInfo.processIdentifier
    #expect {
      try EventStore.openBlocking(at: path)
    } throws: { Self.isLocked($0, path, by: own) }
    try store.closeBlocking()
    try EventStore.openBlocking(at: path).closeBlocking()
    let (process, pipe) = try CrashWriter.start(path, round: 1, tasks: 1)
    _ = try pipe.fileHandleForReading.read(upToCount: 1)
    #expect {
      try EventStore.openBlocking(at: path)
    } throws: { Self.isLocked($0, path, by: process.processIdentifier) }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    try EventStore.openBlocking(at: path).closeBlocking()
  }

  @Test func `fault 28: a writer whose LOCK was replaced writes nothing more`() async throws {
    let path = folder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    for isRemoved in [true, false] {
      let store = try EventStore.openBlocking(at: path)
      try store.appendBlocking([event("a/1", 1)])
      let head = store.head
      try FileManager.default.removeItem(atPath: "\(path)/LOCK")
      if !isRemoved { try Data().write(to: URL(fileURLWithPath: "\(path)/LOCK")) }
      let segment = try FileManager.default.contentsOfDirectory(atPath: "\(path)/log").sorted().last!
      let before = try Data(contentsOf: URL(fileURLWithPath: "\(path)/log/\(segment)"))
      for _ in 0..<2 {
        do {
          try store.appendBlocking([event("a/1", 2)])
          Issue.record("the writer goes on")
        } catch {
          guard error.reason == .poisoned else { throw error }
        }
      }
      #expect(store.head == head)
      #expect(try Data(contentsOf: URL(fileURLWithPath: "\(path)/log/\(segment)")) == before)
      #expect(throws: StoreError.self) { try store.closeBlocking() }
    }
  }

  @Test func `an append that is cancelled before it is framed appends nothing`() async throws {
    let (store, stall) = try stalledStore(StoreOptions())
    stall.close()
    let first = Task { try await store.append([event("a/1", 1)]) }
    await IOThreads(name: "test", threadCountMax: 1).run { stall.waitUntilReached() }
    let second = Task { try await store.append([event("a/1", 2)]) }
    let third = Task { try await store.append([event("a/1", 3)]) }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    // The first is framed: cancelling it takes nothing back.
    first.cancel()
    stall.open()
    #expect(try await first.value.sequences == 1...1)
    #expect(try await third.value.sequences == 2...2)
    #expect(try await store.version(of: "a/1") == 2)
    #expect(store.head.sequence == 2)
    try await store.close()
  }

  @Test func `a task that is cancelled already appends nothing`() async throws {
    let store = EventStore.inMemory()
    let cancelled = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.append([event("a/1", 1)])
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    #expect(store.head.sequence == 0)
    try await store.close()
  }

  @Test
  func `callers wait while too many bytes are pending, and are let in when those before them give up`()
    async throws
  {
    var options = StoreOptions()
    options.pendingBytesMax = 1_000
    let (store, stall) = try stalledStore(options)
    stall.close()
    let first = Task { try await store.append([event("a/1", 0)]) }
    await IOThreads(name: "test", threadCountMax: 1).run { stall.waitUntilReached() }
    let large = Task { try await store.append([event("a/1", 1, size: 2_000)]) }
    while store.log.pendingBytes < 2_000 { await Task.yield() }
    let full = store.log.pendingBytes
    let waiting = (2..<6).map { number in Task { try await store.append([event("a/1", number)]) } }
    for _ in 0..<200 { await Task.yield() }
    #expect(store.log.pendingBytes == full, "callers do not wait")
    large.cancel()
    await #expect(throws: CancellationError.self) { try await large.value }
    // They are handed over although no group was taken in between.
    while store.log.pendingBytes == 0 { await Task.yield() }
    stall.open()
    _ = try await first.value
    for task in waiting { _ = try await task.value }
    #expect(store.head.sequence == 5)
    try await store.close()
  }

  @Test func `close commits what was accepted and refuses what comes after`() async throws {
    let (store, stall) = try stalledStore(StoreOptions())
    stall.close()
    let first = Task { try await store.append([event("a/1", 0)]) }
    await IOThreads(name: "test", threadCountMax: 1).run { stall.waitUntilReached() }
    let second = Task { try await store.append([event("a/1", 1)]) }
    while store.log.pendingBytes == 0 { await Task.yield() }
    let closing = Task { try await store.close() }
    stall.open()
    try await closing.value
    #expect(try await first.value.sequences == 1...1)
    #expect(try await second.value.sequences == 2...2)
    await #expect(throws: StoreError.closed) { try await store.append([event("a/1", 2)]) }
    #expect(throws: StoreError.closed) { try store.appendBlocking([event("a/1", 2)]) }
    try await store.close()
  }

  @Test func `dropping the last reference loses nothing and gives the lock back`()
    throws
  {
    let path = folder()
    defer { try? FileManager.default.removeItem(atPath: path) }
    var options = StoreOptions()
    options.lockTimeout = .seconds(10)
    for round in 1...20 {
      let store = try EventStore.openBlocking(at: path, options: options)
      #expect(store.head.sequence == UInt64(round - 1) * 3)
      for number in 0..<3 { try store.appendBlocking([event("a/\(number)", round)]) }
    }
    let again = try EventStore.openBlocking(at: path, options: options)
    #expect(again.head.sequence == 60)
    try again.closeBlocking()
  }

  @Test
  func `feeds and reads beside eight writing tasks see whole appends in order, each once`() async throws {
    var options = StoreOptions()
    options.segmentSizeTarget = 30_000
    options.blockSizeTarget = 1_000
    let store = try EventStore.open(MemoryFileSystem(), path: "/store", .readWrite, options: options)
    let perTask = 60
    let total = UInt64(8 * perTask * 2)
    func follow(_ feed: ChangeFeed) async throws -> [UInt64] {
      var seen: [UInt64] = []
      for try await append in feed {
        #expect(append.events.count == 2)
        #expect(Set(append.events.map(\.stream)).count == 1)
        seen += append.sequences
        if seen.last == total { break }
      }
      return seen
    }
    try await withThrowingTaskGroup(of: [UInt64].self) { group in
      for _ in 0..<3 { group.addTask { try await follow(store.feed()) } }
      group.addTask { try await follow(store.feed(durableOnly: true)) }
      for task in 0..<8 {
        group.addTask {
          for number in 0..<perTask {
            let stream = StreamName("task/\(task)")
            try await store.append(
              [event(stream.text, number), event(stream.text, number, size: number * 9)],
              id: "\(task)-\(number)", expecting: [stream: .exactly(UInt64(number * 2))])
            if number % 9 == 0 {
              let events = try await store.events(in: stream)
              #expect(events.map(\.revision) == Array(1...UInt64(number * 2 + 2)))
              #expect(try await store.append(withID: "\(task)-\(number)")?.events.count == 2)
              #expect(try await store.append(holding: store.head.sequence) != nil)
            }
          }
          return []
        }
      }
      for try await seen in group where !seen.isEmpty { #expect(seen == Array(1...total)) }
    }
    for task in 0..<8 {
      let version = try await store.version(of: "task/\(task)")
      #expect(version == UInt64(perTask * 2))
    }
    try await store.close()
  }

  @Test func `of tasks that expect the same version exactly one wins each time`() async throws {
    let store = EventStore.inMemory()
    let wins = await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var wins = 0
          for version in 0..<20 {
            let result = try? await store.append(
              [event("s", task)], expecting: ["s": .exactly(UInt64(version))])
            if result != nil { wins += 1 }
          }
          return wins
        }
      }
      return await group.reduce(0, +)
    }
    #expect(UInt64(wins) == store.head.sequence)
    try await store.close()
  }
}
