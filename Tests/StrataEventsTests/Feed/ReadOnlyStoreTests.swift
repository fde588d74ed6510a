// Stores that are open for reading beside a writer: every read begins with what is there when it is made.

import StrataEvents
import StrataLog
import StrataSimulation
import Testing

@Suite struct ReadOnlyStoreTests {
  private static let path = "/store"

  private static func options(_ durability: Durability = .synced) -> StoreOptions {
    var options = StoreOptions()
    options.durability = durability
    options.headSyncInterval = .seconds(3_600)
    options.sealsInBackground = false
    return options
  }

  private static func open(
    _ fileSystem: any FileSystem, _ access: EventStore.Access, _ durability: Durability = .synced
  ) throws -> EventStore {
    try EventStore.open(fileSystem, path: path, access, options: options(durability))
  }

  private static func event(_ number: Int) -> NewEvent { NewEvent("n", in: "s/1", .int(Int64(number))) }

  enum Read: CaseIterable { case feed, events, version, time, id, sequence }

  @Test(arguments: Read.allCases)
  func `a read sees what the writer appended since the store was opened, though nobody follows`(
    read: Read
  ) async throws {
    let memory = MemoryFileSystem()
    let writer = try Self.open(memory, .readWrite)
    try writer.appendBlocking([Self.event(1)])
    let reader = try Self.open(memory, .readOnly)
    for number in 2...4 { try writer.appendBlocking([Self.event(number)], id: "id-\(number)") }
    switch read {
    case .feed:
      var sequences: [UInt64] = []
      for try await append in reader.feed(from: .sequence(1), until: .caughtUp) {
        sequences += append.sequences
      }
      #expect(sequences == [2, 3, 4])
    case .events: #expect(try await reader.events(in: "s/1").count == 4)
    case .version: #expect(try await reader.version(of: "s/1") == 4)
    case .time:
      #expect(try await reader.position(at: Timestamp(nanoseconds: .max)).sequence == 4)
    case .id: #expect(try await reader.append(withID: "id-3")?.sequences == 3...3)
    case .sequence: #expect(try await reader.append(holding: 4)?.sequences == 4...4)
    }
    try reader.closeBlocking()
    try writer.closeBlocking()
  }

  @Test
  func `fault 42: a feed goes on where what ended the one before it has passed`() async throws {
    let disk = SimulatedDisk()
    let writer = try Self.open(disk, .readWrite)
    try writer.appendBlocking([Self.event(1)])
    let reader = try Self.open(disk, .readOnly)
    for number in 2...4 {
      try reader.log.follow()
      // The process has no descriptors left, for as long as it takes to be noticed.
      disk.inject(SimulatedFailure(of: [.open, .read, .size, .kind], code: 24, isLasting: true))
      while reader.log.tail.end == nil { await reader.log.tail.wait(beyond: reader.log.mark.sequence) }
      guard reader.log.tail.end?.reason == .system else {
        Issue.record("\(reader.log.tail.end as Any)")
        break
      }
      disk.clearFailures()
      let next = Task { [reader] in
        var feed = reader.feed(from: .sequence(UInt64(number - 1))).makeAsyncIterator()
        return try await feed.next()?.sequences
      }
      try await Task.sleep(for: .milliseconds(2 * number))
      try writer.appendBlocking([Self.event(number)])
      #expect(try await next.value == UInt64(number)...UInt64(number))
    }
    try reader.closeBlocking()
    try writer.closeBlocking()
  }

  @Test
  func `who follows what is durable has all of it when the store is closed`() async throws {
    for _ in 0..<20 {
      let store = try Self.open(SimulatedDisk(), .readWrite, .buffered)
      let reading = Task {
        var count = 0
        for try await _ in store.feed(durableOnly: true) { count += 1 }
        return count
      }
      for number in 0..<5 { try store.appendBlocking([Self.event(number)]) }
      await Task.yield()
      try store.closeBlocking()
      #expect(try await reading.value == 5)
    }
  }
}
