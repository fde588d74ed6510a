// Fault 49: what waits for somebody else's lock holds up nobody, and can be cancelled.

import Foundation
import StrataEvents
import StrataLog
import Testing

@Suite struct WaitingTests {
  private let folder = NSTemporaryDirectory() + "strata-\(UUID().uuidString)"

  /// Longer than a test lasts, and not so long that one in which threads do wait would not end.
  private static var patient: StoreOptions {
    var options = StoreOptions()
    options.lockTimeout = .seconds(240)
    return options
  }

  private static func event(_ text: String) -> NewEvent {
    NewEvent("t", in: "a/1", payload: .opaque(Array(text.utf8)))
  }

  /// Starts tasks, and returns once each has come to its call.
  private static func start<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable () async throws -> Value
  ) async -> [Task<Value, any Error>] {
    let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
    let tasks = (0..<count).map { _ in
      Task {
        arrival.yield()
        return try await body()
      }
    }
    var left = count
    for await _ in arrivals {
      left -= 1
      if left == 0 { break }
    }
    for _ in 0..<count { await Task.yield() }
    return tasks
  }

  @Test
  func
    `fault 49: opens of a locked store hold up no read, however many wait, and end when they are cancelled`()
    async throws
  {
    let (path, otherPath) = ("\(folder)/locked", "\(folder)/other")
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let holder = try await EventStore.open(at: path)
    let other = try await EventStore.open(at: otherPath)
    try await other.append([Self.event("one")])
    let tasks = await Self.start(12) { try await EventStore.open(at: path, options: Self.patient) }
    for _ in 0..<20 { #expect(try await other.events(in: "a/1").count == 1) }
    for task in tasks { task.cancel() }
    for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    try await holder.close()
    try await EventStore.open(at: path).close()
    try await other.close()
  }

  @Test func `fault 49: a close is not held up by those who wait for the lock that it gives back`()
    async throws
  {
    let path = "\(folder)/store"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let holder = try await EventStore.open(at: path)
    let tasks = await Self.start(2) {
      let store = try await EventStore.open(at: path, options: Self.patient)
      try await store.append([Self.event("of one that waited")])
      try await store.close()
    }
    try await holder.append([Self.event("of the holder")])
    try await holder.close()
    for task in tasks { try await task.value }
    let store = try await EventStore.open(at: path, .readOnly)
    #expect(store.head.sequence == 3)
    try await store.close()
  }

  @Test
  func
    `fault 49: resumes that wait for a lock hold up nobody, and a cancelled one leaves the store suspended`()
    async throws
  {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let suspended = try await EventStore.open(at: "\(folder)/store", options: Self.patient)
    let another = try await EventStore.open(at: "\(folder)/another", options: Self.patient)
    for store in [suspended, another] { try await store.suspend() }
    let holders = [
      try await EventStore.open(at: "\(folder)/store"), try await EventStore.open(at: "\(folder)/another"),
    ]
    let first = await Self.start(1) { try await suspended.resume() }
    let second = await Self.start(1) { try await another.resume() }
    for holder in holders { try await holder.append([Self.event("meanwhile")]) }
    first[0].cancel()
    await #expect(throws: CancellationError.self) { try await first[0].value }
    await #expect(throws: StoreError.suspended) { try await suspended.append([Self.event("too early")]) }
    for holder in holders { try await holder.close() }
    try await second[0].value
    try await suspended.resume()
    for store in [suspended, another] {
      try await store.append([Self.event("after")])
      #expect(store.head.sequence == 2)
      try await store.close()
    }
  }

  @Test func `a store that nobody gives back is said to be locked once the time is over`() async throws {
    let path = "\(folder)/store"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let holder = try await EventStore.open(at: path)
    var options = StoreOptions()
    options.lockTimeout = .milliseconds(5)
    let own = ProcessInfo.processInfo.processIdentifier
    await #expect {
      try await EventStore.open(at: path, options: options)
    } throws: { ConcurrencyTests.isLocked($0, path, by: own) }
    try await holder.close()
  }
}
