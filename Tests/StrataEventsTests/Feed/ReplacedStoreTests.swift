// Readers of a store whose folder is taken away while they wait, with the folder of another store in its stead.

import Foundation
import StrataEvents
import StrataLog
import Testing

@Suite struct ReplacedStoreTests {
  private static func options() -> StoreOptions {
    var options = StoreOptions()
    options.clock = .fixed
    options.sealsInBackground = false
    return options
  }

  /// A store with as many appends, open for writing.
  private static func writer(_ path: String, _ count: Int) throws -> EventStore {
    let store = try EventStore.openBlocking(at: path, .readWrite, options: options())
    for number in 0..<count { try store.appendBlocking([NewEvent("t", in: "s/1", .int(Int64(number)))]) }
    return store
  }

  @Test(arguments: [1, 3, 50], [false, true])
  func `who waits in a store whose folder is another store's now is told at once that the log diverged`(
    count: Int, isWriterAlive: Bool
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("strata-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (path, other) = (folder.path + "/store", folder.path + "/other")
    try Self.writer(path, 3).closeBlocking()
    let written = try Self.writer(other, count)
    if !isWriterAlive { try written.closeBlocking() }
    let looking = try EventStore.openBlocking(at: path, .readOnly, options: Self.options())
    let waiting = try EventStore.openBlocking(at: path, .readOnly, options: Self.options())
    try waiting.log.follow()
    let feed = Task { [waiting] in
      var feed = waiting.feed(from: .head).makeAsyncIterator()
      return try await feed.next()?.sequences
    }
    try FileManager.default.moveItem(atPath: path, toPath: folder.path + "/away")
    try FileManager.default.moveItem(atPath: other, toPath: path)
    let diverged = StoreError.diverged(sequence: 3)
    try #require(throws: diverged) { try looking.log.refresh() }
    await #expect(throws: StoreError.diverged(sequence: 3)) { try await feed.value }
    #expect(waiting.log.tail.end == diverged)
    for store in [looking, waiting] { try store.closeBlocking() }
    // Its LOCK is at another path by now.
    if isWriterAlive { #expect(throws: StoreError.self) { try written.closeBlocking() } }
  }
}
